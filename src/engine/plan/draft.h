/* plan_draft: a plan while it is being made. The steps of engine/plan/plan.h, in their order; each
 * fills in what the next one needs. They only read, except the two that say so.
 */
#ifndef PATRA_ENGINE_PLAN_DRAFT_H
#define PATRA_ENGINE_PLAN_DRAFT_H

#include "core/bucket.h"
#include "engine/plan/plan.h"
#include "port/store_cursor.h"
#include "port/store_plan.h"
#include "spec/fault.h"
#include "spec/snapshot.h"
#include "spec/spec.h"

/* The state of the rate gate, from which the plan's pace and its bookings are computed. */
struct plan_pace {
    bool is_learned;               /* false: no request was made yet; the settings decide */
    struct bucket_outlook outlook; /* open_us: not before the gate is no longer parked */
    int64_t found_us;
    int64_t learned_rate;    /* millionths of a permit per second, then */
    int64_t parked_until_us; /* INT64_MIN: it is not */
    int64_t quota_from_us;   /* the quota is used up until then; INT64_MIN: it is not */
};

/* The cursors of the queries that an operation had before. A new query fetches what they began
 * with, or it would leave out all that they have passed. */
struct former {
    int64_t count;
    struct maybe_instant start; /* the earliest beginning of any of them */
};

struct plan_draft {
    const struct plan_request *request;

    /* compiled */
    struct source source;
    struct fault_list faults; /* only warnings, once it is compiled */
    struct str operation;     /* its name in the source */
    struct snapshot snapshot;
    const struct spec *spec; /* held until draft_release() */
    struct str base;         /* by id: the endpoint whose records are looked at again */
    struct str target;       /* the endpoint under which records are stored */

    /* decided */
    struct plan plan;     /* the row as it will be written */
    struct str campaign;  /* canonical JSON of what the namespace is a hash of; empty: not CUSTOM */
    bool selects_apart;   /* the trigger's settings select other records than the source's own */
    struct former former; /* EXPR: other queries of the operation that have a cursor */
    struct cursor cursor;
    struct window_decision decision;
    struct plan_feed feed;
    struct plan_files files;

    /* covered: by time */
    struct window_list pieces;
    struct window_list ended;        /* engine/coverage/coverage.h */
    struct maybe_instant held_until; /* windows left to a person are tried again then, the first of
                                        them; not set: there are none */

    struct slice_density density; /* by time: what earlier runs found */

    /* to be spent */
    int64_t queued;
    struct budget budget;
    struct str rate_key;
    struct plan_pace pace;
    struct spread spread;
};

/* Loads and compiles the source. False with the faults in the draft ("spec.invalid");
 * `draft->plan` then has source, endpoint (where it is known) and operation for the record of the
 * failed trigger. An unknown source leaves plan.source empty, and nothing is recorded. */
bool draft_compile(struct store *store, struct arena *arena, const struct plan_request *request,
                   struct plan_draft *draft, struct error *err) MUST_CHECK;

/* Ends the use of the draft, also of one that did not compile. */
void draft_release(struct plan_draft *draft);

/* L2 "plan.paused", "plan.stopped" or "plan.disabled" when the source must not run. */
bool draft_may_run(struct store *store, struct arena *arena, const struct plan_draft *draft,
                   struct error *err) MUST_CHECK;

/* The namespace: its cursor, its coverage, and what to lock. */
bool draft_name(struct arena *arena, struct plan_draft *draft, struct error *err) MUST_CHECK;

/* Why the plan's windows are counted apart from those of earlier plans of the operation; '' when
 * they are not, data NULL when the arena is full. */
struct str draft_apart(struct arena *arena, const struct plan_draft *draft);

/* The window, from the namespace's cursor. */
bool draft_decide(struct store *store, struct arena *arena, struct plan_draft *draft,
                  struct error *err) MUST_CHECK;

/* Saves where coverage begins as the cursor's first value, event first. The plan must have been
 * added before, in the same transaction. Writes. */
bool draft_start_cursor(struct store *store, struct arena *arena, const struct plan_draft *draft,
                        struct error *err) MUST_CHECK;

/* Which parts of the window must be fetched. */
bool draft_cover(struct store *store, struct arena *arena, struct plan_draft *draft,
                 struct error *err) MUST_CHECK;

/* Adds windows left to a person to those that are under way, until they are tried again. */
bool draft_hold(struct store *store, struct arena *arena, struct plan_draft *draft,
                struct window_list *live, struct error *err) MUST_CHECK;

/* The density of records that earlier runs found, for slices by time. */
bool draft_recall(struct store *store, struct arena *arena, struct plan_draft *draft,
                  struct error *err) MUST_CHECK;

/* Room in the queue. */
bool draft_spend(struct store *store, struct plan_draft *draft, struct error *err) MUST_CHECK;

/* When tasks are due, at the pace that the rate gate has learned. */
bool draft_pace(struct store *store, struct arena *arena, struct plan_draft *draft,
                struct error *err) MUST_CHECK;

/* draft_quota() bounds the budget by the provider's quota; draft_book() books a part of the quota.
 * The latter writes. */
bool draft_quota(struct store *store, struct arena *arena, struct plan_draft *draft,
                 struct error *err) MUST_CHECK;
bool draft_book(struct store *store, struct arena *arena, const struct plan_draft *draft,
                int64_t requests, struct error *err) MUST_CHECK;

/* The same for a feed: its cursor, and where it begins. */
bool draft_decide_feed(struct store *store, struct arena *arena, struct plan_draft *draft,
                       struct error *err) MUST_CHECK;
bool draft_is_feed(const struct plan_draft *draft);

/* The same for files: how many, and whether they are under way. */
bool draft_decide_files(struct store *store, struct arena *arena, struct plan_draft *draft,
                        struct error *err) MUST_CHECK;
bool draft_is_of_files(const struct plan_draft *draft);

/* True when the plan is driven by ids, not by a window. */
bool draft_is_by_id(const struct plan_draft *draft);

/* All slices of the plan, by time or by page. */
struct slice_request draft_slices(const struct plan_draft *draft);

#endif
