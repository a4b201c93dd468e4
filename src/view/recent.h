/* recent: what the runs of a period were like: how busy the queue is, and which errors there were.
 *
 * Read from the runs' own stats (engine/execute/stats.h). A run keeps its first and its latest
 * errors, so one that failed in very many ways counts for some of them. At most VIEW_RECENT_RUNS of
 * each source and operation are read, the latest.
 */
#ifndef PATRA_VIEW_RECENT_H
#define PATRA_VIEW_RECENT_H

#include "core/codes.h"
#include "data/json_write.h"
#include "port/store_status.h"
#include "view/reader.h"

enum { VIEW_RECENT_RUNS = 2000 };

struct view_recent_filter {
    struct str source; /* '': all that are in force */
    bool has_operation;
    enum operation operation;
    int64_t from_us;
    int64_t to_us;
    struct str level; /* errors only: "L1" ... "L4"; '': any */
    int64_t limit;    /* errors only */
};

/* ---- the queue: 004 section 14.7, getQueueSnapshot ---- */

struct view_queue_row {
    struct partition_count count; /* tasks that wait, run, and ended since from_us */
    int64_t runs;                 /* of the operation, whatever the endpoint, in the period */
    int64_t requests;
    int64_t throttled; /* 429s */
    int64_t records;
    int64_t latency_ms; /* of a request, on average; 0: none */
};

struct view_queue {
    int64_t from_us, to_us;
    struct view_queue_row *items;
    size_t count;
};

bool view_queue(const struct view_reader *reader, const struct view_recent_filter *filter,
                struct view_queue *queue, struct error *err) MUST_CHECK;
void view_queue_write(struct json_writer *w, const struct view_queue *queue);

/* ---- what the runs of a period did ---- */

struct view_recent_sums {
    int64_t runs;
    int64_t requests;
    int64_t failed; /* that were sent again, or given up */
    int64_t throttled;
    int64_t records;
    int64_t quarantined;
    bool is_full; /* there were more runs than are read: these are the latest */
};

/* Of one source, which must exist. */
bool view_recent_sums(const struct view_reader *reader, const struct view_recent_filter *filter,
                      struct view_recent_sums *sums, struct error *err) MUST_CHECK;

/* ---- late arrivals: 004 section 14.7 ---- */

struct view_late {
    struct str source;
    int64_t runs;   /* of its harvests in the period */
    int64_t stored; /* records that they found new or changed */
    int64_t late;   /* of these: the cursor had passed them, and a lookback found them */
    bool is_full;   /* there were more runs than are read: these are the latest */
};

struct view_late_list {
    int64_t from_us, to_us;
    struct view_late *items; /* sources that harvested in the period */
    size_t count;
};

/* "source.unknown" (L2) where the filter names a source that does not exist. */
bool view_late(const struct view_reader *reader, const struct view_recent_filter *filter,
               struct view_late_list *list, struct error *err) MUST_CHECK;
void view_late_write(struct json_writer *w, const struct view_late_list *list);

/* ---- errors: 004 section 14.7, getErrorTopN ---- */

struct view_error {
    struct str source;
    enum operation operation;
    struct str level;
    struct str code;
    int64_t count;
    struct str text; /* of the latest */
    int64_t at_us;   /* the start of its run */
    int64_t task_id;
    int64_t run_id;
    int64_t batch_no;
};

struct view_error_list {
    struct view_error *items; /* the most frequent first */
    size_t count;
};

/* "source.unknown" (L2) where the filter names a source that does not exist. */
bool view_errors(const struct view_reader *reader, const struct view_recent_filter *filter,
                 struct view_error_list *list, struct error *err) MUST_CHECK;
void view_errors_write(struct json_writer *w, const struct view_error_list *list);

#endif
