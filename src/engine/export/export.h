/* export: the records of a source, or what changed of them, written to a sink.
 *
 *      everything   a walk over the records (port/store_record_read.h), in its order
 *      since TOKEN  a walk over the events after the token; a record at the event of the version
 *                   that it has, so once, and deletions as tombstones
 *
 * Either gives the token for the next one. It is taken before the first record is read, and stands
 * before every event that may still be committed (settled.h): whatever is not in this export is
 * after its token. What changed while the export ran may be in both. So of all lines of one id in a
 * series of exports, the last is right.
 *
 * Memory does not grow with the number of records. There is no transaction around it: a slow
 * reader keeps nobody else waiting.
 */
#ifndef PATRA_ENGINE_EXPORT_EXPORT_H
#define PATRA_ENGINE_EXPORT_EXPORT_H

#include "engine/export/writer.h"
#include "engine/source/spec_cache.h"
#include "port/clock.h"

struct export_result {
    int64_t records;           /* all that were written */
    int64_t deleted;           /* of these: tombstones */
    int64_t unread;            /* of these: without the fields that were asked for */
    struct str unread_example; /* "10.1000/182: the present mapping cannot read it: ..." */
    int64_t bytes;             /* before compression */
    struct str token;          /* for the next one; '' where it was not asked for */
    bool is_settled; /* false: others were writing all the time, so the token is no further than
                        the one before, and the next export repeats this one */
};

/* Called after each page. */
struct export_listener {
    void (*page)(struct export_listener *listener, const struct export_result *so_far);
};

struct export_request {
    struct store *store;
    struct clock *clock;
    struct spec_cache *specs;
    const struct export_format *format;
    bool fields_only;
    struct record_walk walk; /* which records; its place, pages and payload are set here */
    bool with_token;
    int64_t wait_us;  /* for those who write meanwhile, so that the token comes as far as it can */
    struct str since; /* a token; '': everything. The walk's filters must then be empty. */
    struct byte_sink *sink;
    struct parquet_codec codec;       /* of the pages of a Parquet file; the zero value: none */
    struct export_listener *listener; /* may be NULL */
};

/* The sink is not ended. "export.token" (L2) for a token that cannot be used; "source.unknown" (L2)
 * where fields are asked for of a source that is not in force. */
bool export_run(struct arena *arena, const struct export_request *request,
                struct export_result *result, struct error *err) MUST_CHECK;

#endif
