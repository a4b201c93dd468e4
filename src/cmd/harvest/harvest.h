/* harvest: patra harvest, backfill, update, metrics and replay: plan, and work until the plan is
 * done.
 *
 *      trigger ─ plan ─ workers ─ ... every second: how many are left? ... ─ summary
 *                  ╰── again, where the queue had no room for all of it ──╯
 *
 * It works on the plan's partition (source, endpoint, operation), including what earlier plans left
 * in the queue, so the next harvest continues one that was interrupted. Other processes may work on
 * the partition at the same time; the harvest ends when no task of it is waiting or running.
 */
#ifndef PATRA_CMD_HARVEST_HARVEST_H
#define PATRA_CMD_HARVEST_HARVEST_H

#include "cli/command.h"
#include "cli/session.h"
#include "engine/plan/plan.h"
#include "port/store_cursor.h"
#include "port/store_pause.h"
#include "port/store_status.h"
#include "view/trouble.h"
#include "worker/display.h"

extern const struct command COMMAND_HARVEST;
extern const struct command COMMAND_BACKFILL;
extern const struct command COMMAND_UPDATE;
extern const struct command COMMAND_METRICS;
extern const struct command COMMAND_REPLAY;

enum harvest_end { /* why it ended */
                   HARVEST_DONE,
                   HARVEST_INTERRUPTED, /* by a signal */
                   HARVEST_STOPPED,     /* the source was stopped by a fatal error */
                   HARVEST_PAUSED,
                   HARVEST_WAITS,  /* no task may run for longer than --wait */
                   HARVEST_BUDGET, /* quota or budget ended before the window did */
};

/* ---- harvest_rate.c ---- */

/* Shows how many requests the rate gate of the partition allows. */
bool harvest_show_rate(struct session *session, struct arena *arena,
                       const struct task_partition *partition, int64_t now_us,
                       struct display *display, struct error *err) MUST_CHECK;

/* ---- harvest_summary.c ---- */

struct harvest_summary {
    enum harvest_end end;
    struct str source;
    const struct plan_result *first; /* of the first trigger */
    int64_t plans;
    struct rederive_result rederived; /* by all its plans; not the fields */
    struct partition_count count;     /* tasks that are left, or ended since the start */
    struct progress_view view;        /* what this process did */
    struct trouble_list troubles;
    bool takes_signals; /* looked up where there are holes */
    bool has_cursor;
    struct cursor before; /* id 0: there was none */
    struct cursor after;
    enum budget_stop stop;  /* BUDGET: which */
    struct pause pause;     /* STOPPED, PAUSED */
    int64_t waits_until_us; /* WAITS */
};

enum exit_code harvest_exit(const struct harvest_summary *summary);

/* Why the plan has no slices. */
struct str harvest_idle_text(const struct plan_result *result);

void harvest_print(const struct harvest_summary *summary, struct arena *arena, FILE *out);
bool harvest_print_json(const struct harvest_summary *summary, int64_t now_us, struct arena *arena,
                        FILE *out, struct error *err) MUST_CHECK;

#endif
