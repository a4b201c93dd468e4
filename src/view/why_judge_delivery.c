/* What is missing of a record behind its row in the store: the stream, and who reads it. */
#include <inttypes.h>

#include "base/instant.h"
#include "base/text.h"
#include "view/why_internal.h"

struct str why_span(struct arena *arena, int64_t span_us)
{
    struct buf text;

    buf_init(&text, arena, 64);
    text_span(&text, span_us > 0 ? span_us : 0);
    return buf_str(&text);
}

static bool judge_stream(struct view_why *why, struct arena *arena, struct error *err)
{
    struct why_finding finding = { .step = WHY_STREAM };

    if (why->is_sequenced)
        return true;
    if (why->has_sequencer) {
        finding.reason = STR("stream.waiting");
        finding.text = arena_printf(arena,
                                    "its event is not in the stream yet; the publisher %.*s is at "
                                    "work",
                                    STR_ARG(why->sequencer.owner));
        finding.command = STR("patra outbox status");
    } else {
        finding.reason = STR("stream.idle");
        finding.text = STR("its event is not in the stream, and no publisher runs");
        finding.command = STR("patra publish --once");
    }
    return why_find(why, arena, &finding, err);
}

/* ---- one subscription ---- */

static struct str name_of(const struct why_delivery *delivery)
{
    return delivery->subscription.name;
}

/* It has not come to the event, and does not go on by itself. */
static bool is_held(const struct why_delivery *delivery)
{
    return delivery->subscription.state != SUBSCRIPTION_ACTIVE &&
           (delivery->state == WHY_WAITING || delivery->state == WHY_NOT_PLACED ||
            delivery->state == WHY_PARKED);
}

static void describe_held(const struct why_delivery *delivery, struct arena *arena,
                          struct why_finding *finding)
{
    const bool is_paused = delivery->subscription.state == SUBSCRIPTION_PAUSED;

    finding->reason = is_paused ? STR("subscription.paused") : STR("subscription.stopped");
    finding->text = arena_printf(arena, "%.*s is %s: %.*s", STR_ARG(name_of(delivery)),
                                 is_paused ? "paused" : "stopped",
                                 STR_ARG(delivery->subscription.state_reason));
    finding->command = arena_printf(arena, "patra outbox resume %.*s", STR_ARG(name_of(delivery)));
}

static void describe_waiting(const struct why_delivery *delivery, struct arena *arena,
                             struct why_finding *finding)
{
    if (delivery->error.len > 0) {
        finding->reason = STR("subscription.error");
        finding->text = arena_printf(arena, "%.*s cannot go on: %.*s", STR_ARG(name_of(delivery)),
                                     STR_ARG(delivery->error));
        finding->command = arena_printf(arena, "patra bus test %.*s", STR_ARG(name_of(delivery)));
    } else if (delivery->readers > 0) {
        finding->reason = STR("subscription.behind");
        finding->text = arena_printf(arena, "%.*s is %" PRId64 " event%s before it and goes on",
                                     STR_ARG(name_of(delivery)), delivery->behind,
                                     delivery->behind == 1 ? "" : "s");
        finding->command = STR("patra outbox status");
    } else {
        finding->reason = STR("subscription.idle");
        finding->text = arena_printf(
            arena, "%.*s is %" PRId64 " event%s before it, and nobody reads it",
            STR_ARG(name_of(delivery)), delivery->behind, delivery->behind == 1 ? "" : "s");
        finding->command = STR("patra publish --once");
    }
}

static void describe_parked(const struct view_why *why, const struct why_delivery *delivery,
                            struct arena *arena, struct why_finding *finding)
{
    const struct trace_parked *parked = &delivery->parked;

    finding->reason = STR("subscription.parked");
    finding->text = arena_printf(arena,
                                 "%.*s could not deliver version %" PRId64 " in %" PRId64
                                 " tries, and later ones wait with it: %.*s",
                                 STR_ARG(name_of(delivery)), parked->head_version, parked->attempts,
                                 STR_ARG(parked->last_error));
    finding->command =
        parked->next_retry_us > why->now_us
            ? arena_printf(arena, "patra outbox retry %.*s %.*s", STR_ARG(name_of(delivery)),
                           STR_ARG(why_word(arena, why->key.provider_id)))
            : STR("patra publish --once");
}

static void describe_past(const struct why_delivery *delivery, struct arena *arena,
                          struct why_finding *finding)
{
    const struct str name = name_of(delivery);

    finding->command = arena_printf(arena, "patra outbox seek %.*s --to earliest", STR_ARG(name));
    if (delivery->state == WHY_DEAD) {
        finding->reason = STR("subscription.dead");
        finding->text =
            arena_printf(arena, "%.*s has given version %" PRId64 " up: %.*s", STR_ARG(name),
                         delivery->letter.version, STR_ARG(delivery->letter.reason));
    } else if (delivery->state == WHY_SKIPPED) {
        finding->reason = STR("subscription.skipped");
        finding->text =
            arena_printf(arena, "%.*s moved %.*s past it: %.*s", STR_ARG(delivery->seek.by),
                         STR_ARG(name), STR_ARG(delivery->seek.reason));
    } else {
        finding->reason = STR("subscription.earlier");
        finding->text =
            arena_printf(arena, "%.*s begins with later events (start: latest)", STR_ARG(name));
    }
}

static bool judge_delivery(struct view_why *why, const struct why_delivery *delivery,
                           struct arena *arena, struct error *err)
{
    struct why_finding finding = { .step = WHY_SUBSCRIPTION };

    if (is_held(delivery)) {
        describe_held(delivery, arena, &finding);
        return why_find(why, arena, &finding, err);
    }
    switch (delivery->state) {
    case WHY_DELIVERED:
    case WHY_NOT_PLACED:
    case WHY_FILTERED:
        return true;
    case WHY_WAITING:
        describe_waiting(delivery, arena, &finding);
        break;
    case WHY_PARKED:
        describe_parked(why, delivery, arena, &finding);
        break;
    case WHY_DEAD:
    case WHY_SKIPPED:
    case WHY_EARLIER:
        describe_past(delivery, arena, &finding);
        break;
    }
    return why_find(why, arena, &finding, err);
}

/* Last: it is what somebody wanted. */
static bool judge_filtered(struct view_why *why, const struct why_delivery *delivery,
                           struct arena *arena, struct error *err)
{
    struct why_finding finding = { .step = WHY_SUBSCRIPTION, .reason = STR(WHY_REASON_FILTERED) };

    if (delivery->state != WHY_FILTERED)
        return true;
    finding.text = arena_printf(arena, "%.*s does not take such events, by its settings",
                                STR_ARG(name_of(delivery)));
    finding.command = arena_printf(arena, "patra bus show %.*s", STR_ARG(name_of(delivery)));
    return why_find(why, arena, &finding, err);
}

bool why_judge_deliveries(struct view_why *why, struct arena *arena, struct error *err)
{
    if (!judge_stream(why, arena, err))
        return false;
    for (size_t i = 0; i < why->deliveries.count; i++) {
        if (!judge_delivery(why, &why->deliveries.items[i], arena, err))
            return false;
    }
    for (size_t i = 0; i < why->deliveries.count; i++) {
        if (!judge_filtered(why, &why->deliveries.items[i], arena, err))
            return false;
    }
    return true;
}
