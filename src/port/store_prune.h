/* store_prune: removes events that everybody has read, from the outbox and the stream.
 *
 *      lane   1 2 3 4 5 6 7 8 9 ...
 *             ─────────│───────│────▶
 *              removed  held    younger than :before
 *
 * An event is removed when it
 *   - entered the stream before an instant,
 *   - is below the horizon: a new sequencer reads from the stream what is above,
 *   - was passed by every subscription, whatever its state: one that is paused reads on some day,
 *   - does not wait for a parked key: neither it nor a later one of its lane,
 *   - and all events before it in its lane go, too: a lane's positions have no gaps, whatever it
 * begins with.
 *
 * Records are not touched: whoever begins later, or again, reads them. What had an event that is
 * gone is unknown from then on; store_prune_last() says up to which one that may be.
 */
#ifndef PATRA_PORT_STORE_PRUNE_H
#define PATRA_PORT_STORE_PRUNE_H

#include "port/store.h"

/* A transaction of this size takes some 20 ms; nobody waits for it longer. */
enum { PRUNE_EVENTS_MAX = 5000 };

/* Who makes or moves an offset holds this lock, so that what it begins with is not removed
 * meanwhile. */
#define STORE_PRUNE_LOCK STR("stream.prune")

/* What older events wait for. */
struct prune_held {
    int64_t events;          /* that entered the stream before the instant, and are still there */
    struct str subscription; /* the one that is furthest behind; '': none */
    int64_t behind;          /* its events */
    int64_t parked;          /* keys, of all subscriptions */
};

/* ---- rows of history, which are archived before they are removed ---- */

enum retained_kind { RETAINED_BATCH, RETAINED_CURSOR_EVENT };

/* As the rows hold it, and as files are called. */
static inline struct str retained_kind_word(enum retained_kind kind)
{
    return kind == RETAINED_BATCH ? STR("BATCH") : STR("CURSOR_EVENT");
}

struct retained_row {
    int64_t id;
    int64_t run_id;  /* 0: none */
    bool may_go;     /* else it stays, whatever its age */
    struct str json; /* the row, as one object */
};

struct retained_page {
    struct retained_row *items;
    size_t count;
    bool is_last; /* what comes after it is younger */
};

struct retained_query {
    enum retained_kind kind;
    int64_t before_us;
    int64_t after_id;
    int64_t limit;
};

struct retained_file {
    enum retained_kind kind;
    int64_t first_id, last_id;
    int64_t first_run, last_run;
    int64_t rows;
    struct str path;
    struct str sha256;
    int64_t made_us;
};

struct retained_file_list {
    struct retained_file *items;
    size_t count;
};

struct store_prune_ops {
    bool (*oldest_event)(struct store *store, int64_t *at_us, struct error *err);
    bool (*history)(struct store *store, struct arena *arena, const struct retained_query *query,
                    struct retained_page *page, struct error *err);
    bool (*history_remove)(struct store *store, enum retained_kind kind,
                           const struct retained_row *rows, size_t count, struct error *err);
    bool (*file_add)(struct store *store, const struct retained_file *file, struct error *err);
    bool (*files_of)(struct store *store, struct arena *arena, int64_t run_id,
                     struct retained_file_list *files, struct error *err);
    bool (*tidy)(struct store *store, int64_t before_us, int64_t limit, int64_t *removed,
                 struct error *err);
    bool (*run)(struct store *store, struct arena *arena, int64_t before_us, int64_t *events,
                struct error *err);
    bool (*count)(struct store *store, int64_t before_us, int64_t *events, struct error *err);
    bool (*held)(struct store *store, struct arena *arena, int64_t before_us,
                 struct prune_held *held, struct error *err);
    bool (*last)(struct store *store, int64_t *id, struct error *err);
};

/* Removes about PRUNE_EVENTS_MAX events, the oldest, in a transaction of its own. *events counts
 * them; 0: there are no more. */
static inline bool MUST_CHECK store_prune_run(struct store *store, struct arena *arena,
                                              int64_t before_us, int64_t *events, struct error *err)
{
    assert(store->state == STORE_IDLE);
    return store->prune->run(store, arena, before_us, events, err);
}

/* How many events could be removed now. */
static inline bool MUST_CHECK store_prune_count(struct store *store, int64_t before_us,
                                                int64_t *events, struct error *err)
{
    return store->prune->count(store, before_us, events, err);
}

static inline bool MUST_CHECK store_prune_held(struct store *store, struct arena *arena,
                                               int64_t before_us, struct prune_held *held,
                                               struct error *err)
{
    return store->prune->held(store, arena, before_us, held, err);
}

/* Not after any event of the outbox that refers to a batch: batches of before are needed by none.
 * INT64_MAX: no event does. */
static inline bool MUST_CHECK store_prune_oldest_event(struct store *store, int64_t *at_us,
                                                       struct error *err)
{
    return store->prune->oldest_event(store, at_us, err);
}

/* Rows that were written before the instant, in order, and whether each may go:
 *
 *   - a batch of a task that has ended, but for the last one of its task, which says how it ended;
 *     and only when its response is not archived,
 *   - an event of a cursor that a later one has made history: the value can be rebuilt without it.
 */
static inline bool MUST_CHECK store_prune_history(struct store *store, struct arena *arena,
                                                  const struct retained_query *query,
                                                  struct retained_page *page, struct error *err)
{
    return store->prune->history(store, arena, query, page, err);
}

/* In a transaction of its own: a few at a time, so that nobody waits. */
static inline bool MUST_CHECK store_prune_history_remove(struct store *store,
                                                         enum retained_kind kind,
                                                         const struct retained_row *rows,
                                                         size_t count, struct error *err)
{
    assert(store->state == STORE_IDLE);
    return store->prune->history_remove(store, kind, rows, count, err);
}

/* One with the same first row is replaced. */
static inline bool MUST_CHECK store_prune_file_add(struct store *store,
                                                   const struct retained_file *file,
                                                   struct error *err)
{
    return store->prune->file_add(store, file, err);
}

/* The files that may have batches of the run, the newest first: batches of runs that were under way
 * at the same time lie beside each other. RETAINED_FILES_MAX at most. */
enum { RETAINED_FILES_MAX = 20 };
static inline bool MUST_CHECK store_prune_files_of(struct store *store, struct arena *arena,
                                                   int64_t run_id, struct retained_file_list *files,
                                                   struct error *err)
{
    return store->prune->files_of(store, arena, run_id, files, err);
}

/* What needs no archive: ids that tasks listed which have ended before the instant, alerts that
 * were resolved before it, silences that ended. Up to `limit` rows of each; 0 removed: no more. */
static inline bool MUST_CHECK store_prune_tidy(struct store *store, int64_t before_us,
                                               int64_t limit, int64_t *removed, struct error *err)
{
    return store->prune->tidy(store, before_us, limit, removed, err);
}

/* The highest id of the events that were removed; 0: none was. Those above it are all there. */
static inline bool MUST_CHECK store_prune_last(struct store *store, int64_t *id, struct error *err)
{
    return store->prune->last(store, id, err);
}

#endif
