/* patra outbox prune. */
#include <inttypes.h>

#include "cli/output.h"
#include "cli/session.h"
#include "cmd/outbox.h"
#include "cmd/publish.h"
#include "port/store_prune.h"
#include "port/store_rate.h"

struct pruned {
    int64_t events; /* removed, or would be */
    struct prune_held held;
    bool is_trial;
};

static bool prune_all(struct session *session, int64_t before_us, int64_t *events,
                      struct error *err)
{
    struct arena arena;
    int64_t removed;
    bool ok;

    arena_init(&arena, session->arena.limit);
    do {
        arena_reset(&arena);
        ok = store_prune_run(session->store, &arena, before_us, &removed, err);
        *events += removed;
    } while (ok && removed > 0);
    arena_release(&arena);
    return ok;
}

static bool print_pruned(struct session *session, const struct pruned *pruned, FILE *out,
                         struct error *err)
{
    struct output output;
    struct json_writer *w = output_begin(&output, &session->arena);

    json_write_object(w);
    json_write_member_i64(w, STR("events"), pruned->events);
    json_write_member_bool(w, STR("dryRun"), pruned->is_trial);
    json_write_member_i64(w, STR("held"), pruned->held.events);
    if (pruned->held.subscription.len > 0) {
        json_write_member_str(w, STR("slowest"), pruned->held.subscription);
        json_write_member_i64(w, STR("behind"), pruned->held.behind);
    }
    json_write_member_i64(w, STR("parkedKeys"), pruned->held.parked);
    json_write_end(w);
    return output_end(&output, out, err);
}

static void say_pruned(const struct pruned *pruned, FILE *out)
{
    const struct prune_held *held = &pruned->held;

    fprintf(out, "%" PRId64 " events %s\n", pruned->events,
            pruned->is_trial ? "could be removed" : "removed");
    if (held->events == 0)
        return;
    fprintf(out, "%" PRId64 " older ones are kept", held->events);
    if (held->subscription.len > 0 && held->behind > 0)
        fprintf(out, "; subscription %.*s is %" PRId64 " events behind",
                STR_ARG(held->subscription), held->behind);
    if (held->parked > 0)
        fprintf(out, "; %" PRId64 " keys are parked", held->parked);
    fprintf(out, "\n");
}

static bool prune(const struct invocation *invocation, struct session *session,
                  enum exit_code *code, struct error *err)
{
    struct pruned pruned = { .is_trial = invocation_flag(invocation, "dry-run") };
    int64_t keep_us, now_us;

    (void)code;
    if (!publish_keep(invocation, &keep_us, err) ||
        !store_clock(session->store, clock_now_us(&session->clock), &now_us, err))
        return false;
    if (keep_us == 0)
        return command_misused(err, "--keep: events that are kept forever are not removed");
    if (!(pruned.is_trial ? store_prune_count(session->store, now_us - keep_us, &pruned.events, err)
                          : prune_all(session, now_us - keep_us, &pruned.events, err)) ||
        !store_prune_held(session->store, &session->arena, now_us - keep_us, &pruned.held, err))
        return false;
    if (pruned.is_trial)
        pruned.held.events -= pruned.events;
    if (invocation_flag(invocation, "json"))
        return print_pruned(session, &pruned, invocation->out, err);
    say_pruned(&pruned, invocation->out);
    return true;
}

static enum exit_code cmd_prune(const struct invocation *invocation)
{
    return session_run(invocation, prune);
}

const struct command OUTBOX_PRUNE = {
    .name = "prune",
    .summary = "remove old events that everybody has read",
    .operands_max = 0,
    .description =
        "Removes events from the outbox and the stream that entered it before --keep ago and\n"
        "that every subscription has read, also one that is paused; neither events of parked\n"
        "keys nor what is still open. The publisher does the same all the time. Records stay.\n"
        "A token of patra record export that is older than what was removed is refused.",
    .options = { PUBLISH_KEEP_OPTION,
                 { "dry-run", NULL, "Only say how many could be removed." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_prune,
};
