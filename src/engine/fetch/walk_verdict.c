/* The end of a walk: why it ended, and what all its pages and ids amount to. */
#include "engine/fetch/walk.h"

#include <inttypes.h>
#include <string.h>

#include "base/instant.h"

const char *fetch_verdict_name(enum fetch_verdict_kind kind)
{
    static const char *const names[] = {
        [FETCH_COMPLETE] = "complete", [FETCH_SHORTFALL] = "shortfall",
        [FETCH_DRIFT] = "drift",       [FETCH_CUT_SHORT] = "cut-short",
        [FETCH_RESLICE] = "reslice",   [FETCH_OVER_BUDGET] = "over-budget",
    };

    return names[kind];
}

const char *fetch_doubt_name(enum fetch_doubt doubt)
{
    static const char *const names[] = {
        [FETCH_DOUBT_NEXT] = "lost-next",          [FETCH_DOUBT_TOTAL] = "wrong-total",
        [FETCH_DOUBT_REPEATS] = "repeats",         [FETCH_DOUBT_INSTANT] = "one-instant",
        [FETCH_DOUBT_ELEMENTS] = "other-elements", [FETCH_DOUBT_CHILDREN] = "no-children",
        [FETCH_DOUBT_LATEST] = "wrong-latest",     [FETCH_DOUBT_SAME_TOKEN] = "same-token",
    };

    return names[doubt];
}

/* ---- reasons ---- */

/* What is wrong with the source's pages, and what helps. */
static const char *explain(enum page_reason end)
{
    switch (end) {
    case PAGE_CUT_LOOP:
        return " (the source repeats its pages or its next token: see page.next, page.same_token "
               "and page.replayable)";
    case PAGE_CUT_STUCK:
        return " (an instant has more records than a page, or no record has a date: raise "
               "page.size, or use another page.type)";
    case PAGE_CUT_VOID:
        return " (empty pages where there should be records: see page.next, response.items and "
               "response.has_more)";
    case PAGE_CUT_LAST:
        return " (the source has more pages than page.max_pages: raise it)";
    case PAGE_CUT_ORDER:
        return " (the list is not sorted by response.updated_at as page.type time requires, or a "
               "page of one date outside of the window does not show that it is: sort it in the "
               "request, raise page.size_max, or use another page.type)";
    case PAGE_CUT_NO_FORWARD:
        return " (a page is not in ascending order of response.sequence, or has no id above the "
               "one requested: sort the list in the request, and send ${window.after} or "
               "${window.next})";
    default:
        return "";
    }
}

static void add_doubts(struct buf *out, const struct fetch_verdict *verdict)
{
    static const char *const texts[] = {
        [FETCH_DOUBT_NEXT] = "the last page is as long as any other and has no next, or the one "
                             "that was sent: a next may have been lost",
        [FETCH_DOUBT_TOTAL] = "the total is wrong",
        [FETCH_DOUBT_REPEATS] = "ids that come twice on a page make up the total",
        [FETCH_DOUBT_INSTANT] = "the last page is of one instant, which may have more records",
        [FETCH_DOUBT_ELEMENTS] = "the file has elements without a record",
        [FETCH_DOUBT_CHILDREN] = "that none has may be a fault of the request",
        [FETCH_DOUBT_LATEST] = "response.latest is not the highest id of the source: higher ones "
                               "came, or it fell",
        [FETCH_DOUBT_SAME_TOKEN] = "changes came with the token that was sent, so that what comes "
                                   "after them may be lost, or the next harvest begins at the same "
                                   "place",
    };

    for (size_t i = 0; i < FETCH_DOUBTS; i++) {
        if (verdict->doubts[i])
            buf_printf(out, "; %s", texts[i]);
    }
}

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
    buf_add(&out, str_of(explain(verdict->end)));
    if (verdict->sweeps > 1)
        buf_printf(&out, "; %d sweeps", verdict->sweeps);
    if (verdict->restarts > 0)
        buf_printf(&out, "; %d restarts", verdict->restarts);
    if (fetch->ids.childless > 0)
        buf_printf(&out, "; %" PRId64 " of them %s no children", fetch->ids.childless,
                   fetch->ids.childless == 1 ? "has" : "have");
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
    add_doubts(&out, verdict);
    return buf_str(&out);
}

/* Where the part of a sorted list that was read ends. TIME: where the rest begins; otherwise at the
 * last date, of which there may be more. False: unknown. */
static bool read_until(const struct phase *phase, int64_t *edge_us)
{
    const struct page_state *state = &phase->state;
    const int64_t step_us = granularity_us(phase->rules.granularity);

    if (state->is_unsorted || phase->end == PAGE_CUT_ORDER)
        return false;
    if (state->has_hole && state->clamp > 0)
        return false; /* only the pages before the hole show that the source cuts off there */
    if (phase->rules.type == PAGINATION_TIME) {
        *edge_us = phase->rules.descending ? state->rest.to_us : state->rest.from_us;
        if (state->has_hole)
            *edge_us = state->hole_us;
        return true;
    }
    *edge_us = instant_floor(state->edge_us, step_us);
    if (phase->rules.descending)
        *edge_us += step_us;
    return phase->rules.is_sorted && state->has_edge;
}

/* The part of the slice that was read to the last record. Not valid: nothing was, or all. */
static struct window finished_of(const struct fetch *fetch)
{
    const struct phase *phase = &fetch->phases[0];
    const struct window own = fetch->order.slice->window;
    struct window finished = own;
    int64_t edge_us;

    if (fetch->mode != WALK_PAGES || fetch->order.slice->dimension != SLICE_TIME ||
        id_range_is_valid(fetch->order.slice->part) || /* its parts keep the whole window */
        !read_until(phase, &edge_us) || edge_us <= own.from_us || edge_us >= own.to_us)
        return (struct window){ 0, 0 };
    if (phase->rules.descending)
        finished.from_us = edge_us;
    else
        finished.to_us = edge_us;
    return finished;
}

/* ---- ends ---- */

static void note_proof(struct fetch_verdict *verdict, const struct proof_result *result)
{
    verdict->is_proven = result->is_proven;
    verdict->doubts[FETCH_DOUBT_NEXT] = verdict->end == PAGE_END_BARE && !result->is_proven;
    verdict->doubts[FETCH_DOUBT_TOTAL] = result->is_doubted;
    verdict->doubts[FETCH_DOUBT_REPEATS] = result->is_habit;
    verdict->doubts[FETCH_DOUBT_INSTANT] = verdict->end == PAGE_END_INSTANT && !result->is_proven;
}

void walk_end(struct fetch *fetch, enum fetch_verdict_kind kind, struct str reason)
{
    const struct phase *phase = fetch->list;
    struct fetch_verdict *verdict = &fetch->verdict;

    *verdict = (struct fetch_verdict){ .kind = kind,
                                       .lost_ids = fetch->ids.lost_missing +
                                                   fetch->ids.lost_refused + fetch->ids.lost_failed,
                                       .refused_ids = fetch->ids.lost_refused,
                                       .dated_us = fetch->totals.dated_us,
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
        if (kind == FETCH_COMPLETE)
            note_proof(verdict, &result);
    }
    for (size_t i = 0; i < FETCH_DOUBTS; i++)
        verdict->doubts[i] |= (fetch->ids.doubts >> i & 1) != 0;
    if (kind == FETCH_COMPLETE) {
        verdict->doubts[FETCH_DOUBT_CHILDREN] = id_work_has_no_children(&fetch->ids);
        feed_doubt(fetch, verdict->doubts);
    }
    if (kind == FETCH_CUT_SHORT || kind == FETCH_RESLICE || kind == FETCH_OVER_BUDGET)
        verdict->finished = finished_of(fetch);
    verdict->reason = reason.len > 0 ? reason : reason_of(fetch, verdict);
    fetch->has_verdict = true;
}

bool walk_bridges(struct fetch *fetch)
{
    const struct phase *phase = fetch->list;

    if (!phase->endpoint->page.bridge_to_time || !window_is_valid(finished_of(fetch)))
        return false;
    walk_reslice(fetch, RESLICE_TOO_DEEP,
                 STR("its token died; the rest is read from the date of the last record on"));
    return true;
}

void walk_reslice(struct fetch *fetch, enum reslice_reason reason, struct str text)
{
    walk_end(fetch, FETCH_RESLICE, text);
    fetch->verdict.reslice = reason;
}

static void judge_cut(struct fetch *fetch, const struct phase *phase)
{
    const bool may_bridge = phase->endpoint->page.bridge_to_time && phase->end == PAGE_CUT_PAGES;

    if (may_bridge && (fetch->order.can_reslice || window_is_valid(finished_of(fetch))))
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
        if (feed_ends_unproven(fetch))
            return;
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

struct fetch_spending walk_spending(const struct fetch *fetch)
{
    const struct phase *phase = &fetch->phases[0];
    const struct proof *proof = &phase->proof;
    const int64_t size = phase->state.size > 0 ? phase->state.size : phase->state.largest;
    const int64_t told = proof->has_total ? walk_budget_pages(proof->total_last, size) : 0;
    const int64_t seen = fetch->totals.seen;

    return (struct fetch_spending){ .requests = fetch->totals.spent,
                                    .needed = told > seen ? told : seen,
                                    .seen = seen };
}

bool walk_keeps_what_it_read(const struct fetch *fetch)
{
    const struct fetch_spending spending = walk_spending(fetch);

    return fetch->order.slice->dimension == SLICE_PAGE || window_is_valid(finished_of(fetch)) ||
           (fetch->mode == WALK_PAGES && /* else there are records fetched by id, too */
            spending.seen * FETCH_READ_AGAIN_PART <= spending.needed);
}

static bool is_throttled_much(const struct fetch *fetch)
{
    const struct walk_totals *totals = &fetch->totals;

    return fetch->order.can_reslice && totals->requests >= FETCH_REFUSED_OF_MIN &&
           totals->throttled * 1000 > totals->requests * FETCH_REFUSED_PERMILLE &&
           walk_keeps_what_it_read(fetch);
}

/* More records than the source's total justifies. Of a slice by page, the total counts more than
 * the slice. */
static bool is_endless(const struct phase *phase)
{
    const struct proof *proof = &phase->proof;
    const int64_t total =
        proof->total_first > proof->total_last ? proof->total_first : proof->total_last;

    return proof->has_total && proof->rules.counts_total &&
           walk_budget_is_endless(proof->distinct, total, phase->state.largest);
}

/* More pages than anything known before justifies. page.max_pages is a limit of its own. */
static bool is_too_long(const struct fetch *fetch)
{
    const struct phase *phase = fetch->list;
    const int64_t size = phase->state.size > 0 ? phase->state.size : phase->state.largest;
    const int64_t expected = fetch->order.slice->expected_records;
    const int64_t total = phase->proof.has_total ? phase->proof.total_first : 0;

    return phase->rules.max_pages == 0 &&
           phase->proof.pages >= walk_budget_pages_max(total > expected ? total : expected, size);
}

static struct walk_budget budget_of(const struct fetch *fetch)
{
    const struct fetch_spending own = walk_spending(fetch);
    struct walk_budget budget = fetch->order.family;

    budget.requests += own.requests;
    budget.done += own.seen;
    if (own.needed > budget.needed)
        budget.needed = own.needed;
    return budget;
}

bool walk_check_budget(struct fetch *fetch, bool *ended, struct error *err)
{
    const struct walk_budget budget = budget_of(fetch);
    const struct proof *proof = &fetch->phases[0].proof;
    struct str reason;

    *ended = true;
    if (is_endless(&fetch->phases[0]))
        reason = arena_printf(&fetch->memory.own,
                              "%" PRId64 " records came, the source's total is %" PRId64
                              ", and there are more pages: is response.total right?",
                              proof->distinct, proof->total_last);
    else if (is_too_long(fetch))
        reason = arena_printf(&fetch->memory.own,
                              "%" PRId64 " pages and %" PRId64
                              " records came, and there is always another page: does the list "
                              "have an end? page.max_pages lets a walk be longer",
                              fetch->list->proof.pages, fetch->list->proof.distinct);
    else if (walk_budget_is_used_up(budget))
        reason = arena_printf(
            &fetch->memory.own,
            "%" PRId64 " requests for a slice of %" PRId64 " pages, re-slices included: "
            "the source's pages or totals are not what the source file says",
            budget.requests, budget.needed > budget.done ? budget.needed : budget.done);
    else {
        *ended = false;
        return true;
    }
    if (reason.data == NULL)
        return arena_error(&fetch->memory.own, err);
    walk_end(fetch, FETCH_OVER_BUDGET, reason);
    return true;
}

bool walk_check_limits(struct fetch *fetch, struct error *err)
{
    const char *budget = budget_used(fetch);
    struct str reason;

    if (budget != NULL) {
        reason = arena_printf(&fetch->memory.own, "the budget of %s is used up", budget);
        if (reason.data == NULL)
            return arena_error(&fetch->memory.own, err);
        if (fetch->order.can_reslice && strcmp(budget, "time") == 0)
            walk_reslice(fetch, RESLICE_SLOW, reason);
        else
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
