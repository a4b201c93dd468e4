#include "engine/fetch/walk.h"

#include <inttypes.h>

static const char *const names[] = {
    [FETCH_COMPLETE] = "complete",   [FETCH_SHORTFALL] = "shortfall", [FETCH_DRIFT] = "drift",
    [FETCH_CUT_SHORT] = "cut-short", [FETCH_RESLICE] = "reslice",
};

const char *fetch_verdict_name(enum fetch_verdict_kind kind)
{
    return names[kind];
}

/* ---- reasons ---- */

static struct str reason_of(struct fetch *fetch, const struct fetch_verdict *verdict)
{
    struct buf out;

    buf_init(&out, &fetch->own, 1024);
    if (fetch->list == NULL)
        buf_printf(&out,
                   fetch->queue.count == 1 ? "%zu id was asked for" : "%zu ids were asked for",
                   fetch->queue.count);
    else if (verdict->has_total)
        buf_printf(&out, "%" PRId64 " of %" PRId64 " came", verdict->distinct, verdict->total);
    else
        buf_printf(&out, "%" PRId64 " came, the source tells no total", verdict->distinct);
    if (verdict->end != PAGE_WHY_NONE)
        buf_printf(&out, "; end: %s", page_why_name(verdict->end));
    if (verdict->sweeps > 1)
        buf_printf(&out, "; %d sweeps", verdict->sweeps);
    if (verdict->restarts > 0)
        buf_printf(&out, "; %d restarts", verdict->restarts);
    if (verdict->lost_ids > 0)
        buf_printf(&out, "; %" PRId64 " id%s without a record", verdict->lost_ids,
                   verdict->lost_ids == 1 ? "" : "s");
    return buf_str(&out);
}

/* TIME: what lies before the rest has been read to the last record. */
static struct window finished_of(const struct fetch *fetch)
{
    const struct leg *leg = &fetch->legs[0];
    struct window own = fetch->order.slice->window;

    if (fetch->mode != WALK_PAGES || leg->rules.type != PAGINATION_TIME ||
        fetch->order.slice->dimension != SLICE_TIME ||
        id_range_is_valid(fetch->order.slice->part)) /* its parts keep the whole window */
        return (struct window){ 0, 0 };
    if (leg->rules.descending)
        own.from_us = leg->state.rest.to_us > own.from_us ? leg->state.rest.to_us : own.from_us;
    else
        own.to_us = leg->state.rest.from_us < own.to_us ? leg->state.rest.from_us : own.to_us;
    return window_is_valid(own) ? own : (struct window){ 0, 0 };
}

/* ---- ends ---- */

void walk_end(struct fetch *fetch, enum fetch_verdict_kind kind, struct str reason)
{
    const struct leg *leg = fetch->list;
    struct fetch_verdict *verdict = &fetch->verdict;

    *verdict = (struct fetch_verdict){ .kind = kind,
                                       .lost_ids = fetch->lost_missing + fetch->lost_failed,
                                       .sweeps = fetch->sweeps + 1,
                                       .restarts = fetch->restarts };
    if (leg != NULL) {
        const struct proof_result result = proof_judge(&leg->proof, leg->end);

        verdict->end = leg->end;
        verdict->has_total = leg->proof.has_total;
        verdict->total = leg->proof.repeats_are_ok ? leg->proof.total_first : leg->proof.total_last;
        verdict->distinct = leg->proof.distinct;
        verdict->missing = result.missing;
        verdict->is_proven = kind == FETCH_COMPLETE && result.is_proven;
    }
    verdict->reason = reason.len > 0 ? reason : reason_of(fetch, verdict);
    fetch->has_verdict = true;
}

void walk_reslice(struct fetch *fetch, enum reslice_reason reason, struct str text)
{
    walk_end(fetch, FETCH_RESLICE, text);
    fetch->verdict.reslice = reason;
    fetch->verdict.finished = finished_of(fetch);
}

const char *walk_budget_used(const struct fetch *fetch)
{
    const struct fetch_order *order = &fetch->order;

    if (order->requests_max > 0 && fetch->requests >= order->requests_max)
        return "requests";
    if (order->records_max > 0 && fetch->records >= order->records_max)
        return "records";
    if (order->duration_max_us > 0 &&
        clock_monotonic_us(fetch->parts.clock) - fetch->started_us >= order->duration_max_us)
        return "time";
    return NULL;
}

bool walk_is_refused_much(const struct fetch *fetch)
{
    return fetch->order.can_reslice && fetch->requests >= FETCH_REFUSED_OF_MIN &&
           fetch->throttled * 1000 > fetch->requests * FETCH_REFUSED_PERMILLE &&
           window_is_valid(finished_of(fetch));
}

static void judge_cut(struct fetch *fetch, const struct leg *leg)
{
    const bool may_bridge = leg->endpoint->page.bridge_to_time && leg->end == PAGE_CUT_PAGES;

    if (fetch->order.can_reslice && may_bridge)
        walk_reslice(fetch, RESLICE_TOO_DEEP, (struct str){ 0 });
    else if (fetch->order.can_reslice && leg->end == PAGE_CUT_CAP)
        walk_reslice(fetch, RESLICE_OVER_CAP, (struct str){ 0 });
    else
        walk_end(fetch, FETCH_CUT_SHORT, (struct str){ 0 });
}

void walk_judge(struct fetch *fetch)
{
    const struct leg *leg = fetch->list;
    struct proof_result result = { .verdict = PROOF_COMPLETE };

    if (leg != NULL)
        result = proof_judge(&leg->proof, leg->end);
    switch (result.verdict) {
    case PROOF_CUT:
        judge_cut(fetch, leg);
        return;
    case PROOF_SHORTFALL:
        walk_end(fetch, FETCH_SHORTFALL, (struct str){ 0 });
        return;
    case PROOF_DRIFT:
        walk_end(fetch, FETCH_DRIFT, (struct str){ 0 });
        return;
    case PROOF_COMPLETE:
        break;
    }
    walk_end(fetch, fetch->lost_failed > 0 ? FETCH_SHORTFALL : FETCH_COMPLETE, (struct str){ 0 });
}
