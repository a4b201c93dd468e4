/* bulk_parts: what a walk over a file (walk_bulk.c) is made of.
 *
 *      bulk_stream.c    opens the file, or its rest, and cuts it into lines
 *      bulk_records.c   makes records of the lines of a batch
 */
#ifndef PATRA_ENGINE_FETCH_BULK_PARTS_H
#define PATRA_ENGINE_FETCH_BULK_PARTS_H

#include "engine/fetch/walk.h"

/* ---- the stream ---- */

/* Without an error fetch->bulk.stream may be NULL: then it is to be opened from the beginning. */
bool bulk_stream_open(struct fetch *fetch, struct error *err) MUST_CHECK;

/* failure NULL: it did not fail. Without a stream, nothing is done. */
void bulk_stream_end(struct fetch *fetch, const struct error *failure);

/* The file is another one: its place is forgotten. "fetch.restarts": that was so too often. */
bool bulk_stream_restart(struct fetch *fetch, struct error *err) MUST_CHECK;

/* The next line that is not blank. *is_end: there is none. */
bool bulk_stream_line(struct fetch *fetch, struct line *line, bool *is_end,
                      struct error *err) MUST_CHECK;

/* Skips what was handed out. *is_other: this is another file. *is_late: the walk should first show
 * that it is alive. */
bool bulk_stream_skip(struct fetch *fetch, bool *is_other, bool *is_late,
                      struct error *err) MUST_CHECK;

/* ---- the lines of a batch ---- */

struct bulk_lines {
    struct buf body; /* a JSON array of them */
    struct {
        struct str *items; /* in the body */
        size_t count;
    } texts;
    bool is_open; /* the last one has no end */
    bool is_end;  /* that was all of the file */
};

bool bulk_records_read(struct fetch *fetch, const struct bulk_lines *lines,
                       struct exchange *exchange, struct error *err) MUST_CHECK;

/* A file begins with records, or it is something else: an error, a list on one line. */
bool bulk_records_check(struct fetch *fetch, const struct bulk_lines *lines,
                        const struct listing *listing, struct error *err) MUST_CHECK;

#endif
