/* Pages, one after the other:
 *
 *      look ─┬─ good ── decide ─┬─ go on ───────────────▶ a batch
 *            │                  ├─ ask again ── look ...   (once)
 *            │                  ╰─ end ── judge the sweep ─┬─ believed: done
 *            │                                             ╰─ not: from the beginning
 *            ├─ expired, lost ── from the beginning
 *            ├─ oversized ── smaller pages, or a re-slice
 *            ├─ too deep ── a re-slice
 *            ╰─ error ── the caller
 */
#include "engine/fetch/walk.h"

#include <assert.h>

/* ---- what a slice asks for ---- */

struct window walk_window(const struct fetch *fetch)
{
    const struct slice *slice = fetch->order.slice;

    return slice->dimension == SLICE_TIME ? slice->query.window : slice->window;
}

struct window walk_keep(const struct fetch *fetch)
{
    const struct slice *slice = fetch->order.slice;

    if (!fetch->spec->endpoint.window.client_filter || slice->dimension == SLICE_ID)
        return (struct window){ 0, 0 };
    return slice->dimension == SLICE_TIME ? slice->query.keep : slice->window;
}

static const struct page_range *range_of(const struct fetch *fetch)
{
    return fetch->order.slice->dimension == SLICE_PAGE ? &fetch->order.slice->pages : NULL;
}

static bool ends_in(struct str text, struct str word)
{
    return text.len >= word.len &&
           str_eq_nocase(str_slice(text, text.len - word.len, text.len), word);
}

struct page_rules walk_rules(const struct spec *spec, const struct spec_endpoint *endpoint)
{
    const struct spec_page *page = &endpoint->page;

    return (struct page_rules){
        .type = page->type,
        .size = page->size,
        .size_min = page->size_min,
        .size_max = page->size_max,
        .max_pages = page->max_pages,
        .cap = page->cap,
        .base = page->base,
        .initial = page->has_initial ? page->initial : (struct str){ NULL, 0 },
        .replayable = page->replayable,
        .tail_probe = page->tail_probe,
        .same_token = page->same_token,
        .granularity = spec->endpoint.window.granularity,
        .descending = ends_in(str_trim(page->order_by), STR("desc")),
    };
}

bool walk_pages_init(struct fetch *fetch, struct leg *leg, struct error *err)
{
    const struct page_range *pages = leg == &fetch->legs[0] ? range_of(fetch) : NULL;

    leg->rules = walk_rules(fetch->spec, leg->endpoint);
    leg->state = page_first(&leg->rules, pages, walk_window(fetch));
    proof_init(&leg->proof, &fetch->own, pages == NULL, leg->rules.type == PAGINATION_TIME);
    id_set_init(&leg->tokens, &fetch->own);
    for (size_t i = 0; i < ARRAY_LEN(leg->token_bufs); i++)
        buf_init(&leg->token_bufs[i], &fetch->own, HTTP_URL_BYTES_MAX);
    return leg->state.token.data == NULL || leg_set_token(leg, leg->state.token, err);
}

bool leg_set_token(struct leg *leg, struct str token, struct error *err)
{
    struct buf *buf = &leg->token_bufs[leg->token_turn ^= 1];

    buf_clear(buf);
    buf_add(buf, token);
    if (!buf_ok(buf, err))
        return error_wrap(err, "a token of %zu bytes", token.len);
    leg->state.token = buf->len > 0 ? buf_str(buf) : STR("");
    return true;
}

/* ---- from the beginning ---- */

static bool begin_again(struct fetch *fetch, struct error *err)
{
    struct leg *leg = &fetch->legs[0];

    walk_drop_prefetch(fetch);
    if (fetch->mode == WALK_HISTORY) {
        proof_restart(&fetch->legs[1].proof);
        id_set_clear(&fetch->legs[1].tokens);
        fetch->legs[1].is_done = false;
        fetch->legs[1].state = page_first(&fetch->legs[1].rules, NULL, walk_window(fetch));
        fetch->list = leg;
    }
    proof_restart(&leg->proof);
    id_set_clear(&leg->tokens);
    leg->is_done = false;
    leg->state = page_first(&leg->rules, range_of(fetch), walk_window(fetch));
    return leg->state.token.data == NULL || leg_set_token(leg, leg->state.token, err);
}

/* After a failure that a fresh walk may mend. */
static bool restart(struct fetch *fetch, struct error *err)
{
    struct error cause = *err;

    if (fetch->restarts >= FETCH_RESTARTS_MAX)
        return error_set(err, ERROR_TRANSIENT, "fetch.restarts",
                         "the walk was lost %d times, the last time because: %.700s",
                         fetch->restarts + 1, cause.text);
    fetch->restarts++;
    return begin_again(fetch, err);
}

/* ---- failures ---- */

/* 410 to a token needs no rule to be understood. */
static bool is_gone(const struct leg *leg, const struct exchange *exchange)
{
    return exchange->answer.kind == ANSWER_ERROR && exchange->reply.status == 410 &&
           leg->rules.type == PAGINATION_TOKEN && leg->state.number > 0;
}

/* How sources say that there is no such page; a refusal for any other reason says nothing about it.
 */
static bool is_behind_the_end(const struct exchange *exchange, const struct error *err)
{
    const int status = exchange->reply.status;

    return exchange->answer.kind == ANSWER_ERROR && err->level == ERROR_REQUEST &&
           (status == 400 || status == 404 || status == 410 || status == 416 || status == 422);
}

/* The request was made only to see whether the list goes on. Where all pages have been shorter than
 * asked for, none of them says that it was the last: there the answer has to come twice. */
static void end_of_probe(struct fetch *fetch, struct leg *leg)
{
    if (!leg->state.was_short && !leg->is_doubted) {
        leg->is_doubted = true;
        fetch->counts.asked_again = true;
        return;
    }
    leg->is_done = true;
    leg->end = PAGE_END_EMPTY;
}

/* True: the page can be asked for again, with the walk as it is now, or the walk has a verdict. */
static bool recover(struct fetch *fetch, const struct exchange *exchange, struct error *err)
{
    struct leg *leg = fetch->list;
    const enum answer_kind kind = exchange->answer.kind;

    if (leg->state.is_probe && is_behind_the_end(exchange, err)) {
        end_of_probe(fetch, leg);
        return true;
    }
    if (exchange->is_lost || kind == ANSWER_EXPIRED || is_gone(leg, exchange))
        return restart(fetch, err);
    if (kind == ANSWER_OVERSIZED) {
        if (range_of(fetch) == NULL && page_shrink(&leg->rules, &leg->state)) {
            fetch->counts.page_shrunk = true;
            return true;
        }
        if (!fetch->order.can_reslice)
            return false;
        walk_reslice(fetch, RESLICE_OVERSIZED, STR("the smallest page is too large"));
        return true;
    }
    if (kind != ANSWER_TOO_DEEP)
        return false;
    if (fetch->order.can_reslice)
        walk_reslice(fetch, RESLICE_TOO_DEEP, STR("the source goes no deeper"));
    else {
        leg->end = PAGE_CUT_CAP;
        walk_end(fetch, FETCH_CUT_SHORT,
                 STR("the source goes no deeper, and the slice is not to be cut"));
    }
    return true;
}

/* ---- one page ---- */

static struct proof_page proof_page_of(const struct listing *listing)
{
    return (struct proof_page){ .hashes = listing->hashes,
                                .count = listing->hash_count,
                                .unnamed = listing->unnamed,
                                .has_total = listing->has_total,
                                .total = listing->total };
}

static struct page_seen seen_of(const struct fetch *fetch, const struct exchange *exchange)
{
    const struct listing *listing = &exchange->listing;
    const struct leg *leg = fetch->list;
    const struct proof_page page = proof_page_of(listing);
    const bool is_sent = listing->next.data != NULL && leg->state.token.data != NULL &&
                         str_eq(listing->next, leg->state.token);

    return (struct page_seen){
        .items = (int64_t)listing->items,
        .fresh = proof_fresh(&leg->proof, &page),
        .unnamed = (int64_t)listing->unnamed,
        .has_total = listing->has_total,
        .total = listing->total,
        .more = listing->more,
        .next = listing->next,
        .next_is_known = listing->next.data != NULL && !is_sent &&
                         id_set_has(&leg->tokens, id_set_hash(listing->next)),
        .is_declared_empty = exchange->answer.kind == ANSWER_EMPTY,
        .is_past = listing->is_past,
        .has_dates = listing->has_dates,
        .earliest_us = listing->earliest_us,
        .latest_us = listing->latest_us,
    };
}

/* Of two answers to one request, the one that shows more; of equals, the later. */
static struct exchange *better(const struct fetch *fetch, struct exchange *first,
                               struct exchange *second)
{
    return seen_of(fetch, second).fresh >= seen_of(fetch, first).fresh ? second : first;
}

/* The same request once more, beside the first answer. On failure it is the second that counts. */
static bool look_again(struct fetch *fetch, const struct exchange_ask *ask, struct exchange **found,
                       struct exchange **second, struct error *err)
{
    fetch->counts.asked_again = true;
    fetch->has_kept = true;
    *second = *found == &fetch->exchanges[0] ? &fetch->exchanges[1] : &fetch->exchanges[0];
    exchange_close(*second);
    if (walk_exchange(fetch, ask, *second, err))
        return true;
    *found = *second;
    return false;
}

static bool is_expected(const struct fetch *fetch)
{
    return fetch->order.slice->expected_records >= FETCH_EXPECTED_MIN;
}

static bool look_and_decide(struct fetch *fetch, struct exchange **found,
                            struct page_decision *decision, struct error *err)
{
    struct leg *leg = fetch->list;
    const struct exchange_ask ask = { .leg = leg, .ids_only = fetch->mode == WALK_IDS };
    struct page_facts facts = {
        .pages = leg == &fetch->legs[0] ? range_of(fetch) : NULL,
        .is_expected = is_expected(fetch),
    };
    struct exchange *second;
    struct page_seen seen;

    if (!walk_look(fetch, &ask, found, err))
        return false;
    /* A history server tells its total in the first phase. */
    if (leg == &fetch->legs[1] && !(*found)->listing.has_total) {
        (*found)->listing.has_total = fetch->has_history_total;
        (*found)->listing.total = fetch->history_total;
    }
    seen = seen_of(fetch, *found);
    *decision = page_decide(&leg->rules, &leg->state, &seen, &facts);
    if (decision->step != PAGE_ASK_AGAIN)
        return true;
    if (!look_again(fetch, &ask, found, &second, err))
        return false;
    if (leg == &fetch->legs[1] && !second->listing.has_total) {
        second->listing.has_total = fetch->has_history_total;
        second->listing.total = fetch->history_total;
    }
    *found = better(fetch, *found, second);
    facts.asked_again = true;
    seen = seen_of(fetch, *found);
    *decision = page_decide(&leg->rules, &leg->state, &seen, &facts);
    return true;
}

/* The page is taken: it counts, and the walk moves on. */
static bool accept(struct fetch *fetch, const struct exchange *exchange,
                   const struct page_decision *decision, struct error *err)
{
    struct leg *leg = fetch->list;
    const struct proof_page page = proof_page_of(&exchange->listing);
    int64_t fresh;
    bool is_new;

    if (!proof_add(&leg->proof, &page, &fresh, err))
        return false;
    leg->is_doubted = false;
    if (decision->step == PAGE_END) {
        leg->is_done = true;
        leg->end = decision->why;
        return true;
    }
    leg->state = decision->next;
    if (decision->next.token.data == NULL)
        return true;
    return id_set_add(&leg->tokens, id_set_hash(decision->next.token), &is_new, err) &&
           leg_set_token(leg, decision->next.token, err);
}

/* ---- phases ---- */

static bool copy_history(struct fetch *fetch, const struct listing *listing, struct error *err)
{
    struct listing_value *values =
        ARENA_ARRAY(&fetch->own, struct listing_value, listing->history_count);

    if (values == NULL)
        return arena_error(&fetch->own, err);
    for (size_t i = 0; i < listing->history_count; i++) {
        values[i].name = listing->history[i].name; /* the spec's */
        values[i].value = arena_copy(&fetch->own, listing->history[i].value);
        if (values[i].value.data == NULL)
            return arena_error(&fetch->own, err);
    }
    fetch->history = values;
    fetch->history_count = listing->history_count;
    return true;
}

static bool finds_nothing(const struct exchange *search)
{
    return search->answer.kind == ANSWER_EMPTY ||
           (search->listing.has_total && search->listing.total == 0);
}

/* WALK_HISTORY: the search is asked once, and twice where it finds nothing that was expected. */
static bool look_for_history(struct fetch *fetch, struct exchange **found, struct error *err)
{
    const struct exchange_ask ask = { .leg = fetch->list, .ids_only = true };
    struct exchange *second;

    if (!walk_look(fetch, &ask, found, err))
        return false;
    if (!finds_nothing(*found) || (*found)->answer.kind == ANSWER_EMPTY || !is_expected(fetch))
        return true;
    if (!look_again(fetch, &ask, found, &second, err))
        return false;
    *found = second;
    return true;
}

/* What the search captured leads to the records. */
static bool enter_history(struct fetch *fetch, const struct exchange *exchange, struct error *err)
{
    const struct listing *listing = &exchange->listing;

    if (!copy_history(fetch, listing, err))
        return false;
    fetch->has_history_total = listing->has_total;
    fetch->history_total = listing->total;
    fetch->legs[0].is_done = true;
    fetch->legs[0].end = PAGE_END_SINGLE;
    fetch->list = &fetch->legs[1];
    if (finds_nothing(exchange)) {
        fetch->legs[1].proof.has_total = listing->has_total;
        fetch->legs[1].is_done = true;
        fetch->legs[1].end = PAGE_END_EMPTY;
    }
    return true;
}

/* The first page of a slice tells whether it can be walked to its end. */
static bool is_over_cap(const struct fetch *fetch, const struct exchange *exchange)
{
    return fetch->list == &fetch->legs[0] && fetch->list->state.number == 0 &&
           fetch->order.can_reslice && exchange->listing.has_total &&
           page_is_over_cap(fetch->list->rules.cap > 0 ? &fetch->list->rules
                                                       : &fetch->legs[1].rules,
                            exchange->listing.total);
}

/* The sweep is over. Believed, or from the beginning. */
static bool end_sweep(struct fetch *fetch, struct error *err)
{
    const struct leg *leg = fetch->list;
    const struct proof_result result = proof_judge(&leg->proof, leg->end);

    /* A scroll that came back to where it was could not be asked a second time. */
    const bool is_mendable = leg->end == PAGE_CUT_LOOP && !leg->rules.replayable;

    if (result.verdict == PROOF_COMPLETE || (result.verdict == PROOF_CUT && !is_mendable) ||
        fetch->sweeps + 1 >= FETCH_SWEEPS_MAX)
        return true;
    fetch->sweeps++;
    return begin_again(fetch, err);
}

static void tell_place(const struct fetch *fetch, const struct leg *leg, struct fetch_batch *batch)
{
    const struct page_state *state = &leg->state;

    batch->has_page_no = leg->rules.type == PAGINATION_PAGE || leg->rules.type == PAGINATION_OFFSET;
    batch->page_no = leg->rules.type == PAGINATION_PAGE ? state->page_no : state->number;
    batch->page_size = state->size;
    if (leg->rules.replayable && fetch->sweeps == 0 && fetch->restarts == 0)
        batch->before = state->token;
}

static bool take_ids(struct fetch *fetch, const struct listing *listing, struct fetch_batch *batch,
                     struct error *err)
{
    const size_t before = fetch->queue.count;

    if (!walk_add_ids(fetch, listing->ids, listing->hash_count, err))
        return false;
    batch->id_count = fetch->queue.count - before;
    if (batch->id_count > 0)
        batch->ids = fetch->queue.items + before;
    return true;
}

static bool fill(struct fetch *fetch, struct exchange *exchange, struct fetch_batch *batch,
                 struct error *err)
{
    const struct listing *listing = &exchange->listing;

    fetch->counts.items = (int64_t)listing->items;
    fetch->counts.dropped = (int64_t)listing->dropped;
    if (fetch->mode == WALK_IDS)
        return take_ids(fetch, listing, batch, err);
    batch->records = listing->records.items;
    batch->record_count = listing->records.count;
    batch->bad = listing->bad.items;
    batch->bad_count = listing->bad.count;
    return true;
}

bool walk_page(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    struct page_decision decision;
    struct exchange *found;
    struct leg *leg;
    bool opens_history; /* the search before a history's pages: nothing is decided on it */

    for (;;) {
        leg = fetch->list;
        opens_history = fetch->mode == WALK_HISTORY && leg == &fetch->legs[0];
        batch->kind = fetch->mode == WALK_PAGES || leg == &fetch->legs[1] ? FETCH_PAGE : FETCH_IDS;
        tell_place(fetch, leg, batch);
        if (opens_history ? look_for_history(fetch, &found, err)
                          : look_and_decide(fetch, &found, &decision, err))
            break;
        fetch->current = found;
        if (!recover(fetch, found, err))
            return false;
        if (fetch->has_verdict)
            return true; /* a batch without records */
        if (fetch->list->is_done)
            return end_sweep(fetch, err);
        exchange_close(found);
        fetch->has_kept = false;
        arena_reset(walk_arena(fetch));
    }
    fetch->current = found;
    if (is_over_cap(fetch, found)) {
        fetch->list->proof.has_total = true;
        fetch->list->proof.total_last = found->listing.total;
        if (walk_ends_astray(fetch, &found->listing, true))
            return true;
        walk_reslice(fetch, RESLICE_OVER_CAP, (struct str){ 0 });
        return true;
    }
    if (opens_history)
        return enter_history(fetch, found, err);
    if (walk_ends_astray(fetch, &found->listing, false))
        return true;
    if (!fill(fetch, found, batch, err) || !accept(fetch, found, &decision, err))
        return false;
    return !leg->is_done || end_sweep(fetch, err);
}
