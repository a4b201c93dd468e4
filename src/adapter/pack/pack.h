/* pack: a sink that compresses, before another sink.
 *
 * The compressors are the module patra-pack.so, loaded on first use. The same bytes are always
 * packed the same way: the header of a gzip file has no time in it.
 */
#ifndef PATRA_ADAPTER_PACK_PACK_H
#define PATRA_ADAPTER_PACK_PACK_H

#include "base/buf.h"
#include "base/module.h"
#include "port/body_packer.h"
#include "port/byte_sink.h"

enum pack { PACK_NONE, PACK_GZIP, PACK_ZSTD };

/* By the end of a file's name: ".gz", ".zst"; *rest is the name without it. */
enum pack pack_of(struct str path, struct str *rest);

/* Takes `below` over: ending or closing *sink does the same to it. After a failure *sink is NULL,
 * and `below` is still the caller's. PACK_NONE gives `below` itself. */
bool pack_open(enum pack pack, struct byte_sink *below, struct byte_sink **sink,
               struct error *err) MUST_CHECK;

/* The other way: what is written to *sink is decompressed and written to `below`, which it takes
 * over in the same way. Only PACK_NONE and PACK_ZSTD. Errors: "pack.broken" (L2): these are no such
 * bytes, or their end is missing. */
bool unpack_open(enum pack pack, struct byte_sink *below, struct byte_sink **sink,
                 struct error *err) MUST_CHECK;

/* Appends the bytes to `out`, compressed as one piece. */
bool pack_bytes(enum pack pack, struct str bytes, struct buf *out, struct error *err) MUST_CHECK;

struct pack_library {
    struct module_head head;
    bool (*gzip)(struct byte_sink *below, struct byte_sink **sink, struct error *err);
    bool (*zstd)(struct byte_sink *below, struct byte_sink **sink, struct error *err);
    bool (*unzstd)(struct byte_sink *below, struct byte_sink **sink, struct error *err);
    bool (*body)(struct body_packer **packer, struct error *err);
};

/* For responses of the archive, and for payloads. Close it in any case. */
bool body_packer_open(struct body_packer **packer, struct error *err) MUST_CHECK;

/* In the module. */
bool pack_gzip_open(struct byte_sink *below, struct byte_sink **sink, struct error *err) MUST_CHECK;
bool pack_zstd_open(struct byte_sink *below, struct byte_sink **sink, struct error *err) MUST_CHECK;
bool pack_unzstd_open(struct byte_sink *below, struct byte_sink **sink,
                      struct error *err) MUST_CHECK;
bool pack_body_open(struct body_packer **packer, struct error *err) MUST_CHECK;

#endif
