/* plan: a trigger becomes a plan, the plan becomes slices, each slice a task.
 *
 *      compile    the source as the Registry has it in force -> snapshot      spec/snapshot.h
 *
 *      decide     cursor, bounds, lag, lookback -> the window, and why   core/window_decision.h
 *
 *      cover      the window less what is covered or live -> pieces             core/coverage.h
 *
 *      cut        pieces, pages or ids -> slices, one at a time                    core/slice.h
 *
 *      write      slices and their tasks, a batch at a time, until the last slice or the
 *                 budget's end                                                    core/budget.h
 *
 * Nothing here makes requests: a plan is made of what the store knows. src/core decides; this is
 * only the order of reading and writing.
 *
 * The promises:
 *
 * Once. A plan is one transaction under the lock of its namespace, so of two triggers at the same
 * instant the second finds the slices of the first live. A trigger that failed has written nothing
 * and may be repeated; so may one whose result was lost. Before it plans, a trigger lets its
 * cursor catch up with the tasks that have ended (engine/cursor/cursor_advance.h); that is kept
 * even when the plan fails.
 *
 * Nothing silent. A source that does not compile makes no plan: its trigger is recorded, and
 * record_remarks names every fault. A window that is empty is a plan with zero slices and a
 * reason. A budget that ends before the slices do makes the plan PARTIAL, with a reason; the next
 * trigger continues from there, because coverage says what is missing.
 *
 * Memory. It does not grow with the window, nor with the number of candidates.
 */
#ifndef PATRA_ENGINE_PLAN_PLAN_H
#define PATRA_ENGINE_PLAN_PLAN_H

#include "base/arena.h"
#include "base/attr.h"
#include "core/budget.h"
#include "core/codes.h"
#include "core/slice.h"
#include "core/window_decision.h"
#include "engine/rederive/rederive.h"
#include "engine/source/spec_cache.h"
#include "engine/update/id_reader.h"
#include "port/secret.h"
#include "port/store.h"
#include "spec/fault.h"
#include "spec/resolve.h"

/* The tick of a schedule that fires the trigger. It is claimed in the plan's own transaction: of
 * all servers that fire it one makes the plan, and a crash leaves the tick for another. */
struct plan_tick {
    struct str owner; /* who fires it */
    int64_t at_us;
};

/* ---- what is seen from outside ---- */

struct plan; /* port/store_plan.h */
struct plan_slice;
struct task; /* port/store_task.h */

enum plan_event_kind {
    PLAN_EVENT_COMPILED, /* the source; or, with err, it cannot be */
    PLAN_EVENT_SLICE,    /* was written, with its task */
};

struct plan_event { /* views, valid during the call; what does not apply is NULL */
    enum plan_event_kind kind;
    const struct plan *plan; /* as far as it is known by then */
    const struct plan_slice *slice;
    const struct task *task; /* SLICE: has the slice's id, and none of its own yet */
    const struct error *err;
};

/* Called as things are done, within the transaction: a trigger that fails after that takes back
 * what it wrote. Embed it first. */
struct plan_watch {
    void (*see)(struct plan_watch *watch, const struct plan_event *event);
};

/* ---- a trigger ---- */

struct plan_request {
    struct str source;
    struct str operation; /* its name in the source, or its word where only one has it */
    int64_t now_us;
    enum trigger_type trigger;
    struct str scheduler; /* empty: "patra" */
    struct str job_id;    /* that scheduler's own names for the job and for this run of it; a */
    struct str log_id;    /* tick names them itself: SOURCE/OPERATION and its instant */
    struct maybe_instant from; /* --from, --to */
    struct maybe_instant to;
    /* BACKFILL, REPLAY: whose progress is continued. Without a name the bounds are the name. */
    struct str campaign;
    int64_t stale_us;               /* UPDATE, METRICS by id: records not checked for this long, and
                                       no others; 0: as the source says */
    struct id_reader *ids;          /* UPDATE, METRICS by id: these become signals; NULL: none */
    struct override_list overrides; /* --set */
    const struct plan_tick *tick;   /* NULL: by hand */
    struct spec_cache *specs;       /* NULL: none */
    struct random_source *random;   /* UPDATE, METRICS by id: for events of records that are read
                                       again by a changed mapping; NULL: they are not */
    struct secret_source *secrets;  /* reads references that select; NULL: a source that has one is
                                       refused */
    struct plan_watch *watch;       /* NULL: nobody looks */
};

enum plan_idle { /* why a plan has no slices */
                 PLAN_IDLE_NOT,
                 PLAN_IDLE_WINDOW,     /* the window is empty; the decision says why */
                 PLAN_IDLE_COVERED,    /* all of it is covered, or under way */
                 PLAN_IDLE_CANDIDATES, /* no record needs it */
                 PLAN_IDLE_HELD,       /* what is missing was left to a person */
                 PLAN_IDLE_BUDGET,     /* PARTIAL, stopped before the first slice */
};
extern const struct code_table PLAN_IDLE_CODES;

/* Where the plan of a feed begins (window.type id or token). */
struct plan_feed {
    struct slice_feed slice;
    int64_t version; /* of the cursor; 0: there is none */
    int64_t lookback_ids;
    int64_t live_task_id; /* that is under way; 0: none, and the plan has a slice */
};

/* Of an endpoint of role bulk. */
struct plan_files {
    int64_t count;
    int64_t live_task_id; /* of the endpoint, under way; 0: none, and the plan has slices */
};

struct plan_result {
    bool is_fired; /* false: another server fired the tick, and nothing was done */
    int64_t schedule_instance_id;
    int64_t plan_id; /* 0 when previewed */
    enum plan_status status;
    struct str endpoint;
    enum operation operation;
    const struct plan_feed *feed;    /* NULL: the plan is not of a feed */
    const struct plan_files *files;  /* NULL: the plan is not of files */
    struct window_decision decision; /* of neither */
    enum plan_idle idle;
    enum budget_stop stop;            /* why it is PARTIAL */
    int64_t slices;                   /* that became tasks */
    int64_t slices_left;              /* preview: that wait for the next trigger */
    int64_t ids;                      /* UPDATE, METRICS by id: records to be looked at again */
    int64_t requests;                 /* expected; unknown ones count as one */
    int64_t records;                  /* expected, by time; 0 when there is no history */
    int64_t span_us;                  /* by time: all slices together */
    struct str apart;                 /* why its windows are counted apart from those of earlier
                                         plans; '' = they are not */
    struct rederive_result rederived; /* UPDATE, METRICS by id: records of an old mapping */
    struct str remarks;               /* JSON, as in record_remarks */
    const struct fault_list *faults;  /* of the source: warnings, or why it does not compile */
};

/* Makes the plan. When the source does not compile, is paused or disabled, or when the request
 * cannot be met, the trigger is recorded with the reason, and err has it: "spec.invalid" (L2)
 * quotes the first fault, "plan.paused", "plan.stopped", "plan.disabled" and "plan.request" (L2)
 * say what to do. L1 has written nothing. */
bool plan_trigger(struct store *store, struct arena *arena, const struct plan_request *request,
                  struct plan_result *result, struct error *err) MUST_CHECK;

/* True for the error of a source that a person has paused: it can run once it is resumed. */
#define PLAN_PAUSED "plan.paused"
bool plan_error_is_paused(const struct error *err);

/* What plan_trigger() would do, without writing anything. Every slice is shown in order, those that
 * must wait for room in the queue included. */
struct plan_shown {
    const struct slice *slice;
    int64_t ids;          /* by id: how many */
    bool is_now;          /* false: left for the next trigger */
    int64_t scheduled_us; /* when its task would be due */
};
struct plan_viewer {
    void (*show)(struct plan_viewer *viewer, const struct plan_shown *shown);
};
bool plan_preview(struct store *store, struct arena *arena, const struct plan_request *request,
                  struct plan_viewer *viewer, struct plan_result *result,
                  struct error *err) MUST_CHECK;

#endif
