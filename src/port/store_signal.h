/* store_signal: work that others give to the planner.
 *
 * A signal says "fetch this record again". A person, the API or the quarantine adds it; a plan of
 * an UPDATE takes it up (store_signal_consume), or closes it because there is nothing to do. A
 * record has at most one open signal.
 *
 * A ticket says "re-slice the rest of this slice" (core/reslice.h). An executor adds it, and one
 * planner only claims it (store_reslice_claim).
 */
#ifndef PATRA_PORT_STORE_SIGNAL_H
#define PATRA_PORT_STORE_SIGNAL_H

#include "core/codes.h"
#include "core/window.h"
#include "port/store.h"
#include "port/store_record.h"

struct signal {
    int64_t id;
    struct str source;
    struct str endpoint;
    struct str provider_id;
    struct str reason;
    int64_t http_status; /* of the response that refused the record; 0: none */
    struct str detail;   /* that response or failure in words */
    struct str created_by;
    int64_t created_us;
    int64_t tried; /* how many earlier signals for this record plans took up; ignored by add */
};

struct signal_list {
    struct signal *items;
    size_t count;
};

/* A signal, and what became of it. */
struct signal_past {
    struct signal signal;
    int64_t plan_id;      /* that took it; 0: none */
    int64_t consumed_us;  /* 0: it is open */
    struct str closed_by; /* who settled it without a plan; empty: nobody */
};

struct signal_past_list {
    struct signal_past *items;
    size_t count;
};

struct signal_filter { /* '' = any */
    struct str source;
    struct str endpoint;
    struct str reason;
    int64_t after_id;
    int64_t limit;
};

/* Re-slice the rest of this slice (core/reslice.h). */
struct reslice_ticket {
    int64_t id;
    int64_t task_id;
    int64_t slice_id;
    enum reslice_reason reason;
    struct window remaining; /* of the slice's window; not valid for slices without one */
    struct str detail;       /* JSON: totals, pages, what was finished */
    int64_t created_us;
};

struct reslice_ticket_list {
    struct reslice_ticket *items;
    size_t count;
};

struct signal_consume {
    const int64_t *ids;
    size_t count;
    int64_t plan_id; /* the plan that takes them up */
    int64_t now_us;
};

struct signal_repeat {
    int64_t plan_id; /* the plan that took them up without effect */
    const struct str *provider_ids;
    size_t count;
    int64_t now_us;
};

struct reslice_claim {
    struct str owner;
    int64_t now_us;
    int64_t limit;
};

struct store_signal_ops {
    bool (*add)(struct store *store, const struct signal *signals, size_t count, int64_t *added,
                struct error *err);
    bool (*list)(struct store *store, struct arena *arena, const struct signal_filter *filter,
                 struct signal_list *list, struct error *err);
    bool (*of)(struct store *store, struct arena *arena, const struct record_key *key,
               int64_t limit, struct signal_past_list *list, struct error *err);
    bool (*consume)(struct store *store, const struct signal_consume *consume, int64_t *consumed,
                    struct error *err);
    bool (*close)(struct store *store, const struct signal *signal, struct str by, int64_t now_us,
                  bool *closed, struct error *err);
    bool (*drop)(struct store *store, int64_t id, struct str by, int64_t now_us, bool *dropped,
                 struct error *err);
    bool (*repeat)(struct store *store, const struct signal_repeat *repeat, int64_t *added,
                   struct error *err);
    bool (*reslice_add)(struct store *store, const struct reslice_ticket *ticket, bool *added,
                        struct error *err);
    bool (*reslice_claim)(struct store *store, struct arena *arena,
                          const struct reslice_claim *claim, struct reslice_ticket_list *list,
                          struct error *err);
};

/* A record that already has an open signal gets no second one; *added counts the new ones. */
static inline bool MUST_CHECK store_signal_add(struct store *store, const struct signal *signals,
                                               size_t count, int64_t *added, struct error *err)
{
    return store->signal->add(store, signals, count, added, err);
}

/* Open signals by id, from the first above after_id. */
static inline bool MUST_CHECK store_signal_list(struct store *store, struct arena *arena,
                                                const struct signal_filter *filter,
                                                struct signal_list *list, struct error *err)
{
    return store->signal->list(store, arena, filter, list, err);
}

/* All that were added for a record, the newest first. */
static inline bool MUST_CHECK store_signal_of(struct store *store, struct arena *arena,
                                              const struct record_key *key, int64_t limit,
                                              struct signal_past_list *list, struct error *err)
{
    return store->signal->of(store, arena, key, limit, list, err);
}

/* The plan takes them up. Signals that were taken up before are left alone and not counted. */
static inline bool MUST_CHECK store_signal_consume(struct store *store,
                                                   const struct signal_consume *consume,
                                                   int64_t *consumed, struct error *err)
{
    return store->signal->consume(store, consume, consumed, err);
}

/* Closes the open signal of a record without a plan, if it has this reason. A signal that was added
 * for another reason stays open. */
static inline bool MUST_CHECK store_signal_close(struct store *store, const struct signal *signal,
                                                 struct str by, int64_t now_us, bool *closed,
                                                 struct error *err)
{
    assert(by.len > 0);
    return store->signal->close(store, signal, by, now_us, closed, err);
}

/* Closes a signal without a plan, by its id; *dropped is false when it is no longer open. Its row
 * keeps who did it. */
static inline bool MUST_CHECK store_signal_drop(struct store *store, int64_t id, struct str by,
                                                int64_t now_us, bool *dropped, struct error *err)
{
    assert(by.len > 0);
    return store->signal->drop(store, id, by, now_us, dropped, err);
}

/* For signals that the plan took up without effect: those for these records are added again, with
 * the same reason, status, detail and created_by. A record that already has an open signal gets no
 * second one. */
static inline bool MUST_CHECK store_signal_repeat(struct store *store,
                                                  const struct signal_repeat *repeat,
                                                  int64_t *added, struct error *err)
{
    return store->signal->repeat(store, repeat, added, err);
}

/* A task has one ticket; *added is false for a second one. */
static inline bool MUST_CHECK store_reslice_add(struct store *store,
                                                const struct reslice_ticket *ticket, bool *added,
                                                struct error *err)
{
    return store->signal->reslice_add(store, ticket, added, err);
}

/* The oldest open tickets; each goes to one planner only. To be called in the transaction that adds
 * the new slices: if that is rolled back, the tickets are open again. */
static inline bool MUST_CHECK store_reslice_claim(struct store *store, struct arena *arena,
                                                  const struct reslice_claim *claim,
                                                  struct reslice_ticket_list *list,
                                                  struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->signal->reslice_claim(store, arena, claim, list, err);
}

#endif
