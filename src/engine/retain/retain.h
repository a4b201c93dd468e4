/* retain: takes old batches and cursor events out of the database, into files.
 *
 *      read rows ─▶ FILE (packed JSON lines, whole or not there) ─▶ note it ─▶ remove the rows
 *
 * A death at any point loses nothing: what is not removed is archived again, in a file of the same
 * name, or of what is left. Rows are removed RETAIN_STEP at a time, each step a transaction of some
 * 5 ms, with a longer pause after it: a process that waits for SQLite's lock looks for it after 1,
 * 3, 7, 15 and 31 ms, then every 25, and would miss a short moment between two steps again and
 * again.
 * Plans, slices, tasks and runs stay: coverage and cursors rest on them.
 */
#ifndef PATRA_ENGINE_RETAIN_RETAIN_H
#define PATRA_ENGINE_RETAIN_RETAIN_H

#include "base/instant.h"
#include "port/byte_sink.h"
#include "port/clock.h"
#include "port/store_prune.h"

#define RETAIN_KEEP_US (90 * US_PER_DAY) /* 004 sections 13.5 and 14.11 */
#define RETAIN_PAUSE_US (15 * US_PER_MS)
enum { RETAIN_STEP = 50, RETAIN_PAGE = 2000, RETAIN_FILE_ROWS = 50000 };

struct retain_parts {
    struct store *store;
    struct str folder; /* of the files; exists */
    /* A packed file, there when it is ended. */
    bool (*open)(struct arena *arena, struct str path, struct byte_sink **sink, struct error *err);
    struct clock *clock; /* NULL: no pauses */
    int stop_fd; /* readable in a pause: the rest is left for another time; CLOCK_NO_WAKE: none */
    int64_t now_us;
    int64_t keep_us;
};

struct retained_count {
    int64_t batches;
    int64_t cursor_events;
    int64_t tidied; /* rows that need no archive */
    int64_t files;
    bool is_stopped; /* something was left */
};

bool retain_run(const struct retain_parts *parts, struct retained_count *count,
                struct error *err) MUST_CHECK;

#endif
