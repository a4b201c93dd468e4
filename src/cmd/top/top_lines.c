/* Status and outbox as lines. */
#include "cmd/top/top_lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/list.h"
#include "base/text.h"
#include "core/codes.h"

enum { LINE_MAX = 512, GATE_MAX = 30 };

struct making {
    struct arena *arena;
    struct top_lines *lines;
    int64_t now_us;
};

static void add(struct making *m, enum screen_style style, const char *format, ...)
    PRINTF_LIKE(3, 4);

static void add(struct making *m, enum screen_style style, const char *format, ...)
{
    struct screen_line *line = LIST_ADD(m->arena, m->lines);
    char text[LINE_MAX];
    va_list args;
    int len;

    if (line == NULL)
        return; /* the arena remembers */
    va_start(args, format);
    len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    len = len < LINE_MAX ? len : LINE_MAX - 1;
    *line = (struct screen_line){ style, arena_copy(m->arena, (struct str){ text, (size_t)len }) };
}

static struct str span(struct making *m, int64_t us)
{
    return text_span_in(m->arena, us > 0 ? us : 0);
}

/* ---- the head ---- */

struct sums {
    int64_t queued;
    int64_t running;
};

static struct sums sums_of(const struct view_source_status *source)
{
    struct sums sums = { 0 };

    for (size_t i = 0; i < source->counts.count; i++) {
        sums.queued += source->counts.items[i].queued;
        sums.running += source->counts.items[i].running;
    }
    return sums;
}

static void add_head(struct making *m, const struct view_status *status)
{
    struct sums all = { 0 };
    struct buf clock;

    for (size_t i = 0; i < status->sources.count; i++) {
        const struct sums sums = sums_of(&status->sources.items[i]);

        all.queued += sums.queued;
        all.running += sums.running;
    }
    buf_init(&clock, m->arena, 32);
    text_clock(&clock, status->now_us);
    add(m, SCREEN_TITLE,
        "patra  %.*s  %zu sources  %" PRId64 " tasks wait, %" PRId64 " run   q ends, j k scroll",
        STR_ARG(buf_str(&clock)), status->sources.count, all.queued, all.running);
}

static void add_needs(struct making *m, const struct view_status *status)
{
    if (status->needs.count == 0)
        add(m, SCREEN_GOOD, "Nothing needs a person.");
    else
        add(m, SCREEN_BAD, "Needs a person: %zu", status->needs.count);
    for (size_t i = 0; i < status->needs.count; i++)
        add(m, SCREEN_BAD, "  %.*s", STR_ARG(status->needs.items[i].text));
}

/* ---- sources ---- */

/* The furthest behind of its harvests, by the calendar; -1: it has none. */
static int64_t lag_us(const struct view_source_status *source, int64_t now_us)
{
    int64_t most_us = -1;

    for (size_t i = 0; i < source->cursors.count; i++) {
        const struct view_cursor *of = &source->cursors.items[i];
        const int64_t at_us = of->cursor.value.instant_us;

        if (!of->is_former && of->cursor.name.operation == OPERATION_HARVEST &&
            of->cursor.value.type == CURSOR_TIME && now_us - at_us > most_us)
            most_us = now_us - at_us;
    }
    return most_us;
}

static struct str next_tick(struct making *m, const struct view_source_status *source)
{
    int64_t next_us = INT64_MAX;

    for (size_t i = 0; i < source->schedules.count; i++) {
        const struct schedule_view *s = &source->schedules.items[i];

        if (s->is_due)
            return STR("due");
        if (s->has_next && s->next_us < next_us)
            next_us = s->next_us;
    }
    return next_us < INT64_MAX ? span(m, next_us - m->now_us) : STR("-");
}

static struct str state_of(const struct view_source_status *source)
{
    for (size_t i = 0; i < source->pauses.count; i++) {
        if (source->pauses.items[i].kind == PAUSE_STOPPED)
            return STR("STOPPED");
    }
    return source->pauses.count > 0 ? STR("paused") : source->is_disabled ? STR("off") : STR("");
}

static void add_source(struct making *m, const struct view_source_status *source)
{
    const int64_t behind_us = lag_us(source, m->now_us);
    const struct sums sums = sums_of(source);
    const struct str state = state_of(source);
    const enum screen_style style = str_eq(state, STR("STOPPED"))  ? SCREEN_BAD
                                    : source->troubles.missing > 0 ? SCREEN_WARN
                                                                   : SCREEN_PLAIN;

    add(m, style,
        "  %-16.*s %9" PRId64 " %7" PRId64 " %5" PRId64 " %7" PRId64 "  %-9.*s %-9.*s %.*s",
        STR_ARG(source->code), source->records, sums.queued, sums.running, source->troubles.missing,
        STR_ARG(behind_us < 0 ? STR("-") : span(m, behind_us)), STR_ARG(next_tick(m, source)),
        STR_ARG(state));
}

static void add_sources(struct making *m, const struct view_status *status)
{
    add(m, SCREEN_TITLE, "Sources            records   queue   run missing  behind    next      ");
    for (size_t i = 0; i < status->sources.count; i++)
        add_source(m, &status->sources.items[i]);
}

/* ---- runs ---- */

static void add_running(struct making *m, const struct view_status *status)
{
    add(m, SCREEN_TITLE, "Running            operation  task      for       last batch");
    for (size_t i = 0; i < status->sources.count; i++) {
        const struct view_running_list *running = &status->sources.items[i].running;

        for (size_t k = 0; k < running->count; k++) {
            const struct view_running *one = &running->items[k];
            const struct str operation = code_of(&OPERATION_CODES, (int)one->task.operation);

            add(m, SCREEN_PLAIN, "  %-16.*s %-10.*s %-9" PRId64 " %-9.*s %.*s",
                STR_ARG(one->task.source), STR_ARG(operation), one->task.id,
                STR_ARG(one->started_us > 0 ? span(m, m->now_us - one->started_us) : STR("-")),
                STR_ARG(one->batch_us > 0 ? span(m, m->now_us - one->batch_us) : STR("-")));
        }
    }
}

/* ---- gates ---- */

static void add_gate(struct making *m, const struct view_gate *gate)
{
    const struct view_gate_block block = view_gate_block(gate, m->now_us);
    char rate[32] = "-"; /* no request was made yet */

    if (gate->view.is_known)
        (void)snprintf(rate, sizeof(rate), "%.2f", (double)gate->view.rate / (double)MICRO);
    add(m, block.is_blocked ? SCREEN_WARN : SCREEN_PLAIN, "  %-30.*s %7s  %8.2f  %s%.*s",
        STR_ARG(str_slice(gate->of, 0, GATE_MAX)), rate, view_gate_limit(gate).per_second,
        block.is_blocked ? "nothing for " : "",
        STR_ARG(block.is_blocked ? span(m, block.until_us - m->now_us) : STR("")));
}

static void add_gates(struct making *m, const struct view_status *status)
{
    add(m, SCREEN_TITLE, "Gates                             rate/s   allowed  ");
    for (size_t i = 0; i < status->gates.count; i++) {
        if (status->gates.items[i].is_configured)
            add_gate(m, &status->gates.items[i]);
    }
}

/* ---- events ---- */

static void add_events(struct making *m, const struct view_outbox *outbox)
{
    add(m, SCREEN_TITLE, "Events             waiting  for       parked  dead  state");
    add(m, outbox->is_leased ? SCREEN_PLAIN : SCREEN_WARN,
        "  %-16s %8" PRId64 "  %-9.*s %6s %5s  %s", "the stream", outbox->stream.waiting,
        STR_ARG(outbox->stream.has_oldest ? span(m, outbox->lag_us) : STR("-")), "", "",
        outbox->is_leased ? "published" : "nobody publishes");
    for (size_t i = 0; i < outbox->subscriptions.count; i++) {
        const struct view_subscription *s = &outbox->subscriptions.items[i];
        const bool is_active = s->subscription.state == SUBSCRIPTION_ACTIVE;
        const struct str state = code_of(&SUBSCRIPTION_STATE_CODES, (int)s->subscription.state);

        add(m,
            s->trouble != NULL || !is_active || s->dead > 0 ? SCREEN_BAD
            : s->parked > 0                                 ? SCREEN_WARN
                                                            : SCREEN_PLAIN,
            "  %-16.*s %8" PRId64 "  %-9.*s %6" PRId64 " %5" PRId64 "  %.*s%s",
            STR_ARG(s->subscription.name), s->waiting,
            STR_ARG(s->waiting > 0 ? span(m, s->lag_us) : STR("-")), s->parked, s->dead,
            STR_ARG(state), s->trouble != NULL ? ", cannot go on" : "");
    }
}

bool top_lines_make(struct arena *arena, const struct view_status *status,
                    const struct view_outbox *outbox, struct top_lines *lines, struct error *err)
{
    struct making making = { arena, lines, status->now_us };

    *lines = (struct top_lines){ 0 };
    add_head(&making, status);
    add_needs(&making, status);
    add_sources(&making, status);
    add_running(&making, status);
    add_gates(&making, status);
    add_events(&making, outbox);
    return !arena->failed || arena_error(arena, err);
}
