/* Pages, one after the other:
 *
 *      request ─┬─ good ── decide ─┬─ go on ───────────────────▶ a batch
 *               │                  ├─ repeat ── request, decide  (once)
 *               │                  ╰─ end ── judge the sweep ─┬─ believed: done
 *               │                                             ╰─ not: from the beginning
 *               ├─ expired, lost ── from the beginning
 *               ├─ oversized ── smaller pages, or a re-slice
 *               ├─ too deep ── a re-slice
 *               ╰─ error ── the caller
 */
#include "engine/fetch/walk.h"

#include <assert.h>
#include <string.h>

#include "engine/fetch/absence.h"

/* ---- what a slice covers ---- */

struct window walk_keep(const struct fetch *fetch)
{
    const struct slice *slice = fetch->order.slice;

    if (!fetch->spec->endpoint.window.client_filter || slice->dimension == SLICE_ID)
        return (struct window){ 0, 0 };
    return slice->dimension == SLICE_TIME ? slice->query.keep : slice->window;
}

/* Of parents, any may have none. */
bool walk_expects_records(const struct fetch *fetch)
{
    return fetch->mode != WALK_CHILDREN &&
           fetch->order.slice->expected_records >= FETCH_EXPECTED_MIN;
}

/* The pages of a slice by page; NULL for all other slices. */
static const struct page_range *range_of(const struct fetch *fetch)
{
    return fetch->order.slice->dimension == SLICE_PAGE ? &fetch->order.slice->pages : NULL;
}

/* Only the first phase has the pages of the slice. */
static const struct page_range *range_of_phase(const struct fetch *fetch, const struct phase *phase)
{
    return phase == &fetch->phases[0] ? range_of(fetch) : NULL;
}

/* ---- the beginning ---- */

bool phase_set_token(struct phase *phase, struct str token, struct error *err)
{
    struct buf *buf = &phase->token_bufs[phase->token_turn ^= 1];

    buf_clear(buf);
    buf_add(buf, token);
    if (!buf_ok(buf, err))
        return error_wrap(err, "a token of %zu bytes", token.len);
    phase->state.token = buf->len > 0 ? buf_str(buf) : STR("");
    return true;
}

static bool enter_first_page(const struct fetch *fetch, struct phase *phase, struct error *err)
{
    phase->state =
        page_first(&phase->rules, range_of_phase(fetch, phase), request_window(fetch->order.slice));
    feed_first(fetch, phase, &phase->state.token);
    return phase->state.token.data == NULL || phase_set_token(phase, phase->state.token, err);
}

bool walk_pages_init(struct fetch *fetch, struct phase *phase, struct error *err)
{
    struct arena *own = &fetch->memory.own;

    phase->rules = page_rules_of(fetch->spec, phase->endpoint);
    proof_init(&phase->proof, own,
               (struct proof_rules){ .counts_total = range_of_phase(fetch, phase) == NULL,
                                     .repeats_are_ok = phase->rules.type == PAGINATION_TIME ||
                                                       phase->rules.type == PAGINATION_ID ||
                                                       feed_type(fetch, phase) == CURSOR_TOKEN });
    id_kinds_init(&phase->kinds, own);
    id_set_init(&phase->tokens, own);
    for (size_t i = 0; i < ARRAY_LEN(phase->token_bufs); i++)
        buf_init(&phase->token_bufs[i], own, HTTP_URL_BYTES_MAX);
    return enter_first_page(fetch, phase, err);
}

static bool restart_phase(const struct fetch *fetch, struct phase *phase, struct error *err)
{
    proof_restart(&phase->proof);
    id_kinds_clear(&phase->kinds);
    id_set_clear(&phase->tokens);
    phase->is_done = false;
    return enter_first_page(fetch, phase, err);
}

bool walk_pages_reset(struct fetch *fetch, struct phase *phase, struct error *err)
{
    phase->proof.prior = (struct proof_sweep){ 0 };
    phase->saw_end_once = false;
    phase->end = PAGE_REASON_NONE;
    return restart_phase(fetch, phase, err);
}

static bool begin_again(struct fetch *fetch, struct error *err)
{
    prefetch_drop(fetch);
    feed_restart(fetch);
    if (fetch->mode == WALK_HISTORY) {
        fetch->list = &fetch->phases[0];
        if (!restart_phase(fetch, &fetch->phases[1], err))
            return false;
    }
    return restart_phase(fetch, &fetch->phases[0], err);
}

/* After a failure that a new walk may not meet. */
static bool restart(struct fetch *fetch, struct error *err)
{
    const struct error cause = *err;

    if (fetch->totals.restarts >= FETCH_RESTARTS_MAX)
        return error_set(err, ERROR_TRANSIENT, "fetch.restarts",
                         "the walk was lost %d times, the last time because: %.700s",
                         fetch->totals.restarts + 1, cause.text);
    fetch->totals.restarts++;
    walk_forget_pages(&fetch->totals, &fetch->list->proof);
    return begin_again(fetch, err);
}

/* ---- failures ---- */

/* A token that gets 410 has expired, whether the source has a rule for it or not. */
static bool is_token_gone(const struct phase *phase, const struct exchange *exchange)
{
    return exchange->response.kind == RESPONSE_ERROR && exchange->reply.status == 410 &&
           phase->rules.type == PAGINATION_TOKEN && phase->state.number > 0;
}

/* A token that the source gave and does not accept any more, in its own words. */
static bool is_token_refused(const struct phase *phase, const struct exchange *exchange,
                             const struct error *err)
{
    return exchange->response.kind == RESPONSE_ERROR && err->level == ERROR_REQUEST &&
           exchange->reply.status >= 400 && phase->state.number > 0 &&
           (phase->rules.type == PAGINATION_TOKEN || phase->rules.type == PAGINATION_URL);
}

/* How sources say that there is no such page. A refusal for any other reason says nothing. */
static bool is_past_the_end(const struct exchange *exchange, const struct error *err)
{
    const int status = exchange->reply.status;

    return exchange->response.kind == RESPONSE_ERROR && err->level == ERROR_REQUEST &&
           (status == 400 || status == 404 || status == 410 || status == 416 || status == 422);
}

/* The request was only made to see whether the list goes on. Where all pages were shorter than
 * requested, and has_more does not say so, none of them says that it was the last: there the
 * refusal has to come twice. */
static void end_by_probe(struct fetch *fetch, struct phase *phase)
{
    if (!phase->state.was_short && !phase->state.was_last && !phase->saw_end_once) {
        phase->saw_end_once = true;
        fetch->counts.repeated = true;
        return;
    }
    phase->is_done = true;
    phase->end = PAGE_END_EMPTY;
}

static bool recover_oversized(struct fetch *fetch)
{
    struct phase *phase = fetch->list;

    if (range_of(fetch) == NULL && page_shrink(&phase->rules, &phase->state)) {
        fetch->counts.page_shrunk = true;
        attempts_followed(&fetch->attempts, ATTEMPT_SMALLER, 0);
        return true;
    }
    if (!fetch->order.can_reslice)
        return false;
    walk_reslice(fetch, RESLICE_OVERSIZED, STR("the smallest page is too large"));
    return true;
}

static void end_too_deep(struct fetch *fetch)
{
    if (fetch->order.can_reslice) {
        walk_reslice(fetch, RESLICE_TOO_DEEP, STR("the source goes no deeper"));
        return;
    }
    fetch->list->end = PAGE_CUT_CAP;
    walk_end(fetch, FETCH_CUT_SHORT,
             STR("the source goes no deeper, and the slice is not to be cut"));
}

/* The request was to see whether the list goes on, and its response is not a page. */
static bool is_probe_refused(const struct phase *phase, const struct exchange *exchange,
                             const struct error *err)
{
    const enum response_kind kind = exchange->response.kind;

    return phase->state.is_probe && err->level != ERROR_FATAL && exchange->reply.status > 0 &&
           (kind == RESPONSE_ERROR || kind == RESPONSE_TOO_DEEP || kind == RESPONSE_EXPIRED);
}

/* Whatever that response is, it leaves a total that was reached as it is. */
static bool is_end_by_total(const struct phase *phase, const struct exchange *exchange,
                            const struct error *err)
{
    return is_probe_refused(phase, exchange, err) && proof_is_at_total(&phase->proof);
}

/* So it does with has_more, which nothing contradicts then, and nothing confirms. A page with a
 * list, whose next alone is wrong, does contradict it. */
static bool is_end_by_more(const struct phase *phase, const struct exchange *exchange,
                           const struct error *err)
{
    return is_probe_refused(phase, exchange, err) && phase->state.was_last &&
           !phase->state.is_more_wrong && strcmp(err->code, "answer.next") != 0;
}

/* True: the page can be requested again, with the walk as it is now, or the walk has a verdict. */
static bool recover(struct fetch *fetch, const struct exchange *exchange, struct error *err)
{
    struct phase *phase = fetch->list;

    if (is_end_by_total(phase, exchange, err)) {
        phase->is_done = true;
        phase->end = PAGE_END_TOTAL;
        return true;
    }
    if (phase->state.is_probe && is_past_the_end(exchange, err)) {
        end_by_probe(fetch, phase);
        return true;
    }
    if (is_end_by_more(phase, exchange, err)) {
        phase->is_done = true;
        phase->end = PAGE_END_BARE;
        return true;
    }
    if (feed_expires(fetch, exchange) || exchange->is_lost ||
        exchange->response.kind == RESPONSE_EXPIRED || is_token_gone(phase, exchange))
        return walk_bridges(fetch) || restart(fetch, err);
    if (is_token_refused(phase, exchange, err))
        return walk_bridges(fetch);
    if (exchange->response.kind == RESPONSE_OVERSIZED)
        return recover_oversized(fetch);
    if (exchange->response.kind != RESPONSE_TOO_DEEP)
        return false;
    end_too_deep(fetch);
    return true;
}

/* ---- what a page shows ---- */

struct proof_page walk_proof_page(const struct listing *listing)
{
    return (struct proof_page){ .hashes = listing->hashes,
                                .count = listing->hash_count,
                                .unnamed = listing->unnamed,
                                .has_total = listing->has_total,
                                .total = listing->total };
}

static struct page_seen seen_of(const struct fetch *fetch, const struct exchange *exchange)
{
    const struct phase *phase = fetch->list;
    const struct listing *listing = &exchange->listing;
    const struct proof_page page = walk_proof_page(listing);
    const bool is_sent = listing->next.data != NULL && phase->state.token.data != NULL &&
                         str_eq(listing->next, phase->state.token);

    struct page_seen seen = {
        .items = (int64_t)listing->items,
        .fresh = proof_fresh(&phase->proof, &page),
        .unnamed = (int64_t)listing->unnamed,
        .has_total = listing->has_total,
        .total = listing->total,
        .more = listing->more,
        .next = listing->next,
        .lacks_next = absence_is_end(listing),
        .next_is_known = listing->next.data != NULL && !is_sent &&
                         id_set_has(&phase->tokens, id_set_hash(listing->next)),
        .is_declared_empty = exchange->response.kind == RESPONSE_EMPTY,
        .is_past = listing->is_past,
        .is_unsorted = listing->is_unsorted,
        .order = listing->order,
        .has_dates = listing->has_dates,
        .earliest_us = listing->earliest_us,
        .latest_us = listing->latest_us,
    };

    feed_see(fetch, phase, listing, &seen);
    return seen;
}

/* A source with a search before its pages gives the total there. */
static void complete_total(const struct fetch *fetch, struct listing *listing)
{
    if (fetch->list != &fetch->phases[1] || listing->has_total)
        return;
    listing->has_total = fetch->history.has_total;
    listing->total = fetch->history.total;
}

/* ---- requesting twice ---- */

/* The same request again, beside its first response, which is kept. */
static bool run_second(struct fetch *fetch, const struct exchange_request *request,
                       const struct exchange *first, struct exchange **second, struct error *err)
{
    exchange_note_doubtful(fetch, request, first);
    fetch->counts.repeated = true;
    fetch->memory.keeps_first = true;
    *second = first == &fetch->exchanges[0] ? &fetch->exchanges[1] : &fetch->exchanges[0];
    return exchange_run(fetch, request, *second, err);
}

bool walk_repeat(struct fetch *fetch, const struct exchange_request *request,
                 struct exchange **found, struct exchange **second, struct error *err)
{
    if (run_second(fetch, request, *found, second, err))
        return true;
    *found = *second;
    return false;
}

static bool has_unjudged(const struct exchange *exchange)
{
    return exchange->listing.bad.count > 0 || exchange->listing.unnamed > 0;
}

/* One id may no longer exist. That a whole batch of them does not is unlikely. */
static bool has_no_id_of_many(const struct exchange_request *request,
                              const struct exchange *exchange)
{
    return request->id_count > 1 && request->phase->endpoint->parent.len == 0 &&
           exchange->listing.items == 0 && exchange->response.kind != RESPONSE_EMPTY;
}

static bool is_at_least_as_good(const struct listing *second, const struct listing *first)
{
    return second->records.count + second->dropped >= first->records.count + first->dropped &&
           second->items >= first->items;
}

bool walk_run_checked(struct fetch *fetch, const struct exchange_request *request,
                      struct exchange **result, struct error *err)
{
    struct exchange *first = &fetch->exchanges[0];
    const bool may_repeat = !exchange_is_page(request) || request->phase->rules.replayable;
    struct exchange *second;
    bool is_unjudged;

    *result = first;
    if (!exchange_run(fetch, request, first, err))
        return false;
    is_unjudged = has_unjudged(first) && may_repeat && fetch->totals.repeats < FETCH_REPEATS_MAX;
    if (!is_unjudged && !has_no_id_of_many(request, first))
        return true;
    fetch->totals.repeats += is_unjudged;
    if (!run_second(fetch, request, first, &second, err))
        return true; /* the first response is good enough; the gate knows of the failure */
    if (is_at_least_as_good(&second->listing, &first->listing))
        *result = second;
    return true;
}

/* ---- requesting a page ---- */

struct exchange_request walk_page_request(struct fetch *fetch)
{
    if (fetch->mode == WALK_CHILDREN)
        return walk_child_request(fetch);
    return (struct exchange_request){ .phase = fetch->list, .ids_only = fetch->mode == WALK_IDS };
}

static bool request_and_decide(struct fetch *fetch, struct exchange **found,
                               struct page_decision *decision, struct error *err)
{
    struct phase *phase = fetch->list;
    const struct exchange_request request = walk_page_request(fetch);
    struct page_facts facts = { .pages = range_of_phase(fetch, phase),
                                .is_expected = walk_expects_records(fetch),
                                .is_total_reached = proof_is_at_total(&phase->proof),
                                .largest = phase->largest };
    struct exchange *second;
    struct page_seen seen, seen_again;

    if (!walk_run_checked(fetch, &request, found, err))
        return false;
    complete_total(fetch, &(*found)->listing);
    seen = seen_of(fetch, *found);
    *decision = page_decide(&phase->rules, &phase->state, &seen, &facts);
    if (decision->step != PAGE_REPEAT)
        return true;
    if (!walk_repeat(fetch, &request, found, &second, err))
        return false;
    complete_total(fetch, &second->listing);
    seen_again = seen_of(fetch, second);
    /* Of two responses to one request, the one that shows more; of equals, the later. */
    if (seen_again.fresh >= seen.fresh) {
        *found = second;
        seen = seen_again;
    }
    facts.is_second = true;
    *decision = page_decide(&phase->rules, &phase->state, &seen, &facts);
    return true;
}

/* A page that was requested to see whether the list goes on, and repeats what is known: some
 * sources return their last page forever. It is not a part of the list. */
static bool is_echo(const struct phase *phase, const struct proof_page *page,
                    const struct page_decision *decision)
{
    if (decision->step != PAGE_END || !phase->state.is_probe ||
        proof_fresh(&phase->proof, page) > 0)
        return false;
    return proof_is_at_total(&phase->proof) || proof_is_repeat(&phase->proof, page);
}

/* The page counts, and the walk moves on. */
static bool accept(struct phase *phase, const struct exchange *exchange,
                   const struct page_decision *decision, struct error *err)
{
    const struct proof_page page = walk_proof_page(&exchange->listing);
    int64_t fresh;
    bool is_new;

    if (!is_echo(phase, &page, decision) && !proof_add(&phase->proof, &page, &fresh, err))
        return false;
    if (!id_kinds_accept(&phase->kinds, &exchange->listing.kinds, err))
        return false;
    phase->saw_end_once = false;
    if ((int64_t)exchange->listing.items > phase->largest)
        phase->largest = (int64_t)exchange->listing.items;
    if (decision->step == PAGE_END) {
        phase->is_done = true;
        phase->end = decision->reason;
        phase->state.has_hole = decision->next.has_hole;
        phase->state.hole_us = decision->next.hole_us;
        return true;
    }
    phase->state = decision->next;
    if (decision->next.token.data == NULL)
        return true;
    return id_set_add(&phase->tokens, id_set_hash(decision->next.token), &is_new, err) &&
           phase_set_token(phase, decision->next.token, err);
}

/* The sweep is over. It is believed, or the walk begins again. */
static bool end_sweep(struct fetch *fetch, struct error *err)
{
    struct phase *phase = fetch->list;
    const struct proof_result result = proof_judge(&phase->proof, phase->end);

    /* A page of a scroll that repeats itself could not be requested a second time. */
    const bool may_mend = phase->end == PAGE_CUT_LOOP && !phase->rules.replayable;

    if (result.verdict == PROOF_COMPLETE || (result.verdict == PROOF_CUT && !may_mend) ||
        fetch->totals.sweeps + 1 >= FETCH_SWEEPS_MAX)
        return true;
    fetch->totals.sweeps++;
    proof_next_sweep(&phase->proof);
    return begin_again(fetch, err);
}

/* ---- a batch ---- */

static void describe_place(const struct fetch *fetch, struct fetch_batch *batch)
{
    const struct phase *phase = fetch->list;
    const struct page_state *state = &phase->state;
    const enum pagination_type type = phase->rules.type;

    batch->kind = fetch->mode == WALK_PAGES || phase == &fetch->phases[1] ? FETCH_PAGE : FETCH_IDS;
    batch->has_page_no = type == PAGINATION_PAGE || type == PAGINATION_OFFSET;
    batch->page_no = type == PAGINATION_PAGE ? state->page_no : state->number;
    batch->page_size = state->size;
    if (phase->rules.replayable && fetch->totals.sweeps == 0 && fetch->totals.restarts == 0)
        batch->before = state->token;
}

static bool take_ids(struct fetch *fetch, const struct listing *listing, struct fetch_batch *batch,
                     struct error *err)
{
    const struct id_queue *queue = &fetch->ids.queue;
    const size_t before = queue->count;

    if (!id_work_add(&fetch->ids, &fetch->memory.own, listing->ids, listing->hash_count, err))
        return false;
    batch->id_count = queue->count - before;
    if (batch->id_count > 0)
        batch->ids = queue->items + before;
    batch->bad = listing->bad.items;
    batch->bad_count = listing->bad.count;
    return true;
}

void walk_take_records(struct fetch *fetch, const struct listing *listing,
                       struct fetch_batch *batch)
{
    fetch->counts.items = (int64_t)listing->items;
    fetch->counts.dropped = (int64_t)listing->dropped;
    batch->records = listing->records.items;
    batch->record_count = listing->records.count;
    batch->bad = listing->bad.items;
    batch->bad_count = listing->bad.count;
}

bool walk_page(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    struct page_decision decision;
    struct exchange *found;
    struct phase *phase;
    bool is_search; /* the one before the pages: nothing is decided on it */

    for (;;) {
        phase = fetch->list;
        is_search = fetch->mode == WALK_HISTORY && phase == &fetch->phases[0];
        describe_place(fetch, batch);
        if (is_search ? history_search(fetch, &found, err)
                      : request_and_decide(fetch, &found, &decision, err))
            break;
        fetch->current = found;
        if (!recover(fetch, found, err))
            return false;
        if (fetch->has_verdict)
            return true; /* a batch without records */
        if (fetch->list->is_done)
            return end_sweep(fetch, err);
        exchange_discard(fetch, found);
    }
    fetch->current = found;
    if (walk_ends_over_cap(fetch, &found->listing))
        return true;
    if (is_search)
        return history_enter(fetch, found, err);
    if (walk_ends_by_stray_ids(fetch, &found->listing))
        return true;
    walk_take_records(fetch, &found->listing, batch);
    if (fetch->mode == WALK_IDS && !take_ids(fetch, &found->listing, batch, err))
        return false;
    if (!accept(phase, found, &decision, err))
        return false;
    if (phase->proof.pages > fetch->totals.seen)
        fetch->totals.seen = phase->proof.pages;
    feed_note(fetch, phase, &found->listing);
    return !phase->is_done || end_sweep(fetch, err);
}
