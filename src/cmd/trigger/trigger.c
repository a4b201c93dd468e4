/* patra trigger: plans an operation of a source. */
#include "cmd/trigger/trigger.h"

#include "cli/output.h"
#include "cmd/trigger/trigger_request.h"
#include "engine/housekeeping/housekeeping.h"

enum { SLICES_SHOWN = 20, SLICES_SHOWN_MAX = 100000, RESLICES_MAX = 1000 };

static bool fire(const struct invocation *invocation, struct session *session,
                 struct plan_request *request, int64_t limit, struct error *err)
{
    struct housekeeping_request first = { .owner = STR("patra trigger"),
                                          .tickets_max = RESLICES_MAX,
                                          .specs = session->specs };
    const bool is_dry = invocation_flag(invocation, "dry-run");
    struct housekeeping_result done;
    struct trigger_preview preview;
    struct trigger_shown shown;
    struct output output;
    struct plan_result result = { 0 };
    bool ok;

    if (is_dry) {
        trigger_preview_init(&preview, &session->arena, limit);
        ok = plan_preview(session->store, &session->arena, request, &preview.viewer, &result, err);
    } else {
        /* First re-slice what executors asked for; else it would be planned as it was. */
        if (!session_time(session, &request->now_us, err))
            return false;
        first.now_us = request->now_us;
        ok = housekeeping_run(session->store, &first, &done, err) &&
             plan_trigger(session->store, &session->arena, request, &result, err);
    }
    if (!ok) {
        trigger_print_faults(invocation, session, &result);
        return false;
    }
    shown = (struct trigger_shown){ .view = { request, &result, is_dry ? &preview : NULL },
                                    .arena = &session->arena,
                                    .out = invocation->out };
    if (is_dry && preview.failed)
        return arena_error(&session->arena, err);
    if (!invocation_flag(invocation, "json"))
        return trigger_print(&shown, err);
    view_trigger_write(output_begin(&output, &session->arena), &shown.view);
    return output_end(&output, invocation->out, err);
}

enum { SCHEDULER_BYTES_MAX = 200 };

static bool read_name(const struct invocation *invocation, const char *option, struct str *name,
                      struct error *err)
{
    *name = str_of(invocation_value(invocation, option));
    return name->len <= SCHEDULER_BYTES_MAX ||
           command_misused(err, "--%s: longer than %d bytes", option, SCHEDULER_BYTES_MAX);
}

/* Where another scheduler fires the trigger, its names are kept with the plan. */
static bool read_scheduler(const struct invocation *invocation, struct plan_request *plan,
                           struct error *err)
{
    return read_name(invocation, "scheduler", &plan->scheduler, err) &&
           read_name(invocation, "job-id", &plan->job_id, err) &&
           read_name(invocation, "log-id", &plan->log_id, err);
}

static bool trigger(const struct invocation *invocation, struct session *session,
                    enum exit_code *code, struct error *err)
{
    const struct str operation =
        invocation->operand_count > 1 ? str_of(invocation->operands[1]) : STR("harvest");
    struct trigger_request request = { 0 };
    int64_t limit;
    bool ok;

    ok = trigger_request_read(&request, invocation, session, operation, err) &&
         read_scheduler(invocation, &request.plan, err) &&
         invocation_number(invocation, "limit",
                           (struct option_range){ 0, SLICES_SHOWN_MAX, SLICES_SHOWN }, &limit,
                           err) &&
         fire(invocation, session, &request.plan, limit, err);
    trigger_request_close(&request);
    return ok || trigger_waits(invocation, err, code);
}

static enum exit_code cmd_trigger(const struct invocation *invocation)
{
    return session_run(invocation, trigger);
}

const struct command COMMAND_TRIGGER = {
    .name = "trigger",
    .summary = "plan an operation of a source",
    .operands = "SOURCE [OPERATION]",
    .operands_min = 1,
    .operands_max = 2,
    .description =
        "Makes a plan and queues its tasks, which executors then run. OPERATION is harvest (the\n"
        "default), backfill, update, metrics, replay, or the name of an operation in the\n"
        "source's file. What is covered or under way is not planned again, so triggering twice\n"
        "is harmless. With --dry-run nothing is written; it shows the window, the reason for\n"
        "each of its bounds, and the slices. See docs/planning.md.",
    .options = { TRIGGER_WINDOW_OPTIONS,
                 TRIGGER_CAMPAIGN_OPTION("backfill, replay: start"),
                 TRIGGER_IDS_OPTIONS("update, metrics: only"),
                 TRIGGER_SET_OPTION,
                 { "scheduler", "NAME",
                   "The scheduler that fires this (patra); kept with the plan." },
                 { "job-id", "ID", "That scheduler's name for the job." },
                 { "log-id", "ID", "That scheduler's name for this run of the job." },
                 { "dry-run", NULL, "Write nothing; show the window and its slices." },
                 { "limit", "N", "How many slices a dry run shows, 0 to 100000 (20)." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_trigger,
};
