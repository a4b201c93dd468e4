/* store_run: attempts at a task, and the batches of each: the smallest unit of work on record.
 *
 * A batch is written once, in the transaction of its records. It has three unique keys: its number
 * in the run, the token it was requested with, and its idempotent key. Writing a batch that already
 * exists returns the existing one, and the caller continues from it. The ids that phase one lists
 * are kept here too.
 */
#ifndef PATRA_PORT_STORE_RUN_H
#define PATRA_PORT_STORE_RUN_H

#include "core/codes.h"
#include "core/window.h"
#include "port/store.h"
#include "port/store_task.h"

struct run {
    int64_t id;
    int64_t task_id;
    int64_t attempt; /* from 1; given by the store */
    struct str source;
    enum operation operation;
    struct str lease_owner;
    int64_t lease_epoch;
    enum run_status status;
    bool has_reason; /* PARTIAL */
    enum partial_reason reason;
    struct window window;              /* not valid for tasks without one */
    struct str checkpoint;             /* JSON, kept byte by byte; '' = none */
    struct str stats;                  /* JSON */
    struct str error;                  /* '' = none */
    struct maybe_instant observed_max; /* the latest updated_at of its records */
    int64_t started_us;
    int64_t finished_us; /* 0 while it runs */
};

struct run_period {
    struct str source;
    enum operation operation;
    int64_t from_us;
    int64_t to_us;
    int64_t limit;
};

struct run_list {
    struct run *items;
    size_t count;
};

/* What a batch row keeps so that the batch can be looked into and replayed. */
struct batch_evidence {
    struct str request_input; /* JSON: what the request was made of (engine/fetch/request_kept.h) */
    struct str items;         /* what became of each item (core/batch_items.h) */
    struct str body_hash;     /* of its archived response, SHA-256 in hex; '' = not archived */
};

struct batch {
    int64_t id;
    int64_t run_id;
    int64_t task_id;
    int64_t slice_id;
    int64_t plan_id;
    int64_t number; /* within the run, from 1 */
    bool has_page;  /* PAGE and OFFSET */
    int64_t page_no;
    int64_t page_size;
    bool has_before; /* TOKEN and URL: the token it was requested with; any bytes */
    struct str before_token;
    bool has_after; /* the token of the next page */
    struct str after_token;
    struct str expr_hash;
    struct str idempotent_key;
    enum batch_status status;
    struct str request_digest;  /* JSON, without secrets */
    struct str response_digest; /* JSON */
    struct str stats;           /* JSON */
    bool has_next;
    int64_t created_us;
    struct batch_evidence evidence; /* only written; store_batch_evidence() reads it */
};

struct batch_list {
    struct batch *items;
    size_t count;
};

/* What became of a batch that was to be added. */
struct batch_added {
    int64_t id;
    bool is_new;      /* false: a batch with one of its three keys already exists; id is its id */
    struct batch old; /* that batch; set only when !is_new */
};

struct listed_list {
    struct str *items;
    size_t count;
};

struct store_run_ops {
    bool (*add)(struct store *store, struct run *run, struct error *err);
    bool (*save)(struct store *store, const struct run *run, int64_t now_us, bool *saved,
                 struct error *err);
    bool (*started)(struct store *store, struct arena *arena, const struct run_period *period,
                    struct run_list *list, struct error *err);
    bool (*list)(struct store *store, struct arena *arena, int64_t task_id, struct run_list *list,
                 struct error *err);
    bool (*get)(struct store *store, struct arena *arena, int64_t id, struct run *run, bool *found,
                struct error *err);
    bool (*recent)(struct store *store, struct arena *arena, const struct task_partition *of,
                   int64_t limit, struct run_list *list, struct error *err);
    bool (*batch_add)(struct store *store, struct arena *arena, const struct batch *batch,
                      struct batch_added *added, struct error *err);
    bool (*batch_last)(struct store *store, struct arena *arena, int64_t task_id,
                       struct batch *batch, bool *found, struct error *err);
    bool (*batch_list)(struct store *store, struct arena *arena, int64_t run_id,
                       struct store_page page, struct batch_list *list, struct error *err);
    bool (*batch_get)(struct store *store, struct arena *arena, int64_t run_id, int64_t number,
                      struct batch *batch, bool *found, struct error *err);
    bool (*batch_failed)(struct store *store, struct arena *arena, int64_t run_id, int64_t limit,
                         struct batch_list *list, struct error *err);
    bool (*batch_evidence)(struct store *store, struct arena *arena, int64_t batch_id,
                           struct batch_evidence *evidence, struct error *err);
    bool (*listed_add)(struct store *store, int64_t task_id, const struct str *ids, size_t count,
                       struct error *err);
    bool (*listed_list)(struct store *store, struct arena *arena, int64_t task_id,
                        struct store_page page, struct listed_list *list, struct error *err);
};

/* Adds a run as the task's next attempt, and increments the task's count of attempts. Sets run->id
 * and run->attempt. L2 when there is no such task. Needs a transaction. */
static inline bool MUST_CHECK store_run_add(struct store *store, struct run *run, struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->run->add(store, run, err);
}

/* Writes status, reason, checkpoint, stats, error and finished_us of the run with run->id. *saved
 * is false, and nothing is written, when the run has already ended. */
static inline bool MUST_CHECK store_run_save(struct store *store, const struct run *run,
                                             int64_t now_us, bool *saved, struct error *err)
{
    return store->run->save(store, run, now_us, saved, err);
}

/* The runs of a task by attempt. */
static inline bool MUST_CHECK store_run_list(struct store *store, struct arena *arena,
                                             int64_t task_id, struct run_list *list,
                                             struct error *err)
{
    return store->run->list(store, arena, task_id, list, err);
}

/* Runs that started within a period, the one that started last first. */
static inline bool MUST_CHECK store_run_started(struct store *store, struct arena *arena,
                                                const struct run_period *period,
                                                struct run_list *list, struct error *err)
{
    return store->run->started(store, arena, period, list, err);
}

static inline bool MUST_CHECK store_run_get(struct store *store, struct arena *arena, int64_t id,
                                            struct run *run, bool *found, struct error *err)
{
    return store->run->get(store, arena, id, run, found, err);
}

/* The latest runs of a partition from which its volume can be estimated: runs over a window that
 * were their task's first attempt and SUCCEEDED, so that each has read all of its window, and not
 * only some ids of it. The one that started last comes first. */
static inline bool MUST_CHECK store_run_recent(struct store *store, struct arena *arena,
                                               const struct task_partition *of, int64_t limit,
                                               struct run_list *list, struct error *err)
{
    return store->run->recent(store, arena, of, limit, list, err);
}

/* Adds a batch, or reads the one that already has one of its three keys. */
static inline bool MUST_CHECK store_batch_add(struct store *store, struct arena *arena,
                                              const struct batch *batch, struct batch_added *added,
                                              struct error *err)
{
    return store->run->batch_add(store, arena, batch, added, err);
}

/* The last committed (SUCCEEDED) batch of a task, of any of its runs: where to continue. */
static inline bool MUST_CHECK store_batch_last(struct store *store, struct arena *arena,
                                               int64_t task_id, struct batch *batch, bool *found,
                                               struct error *err)
{
    return store->run->batch_last(store, arena, task_id, batch, found, err);
}

/* By number, from the first above page.after. */
static inline bool MUST_CHECK store_batch_list(struct store *store, struct arena *arena,
                                               int64_t run_id, struct store_page page,
                                               struct batch_list *list, struct error *err)
{
    return store->run->batch_list(store, arena, run_id, page, list, err);
}

/* By its number in the run. */
static inline bool MUST_CHECK store_batch_get(struct store *store, struct arena *arena,
                                              int64_t run_id, int64_t number, struct batch *batch,
                                              bool *found, struct error *err)
{
    return store->run->batch_get(store, arena, run_id, number, batch, found, err);
}

/* Those of a run that FAILED, the last one first. */
static inline bool MUST_CHECK store_batch_failed(struct store *store, struct arena *arena,
                                                 int64_t run_id, int64_t limit,
                                                 struct batch_list *list, struct error *err)
{
    return store->run->batch_failed(store, arena, run_id, limit, list, err);
}

/* Empty for a batch that does not exist. */
static inline bool MUST_CHECK store_batch_evidence(struct store *store, struct arena *arena,
                                                   int64_t batch_id,
                                                   struct batch_evidence *evidence,
                                                   struct error *err)
{
    return store->run->batch_evidence(store, arena, batch_id, evidence, err);
}

/* Appends ids that phase one of a task has found to those of its earlier batches. Called in the
 * transaction of their batch, whose lease keeps others from adding to the same task. */
static inline bool MUST_CHECK store_listed_add(struct store *store, int64_t task_id,
                                               const struct str *ids, size_t count,
                                               struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->run->listed_add(store, task_id, ids, count, err);
}

/* In the order in which they were added, without the first page.after. */
static inline bool MUST_CHECK store_listed_list(struct store *store, struct arena *arena,
                                                int64_t task_id, struct store_page page,
                                                struct listed_list *list, struct error *err)
{
    return store->run->listed_list(store, arena, task_id, page, list, err);
}

#endif
