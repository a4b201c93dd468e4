/* Chooses a compressor, and loads the module that has it. */
#include "adapter/pack/pack.h"

#include <assert.h>

static const struct {
    struct str suffix;
    enum pack pack;
} SUFFIXES[] = {
    { STR_INIT(".gz"), PACK_GZIP },
    { STR_INIT(".zst"), PACK_ZSTD },
};

enum pack pack_of(struct str path, struct str *rest)
{
    *rest = path;
    for (size_t i = 0; i < ARRAY_LEN(SUFFIXES); i++) {
        if (!str_ends(path, SUFFIXES[i].suffix))
            continue;
        *rest = str_slice(path, 0, path.len - SUFFIXES[i].suffix.len);
        return SUFFIXES[i].pack;
    }
    return PACK_NONE;
}

bool pack_open(enum pack pack, struct byte_sink *below, struct byte_sink **sink, struct error *err)
{
    const struct pack_library *library;

    *sink = pack == PACK_NONE ? below : NULL;
    if (pack == PACK_NONE)
        return true;
    library = module_load("pack", err);
    if (library == NULL)
        return false;
    return pack == PACK_GZIP ? library->gzip(below, sink, err) : library->zstd(below, sink, err);
}

bool unpack_open(enum pack pack, struct byte_sink *below, struct byte_sink **sink,
                 struct error *err)
{
    const struct pack_library *library;

    assert(pack != PACK_GZIP);
    *sink = pack == PACK_NONE ? below : NULL;
    if (pack == PACK_NONE)
        return true;
    library = module_load("pack", err);
    return library != NULL && library->unzstd(below, sink, err);
}

/* ---- into memory ---- */

struct buf_sink {
    struct byte_sink sink; /* first */
    struct buf *out;
};

static bool buf_sink_write(struct byte_sink *sink, struct str bytes, struct error *err)
{
    struct buf *out = ((struct buf_sink *)sink)->out;

    buf_add(out, bytes);
    return buf_ok(out, err);
}

static bool buf_sink_end(struct byte_sink *sink, struct error *err)
{
    (void)sink;
    (void)err;
    return true;
}

static void buf_sink_close(struct byte_sink *sink)
{
    (void)sink; /* the caller's */
}

bool pack_bytes(enum pack pack, struct str bytes, struct buf *out, struct error *err)
{
    struct buf_sink below = { { buf_sink_write, buf_sink_end, buf_sink_close }, out };
    struct byte_sink *sink;
    bool ok;

    if (!pack_open(pack, &below.sink, &sink, err))
        return false;
    ok = byte_sink_write(sink, bytes, err) && byte_sink_end(sink, err);
    byte_sink_close(sink);
    return ok;
}
