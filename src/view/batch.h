/* batch: one batch in full: what was requested, every attempt, what came, and what became of each
 * item. Texts are masked for people (base/mask.h); secrets were never stored.
 */
#ifndef PATRA_VIEW_BATCH_H
#define PATRA_VIEW_BATCH_H

#include "core/batch_items.h"
#include "data/json_write.h"
#include "port/store_run.h"
#include "port/store_task.h"
#include "view/attempt.h"
#include "view/reader.h"

/* What is to be seen of a batch, the worst last. */
enum batch_mark {
    BATCH_MARK_NONE,
    BATCH_MARK_RETRIED,     /* it was received after requests that failed */
    BATCH_MARK_QUARANTINED, /* it was received, and some of its items could not be judged */
    BATCH_MARK_FAILED,      /* it was given up */
};
struct str batch_mark_name(enum batch_mark mark); /* "retried" */

struct batch_numbers { /* of its stats; 0 where they do not have it */
    int64_t items;
    int64_t inserted;
    int64_t updated;
    int64_t skipped;
    int64_t quarantined;
    int64_t requests;
    int64_t retries;
    int64_t latency_ms;
    int64_t status; /* HTTP; 0: no response */
    int64_t bytes;
    struct str level; /* of its error; '' = none. The next two as well */
    struct str code;
    struct str text;
};

/* Of a row of a batch list. */
bool view_batch_numbers(struct arena *arena, const struct batch *batch,
                        struct batch_numbers *numbers, struct error *err) MUST_CHECK;
enum batch_mark view_batch_mark(const struct batch *batch, const struct batch_numbers *numbers);

struct view_batch_items {
    struct batch_item *items;
    size_t count;
    int64_t counts[BATCH_ITEM_LOST + 1]; /* by kind */
    bool is_kept; /* false: the row has none, and it is not known that there were none */
};

struct view_batch {
    struct batch batch; /* its digests are masked */
    struct task task;
    struct run run;
    struct batch_numbers numbers;
    enum batch_mark mark;
    struct view_attempt_list attempts;
    struct batch_evidence evidence;
    struct view_batch_items items;
    struct str archived; /* the file that it was read from; '': the store has it */
};

struct view_batch_key {
    int64_t run_id;
    int64_t number; /* 0: the last one of the run that is marked, or else its last one */
};

/* "run.unknown", "batch.unknown" (L2); "batch.archived" (L2) names the file that retention wrote of
 * such batches, and how it is read. */
bool view_batch(const struct view_reader *reader, const struct view_batch_key *key,
                struct view_batch *view, struct error *err) MUST_CHECK;

/* The error of a batch that the store does not have: one of these two. False. */
bool view_batch_missing(const struct view_reader *reader, const struct view_batch_key *key,
                        struct error *err);
bool view_batch_error_is_archived(const struct error *err);

/* The same of a row that was found in such a file (engine/retain/find.h). What became of each item
 * is not in it. */
bool view_batch_archived(const struct view_reader *reader, const struct batch *row, struct str path,
                         struct view_batch *view, struct error *err) MUST_CHECK;
void view_batch_write(struct json_writer *w, const struct view_batch *view);

/* JSON of the store as it is shown: e-mail addresses and phone numbers are masked. */
bool view_masked_json(struct arena *arena, struct str json, struct str *masked,
                      struct error *err) MUST_CHECK;

#endif
