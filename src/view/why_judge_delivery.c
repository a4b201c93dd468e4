/* What is missing of a record behind its row in the store: the stream, and who reads it. */
#include <inttypes.h>

#include "base/instant.h"
#include "base/text.h"
#include "view/why_internal.h"

/* A rebuild saves how far it is with every page. */
#define REBUILD_ALIVE_US (2 * US_PER_MINUTE)

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

static bool is_projection(const struct why_delivery *delivery)
{
    return delivery->subscription.kind == SUBSCRIPTION_PROJECTION;
}

/* What reads the subscription to its end. */
static struct str read_command(const struct why_delivery *delivery, struct arena *arena)
{
    return is_projection(delivery)
               ? arena_printf(arena, "patra consume %.*s --once", STR_ARG(name_of(delivery)))
               : STR("patra publish --once");
}

static void describe_waiting(const struct why_delivery *delivery, struct arena *arena,
                             struct why_finding *finding)
{
    if (delivery->error.len > 0) {
        finding->reason = STR("subscription.error");
        finding->text = arena_printf(arena, "%.*s cannot go on: %.*s", STR_ARG(name_of(delivery)),
                                     STR_ARG(delivery->error));
        finding->command = arena_printf(
            arena, is_projection(delivery) ? "patra projection show %.*s" : "patra bus test %.*s",
            STR_ARG(name_of(delivery)));
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
        finding->command = read_command(delivery, arena);
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
            : read_command(delivery, arena);
}

/* Only its lane is moved, to just before the event. */
static struct str reset_command(const struct view_why *why, const struct why_delivery *delivery,
                                struct arena *arena)
{
    const struct trace_event *event = why_newest_event(why);

    return arena_printf(arena,
                        "patra offset reset %.*s --lane %" PRId64 " --to %" PRId64
                        " --reason 'patra why' --yes",
                        STR_ARG(name_of(delivery)), event->event.lane, event->pos - 1);
}

static void describe_past(const struct view_why *why, const struct why_delivery *delivery,
                          struct arena *arena, struct why_finding *finding)
{
    const struct str name = name_of(delivery);

    finding->command = delivery->state == WHY_DEAD
                           ? arena_printf(arena, "patra outbox redrive %.*s %.*s", STR_ARG(name),
                                          STR_ARG(why_word(arena, why->key.provider_id)))
                           : reset_command(why, delivery, arena);
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
    case WHY_UNKNOWN:
        finding.reason = STR("projection.unreachable");
        finding.step = WHY_PROJECTION;
        finding.text = arena_printf(arena, "the database of %.*s is out of reach: %.*s",
                                    STR_ARG(name_of(delivery)), STR_ARG(delivery->unreachable));
        finding.command =
            arena_printf(arena, "patra projection show %.*s", STR_ARG(name_of(delivery)));
        break;
    case WHY_WAITING:
        describe_waiting(delivery, arena, &finding);
        break;
    case WHY_PARKED:
        describe_parked(why, delivery, arena, &finding);
        break;
    case WHY_DEAD:
    case WHY_SKIPPED:
    case WHY_EARLIER:
        describe_past(why, delivery, arena, &finding);
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
    finding.command = arena_printf(
        arena, is_projection(delivery) ? "patra projection show %.*s" : "patra bus show %.*s",
        STR_ARG(name_of(delivery)));
    return why_find(why, arena, &finding, err);
}

/* ---- the tables of a projection ---- */

/* The tables are about to be replaced: mending a row of them would be for nothing. */
static void describe_rebuilding(const struct view_why *why, const struct why_delivery *delivery,
                                struct arena *arena, struct why_finding *finding)
{
    const bool is_alive = why->now_us - delivery->rebuilt_us < REBUILD_ALIVE_US;

    finding->reason = is_alive ? STR("projection.rebuilding") : STR("projection.rebuild_stopped");
    finding->text = arena_printf(
        arena, "%.*s; a rebuild of %.*s %s, and its tables will take the place of these",
        STR_ARG(finding->text), STR_ARG(name_of(delivery)),
        is_alive ? "is running" : "was stopped before its end: it continues where it was");
    finding->command = arena_printf(
        arena, is_alive ? "patra projection show %.*s" : "patra projection rebuild %.*s",
        STR_ARG(name_of(delivery)));
}

/* A row that is not as it should be although its event was applied. */
static bool judge_row(struct view_why *why, const struct why_delivery *delivery,
                      const struct why_row *row, struct arena *arena, struct error *err)
{
    struct why_finding finding = { .step = WHY_PROJECTION };

    if (row->state == WHY_ROW_ABSENT) {
        finding.reason = STR("projection.absent");
        finding.text = arena_printf(arena, "%.*s has no row of it, although its event was applied",
                                    STR_ARG(row->table));
    } else if (row->state == WHY_ROW_OLDER) {
        finding.reason = STR("projection.older");
        finding.text = arena_printf(arena,
                                    "%.*s has version %" PRId64 " of it, although that of version "
                                    "%" PRId64 " was applied",
                                    STR_ARG(row->table), row->version, why->record.version);
    } else if (row->state == WHY_ROW_REVIVED) {
        finding.reason = STR("projection.revived");
        finding.text = arena_printf(arena, "%.*s has a row of it, although it is deleted",
                                    STR_ARG(row->table));
    } else {
        return true;
    }
    if (delivery->is_rebuilding)
        describe_rebuilding(why, delivery, arena, &finding);
    else
        finding.command =
            arena_printf(arena, "patra audit %.*s --repair", STR_ARG(name_of(delivery)));
    return why_find(why, arena, &finding, err);
}

static bool judge_rows(struct view_why *why, const struct why_delivery *delivery,
                       struct arena *arena, struct error *err)
{
    for (size_t i = 0; delivery->state == WHY_DELIVERED && i < delivery->rows.count; i++) {
        if (!judge_row(why, delivery, &delivery->rows.items[i], arena, err))
            return false;
    }
    return true;
}

static bool judge_left_out(struct view_why *why, const struct why_delivery *delivery,
                           struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < delivery->rows.count; i++) {
        const struct why_finding finding = {
            .step = WHY_PROJECTION,
            .reason = STR(WHY_REASON_LEFT_OUT),
            .text = arena_printf(arena, "a filter of %.*s leaves it out",
                                 STR_ARG(delivery->rows.items[i].table)),
            .command =
                arena_printf(arena, "patra projection show %.*s", STR_ARG(name_of(delivery))),
        };

        if (delivery->rows.items[i].state == WHY_ROW_LEFT_OUT &&
            !why_find(why, arena, &finding, err))
            return false;
    }
    return true;
}

bool why_judge_deliveries(struct view_why *why, struct arena *arena, struct error *err)
{
    const struct why_delivery *items = why->deliveries.items;
    bool ok = judge_stream(why, arena, err);

    for (size_t i = 0; i < why->deliveries.count && ok; i++)
        ok = judge_delivery(why, &items[i], arena, err);
    for (size_t i = 0; i < why->deliveries.count && ok; i++)
        ok = judge_rows(why, &items[i], arena, err);
    for (size_t i = 0; i < why->deliveries.count && ok; i++)
        ok = judge_filtered(why, &items[i], arena, err) &&
             judge_left_out(why, &items[i], arena, err);
    return ok;
}
