/* The end of a walk: why it ended, and what all its pages and ids amount to. */
#include "engine/fetch/walk.h"

#include <inttypes.h>

const char *fetch_verdict_name(enum fetch_verdict_kind kind)
{
    static const char *const names[] = {
        [FETCH_COMPLETE] = "complete",   [FETCH_SHORTFALL] = "shortfall", [FETCH_DRIFT] = "drift",
        [FETCH_CUT_SHORT] = "cut-short", [FETCH_RESLICE] = "reslice",
    };

    return names[kind];
}

/* ---- reasons ---- */

static struct str reason_of(struct fetch *fetch, const struct fetch_verdict *verdict)
{
    const size_t id_count = fetch->ids.queue.count;
    struct buf out;

    buf_init(&out, &fetch->memory.own, 1024);
    if (fetch->list == NULL)
        buf_printf(&out, id_count == 1 ? "%zu id was requested" : "%zu ids were requested",
                   id_count);
    else if (verdict->has_total)
        buf_printf(&out, "%" PRId64 " of %" PRId64 " came", verdict->distinct, verdict->total);
    else
        buf_printf(&out, "%" PRId64 " came, the source gives no total", verdict->distinct);
    if (verdict->end != PAGE_REASON_NONE)
        buf_printf(&out, "; end: %s", page_reason_name(verdict->end));
    if (verdict->sweeps > 1)
        buf_printf(&out, "; %d sweeps", verdict->sweeps);
    if (verdict->restarts > 0)
        buf_printf(&out, "; %d restarts", verdict->restarts);
    if (verdict->lost_ids > 0)
        buf_printf(&out, "; %" PRId64 " id%s without a record", verdict->lost_ids,
                   verdict->lost_ids == 1 ? "" : "s");
    if (verdict->refused_ids > 0)
        buf_printf(&out, ", %" PRId64 " of them refused", verdict->refused_ids);
    if (id_work_is_unbelievable(fetch))
        buf_printf(&out,
                   "; the details have no record for %" PRId64 " of %zu listed ids, which is not "
                   "believed: see the details endpoint's request, response.items and response.id",
                   fetch->ids.lost_missing, id_count);
    return buf_str(&out);
}

/* TIME: what is before the rest was read to the last record. Not valid: nothing was. */
static struct window finished_of(const struct fetch *fetch)
{
    const struct phase *phase = &fetch->phases[0];
    const struct window rest = phase->state.rest;
    struct window finished = fetch->order.slice->window;

    if (fetch->mode != WALK_PAGES || phase->rules.type != PAGINATION_TIME ||
        fetch->order.slice->dimension != SLICE_TIME ||
        id_range_is_valid(fetch->order.slice->part)) /* its parts keep the whole window */
        return (struct window){ 0, 0 };
    if (phase->rules.descending && rest.to_us > finished.from_us)
        finished.from_us = rest.to_us;
    if (!phase->rules.descending && rest.from_us < finished.to_us)
        finished.to_us = rest.from_us;
    return window_is_valid(finished) ? finished : (struct window){ 0, 0 };
}

/* ---- ends ---- */

void walk_end(struct fetch *fetch, enum fetch_verdict_kind kind, struct str reason)
{
    const struct phase *phase = fetch->list;
    struct fetch_verdict *verdict = &fetch->verdict;

    *verdict = (struct fetch_verdict){ .kind = kind,
                                       .lost_ids = fetch->ids.lost_missing +
                                                   fetch->ids.lost_refused + fetch->ids.lost_failed,
                                       .refused_ids = fetch->ids.lost_refused,
                                       .sweeps = fetch->totals.sweeps + 1,
                                       .restarts = fetch->totals.restarts };
    if (phase != NULL) {
        const struct proof *proof = &phase->proof;
        const struct proof_result result = proof_judge(proof, phase->end);

        verdict->end = phase->end;
        verdict->has_total = proof->has_total;
        verdict->total = proof->rules.repeats_are_ok ? proof->total_first : proof->total_last;
        verdict->distinct = proof->distinct;
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

static void judge_cut(struct fetch *fetch, const struct phase *phase)
{
    const bool may_bridge = phase->endpoint->page.bridge_to_time && phase->end == PAGE_CUT_PAGES;

    if (fetch->order.can_reslice && may_bridge)
        walk_reslice(fetch, RESLICE_TOO_DEEP, (struct str){ 0 });
    else if (fetch->order.can_reslice && phase->end == PAGE_CUT_CAP)
        walk_reslice(fetch, RESLICE_OVER_CAP, (struct str){ 0 });
    else
        walk_end(fetch, FETCH_CUT_SHORT, (struct str){ 0 });
}

void walk_judge(struct fetch *fetch)
{
    const struct phase *phase = fetch->list;
    struct proof_result result = { .verdict = PROOF_COMPLETE };

    if (phase != NULL)
        result = proof_judge(&phase->proof, phase->end);
    switch (result.verdict) {
    case PROOF_CUT:
        judge_cut(fetch, phase);
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
    if (id_work_is_unbelievable(fetch)) {
        walk_end(fetch, FETCH_SHORTFALL, (struct str){ 0 });
        return;
    }
    walk_end(fetch, fetch->ids.lost_failed > 0 ? FETCH_SHORTFALL : FETCH_COMPLETE,
             (struct str){ 0 });
    fetch->verdict.failed_ids = fetch->ids.lost_failed;
}

/* ---- limits ---- */

/* The budget that is used up; NULL: none is. */
static const char *budget_used(const struct fetch *fetch)
{
    const struct fetch_order *order = &fetch->order;
    const struct walk_totals *totals = &fetch->totals;

    if (order->requests_max > 0 && totals->requests >= order->requests_max)
        return "requests";
    if (order->records_max > 0 && totals->records >= order->records_max)
        return "records";
    if (order->duration_max_us > 0 &&
        clock_monotonic_us(fetch->parts.clock) - totals->started_us >= order->duration_max_us)
        return "time";
    return NULL;
}

static bool is_throttled_much(const struct fetch *fetch)
{
    const struct walk_totals *totals = &fetch->totals;

    return fetch->order.can_reslice && totals->requests >= FETCH_REFUSED_OF_MIN &&
           totals->throttled * 1000 > totals->requests * FETCH_REFUSED_PERMILLE &&
           window_is_valid(finished_of(fetch));
}

bool walk_check_limits(struct fetch *fetch, struct error *err)
{
    const char *budget = budget_used(fetch);
    struct str reason;

    if (budget != NULL) {
        reason = arena_printf(&fetch->memory.own, "the budget of %s is used up", budget);
        if (reason.data == NULL)
            return arena_error(&fetch->memory.own, err);
        walk_end(fetch, FETCH_CUT_SHORT, reason);
    } else if (is_throttled_much(fetch))
        walk_reslice(fetch, RESLICE_TOO_MANY_429, STR("too many requests were refused (429)"));
    return true;
}

/* ---- stray ids ---- */

/* The first id of the page outside of the range. Ids that are not numbers say nothing: the source
 * may filter by other ids than those it shows. */
static bool find_stray(const struct fetch *fetch, const struct listing *listing,
                       struct id_range within, struct str *stray)
{
    const bool has_records = fetch->mode == WALK_PAGES;
    const size_t count = has_records ? listing->records.count : listing->hash_count;
    int64_t id;

    for (size_t i = 0; i < count; i++) {
        *stray = has_records ? listing->records.items[i].provider_id : listing->ids[i];
        if (str_to_i64(*stray, &id) && !id_range_has(within, id))
            return true;
    }
    return false;
}

static bool end_by_stray_ids(struct fetch *fetch, const struct listing *listing, bool is_over_cap)
{
    const struct spec_page *page = &fetch->spec->endpoint.page;
    const struct id_range part = fetch->order.slice->part;
    const struct id_range all = { page->id_min, page->id_max + 1 };
    char requested[ID_RANGE_TEXT_MAX];
    struct str stray, reason;

    if (id_range_is_valid(part) && find_stray(fetch, listing, part, &stray)) {
        id_range_text(part, requested);
        reason = arena_printf(&fetch->memory.own,
                              "%s was requested, and the source gave %.*s: it does not keep to "
                              "${slice.from} and ${slice.last}",
                              requested, STR_ARG(stray));
    } else if (is_over_cap && fetch->order.by_ids && find_stray(fetch, listing, all, &stray))
        reason = arena_printf(&fetch->memory.own,
                              "above the cap, and it cannot be cut by ids: %.*s is not between "
                              "page.id_min and page.id_max",
                              STR_ARG(stray));
    else
        return false;
    fetch->list->end = PAGE_CUT_CAP;
    walk_end(fetch, FETCH_CUT_SHORT, reason);
    return true;
}

bool walk_ends_by_stray_ids(struct fetch *fetch, const struct listing *listing)
{
    return end_by_stray_ids(fetch, listing, false);
}

/* ---- the source's cap ---- */

/* The first page of a slice shows whether the slice can be walked to its end. */
static bool is_over_cap(const struct fetch *fetch, const struct listing *listing)
{
    const struct phase *phase = fetch->list;

    return phase == &fetch->phases[0] && phase->state.number == 0 && fetch->order.can_reslice &&
           listing->has_total &&
           page_is_over_cap(phase->rules.cap > 0 ? &phase->rules : &fetch->phases[1].rules,
                            listing->total);
}

bool walk_ends_over_cap(struct fetch *fetch, const struct listing *listing)
{
    if (!is_over_cap(fetch, listing))
        return false;
    fetch->list->proof.has_total = true;
    fetch->list->proof.total_last = listing->total;
    if (!end_by_stray_ids(fetch, listing, true))
        walk_reslice(fetch, RESLICE_OVER_CAP, (struct str){ 0 });
    return true;
}
