/* One request until it is answered:
 *
 *      permit ─ render ─ send ─┬─ good ──────────────────────────────▶ listing
 *        ▲                     ├─ L1: wait, and again ──╮
 *        ╰─────────────────────┼────────────────────────╯
 *                              ╰─ all else ──────────────────────────▶ the caller
 *
 * Each attempt has a permit of its own, and the gate is told how each one went.
 */
#include "engine/fetch/walk.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "engine/fetch/digest.h"
#include "engine/fetch/mask.h"
#include "engine/retry_policy.h"

/* A walk that waits longer than this gives its task back, unless the order says otherwise. */
#define WAIT_MAX_US US_PER_MINUTE

struct attempt {
    struct fetch *fetch;
    const struct exchange_ask *ask;
    struct exchange *exchange;
    struct http_title title;
    int64_t sent_us; /* calendar */
    bool is_sent;
};

/* ---- asking the gate, telling the gate ---- */

static bool acquire(struct fetch *fetch, const struct leg *leg, struct permit *permit,
                    struct error *err)
{
    const struct permit_request ask = { .endpoint = leg->endpoint,
                                        .may_wait = true,
                                        .waiter = fetch->parts.waiter };
    struct permit_gate *gate = fetch->parts.gate;

    if (!permit_gate_acquire(gate, &ask, permit, err))
        return error_wrap(err, "permit");
    fetch->counts.waited_us += permit->waited_us;
    if (permit->decision == RATE_ALLOW)
        return true;
    fetch->retry_at_us = permit->retry_at_us;
    fetch->retry_why = permit->why;
    return error_set(err, ERROR_TRANSIENT, "fetch.rejected",
                     "the rate gate has no permit in time (%.*s)",
                     STR_ARG(WAIT_WHY_CODES.items[permit->why].meaning));
}

static enum bucket_outcome outcome_of(const struct exchange *exchange, const struct error *failure)
{
    if (failure == NULL)
        return BUCKET_OK;
    if (exchange->answer.kind == ANSWER_THROTTLED || exchange->answer.kind == ANSWER_QUOTA)
        return BUCKET_THROTTLED;
    if (failure->level == ERROR_TRANSIENT &&
        (exchange->reply.status == 0 || exchange->reply.status >= 500))
        return BUCKET_FAILING;
    return BUCKET_OK; /* the source answers; what it says is another matter */
}

static void count_signal(struct fetch *fetch, const struct permit_feedback *feedback)
{
    fetch->counts.waits_told += feedback->signal.retry_after_us > 0;
    fetch->counts.quota_gone += feedback->is_quota;
    fetch->counts.slowed += feedback->signal.outcome != BUCKET_OK && !feedback->is_quota &&
                            feedback->endpoint->rate.adaptive;
}

/* Redirects are requests too. */
static int requests_of(const struct http_reply *reply)
{
    return (reply->attempts > 1 ? reply->attempts : 1) + reply->redirects;
}

static void give_feedback(const struct attempt *attempt, const struct error *failure)
{
    struct fetch *fetch = attempt->fetch;
    const struct exchange *exchange = attempt->exchange;
    const struct rate_hints *hints = &exchange->answer.hints;
    struct permit_feedback feedback = {
        .endpoint = attempt->ask->leg->endpoint,
        .is_quota = exchange->answer.kind == ANSWER_QUOTA,
        .status = exchange->reply.status,
    };

    if (attempt->is_sent)
        feedback.requests = requests_of(&exchange->reply);
    feedback.signal = (struct bucket_signal){
        .outcome = outcome_of(exchange, failure),
        .now_us = clock_now_us(fetch->parts.clock),
        .sent_at_us = attempt->sent_us,
        .retry_after_us = hints->has_retry_after ? hints->retry_after_us : 0,
        .has_remaining = hints->has_remaining,
        .remaining = hints->remaining,
        .reset_at_us = hints->reset_at_us,
        .provider_rate = hints->provider_rate,
    };
    count_signal(fetch, &feedback);
    permit_gate_feedback(fetch->parts.gate, &feedback);
}

/* ---- sending ---- */

/* "00-TRACE-SPAN-01": the order's trace, and a span of its own for each request, by chance. */
enum { TRACEPARENT_LEN = 55, SPAN_AT = 36, FLAGS_AT = 52 };

static struct str traceparent_of(const struct fetch *fetch, struct arena *arena)
{
    const struct str given = fetch->order.traceparent;

    if (given.len != TRACEPARENT_LEN)
        return given;
    return arena_printf(arena, "%.*s%016" PRIx64 "%.*s", STR_ARG(str_slice(given, 0, SPAN_AT)),
                        random_source_u64(fetch->parts.random) | 1,
                        STR_ARG(str_slice(given, FLAGS_AT, given.len)));
}

static bool render(struct fetch *fetch, const struct exchange_ask *ask, struct arena *arena,
                   struct error *err)
{
    const struct request_ask request_ask = {
        .form = &ask->leg->form,
        .secrets = fetch->parts.secrets,
        .slice = fetch->order.slice,
        .plan_id = fetch->order.plan_id,
        .state = &ask->leg->state,
        .window =
            ask->leg->rules.type == PAGINATION_TIME ? ask->leg->state.rest : walk_window(fetch),
        .ids = ask->ids,
        .id_count = ask->id_count,
        .history = fetch->history,
        .history_count = fetch->history_count,
        .correlation_id =
            arena_printf(arena, "ing-%" PRId64 "-%" PRId64, fetch->order.run_id, fetch->batch_no),
        .traceparent = traceparent_of(fetch, arena),
        .tracestate = fetch->order.tracestate,
        .now_us = clock_now_us(fetch->parts.clock),
    };

    if (request_ask.correlation_id.data == NULL)
        return arena_error(arena, err);
    if (!request_render(&fetch->request,
                        (struct request_memory){ .scratch = &fetch->scratch, .arena = arena },
                        &request_ask, err))
        return false;
    fetch->request.http.watch = fetch->parts.watch;
    return true;
}

static bool is_url_too_long(const struct fetch *fetch, const struct exchange_ask *ask)
{
    return ask->id_count > 1 && ask->leg->endpoint->method == HTTP_GET &&
           fetch->request.http.url.len > REQUEST_GET_URL_MAX;
}

static void count_reply(struct fetch *fetch, const struct http_reply *reply, int64_t started_us)
{
    const int64_t latency_us = clock_monotonic_us(fetch->parts.clock) - started_us;
    const int sent = requests_of(reply);

    fetch->requests += sent;
    fetch->counts.requests += sent;
    fetch->counts.bytes += reply->wire_bytes > 0 ? reply->wire_bytes : (int64_t)reply->body.len;
    fetch->counts.latency_us = latency_us;
    if (latency_us > fetch->counts.latency_max_us)
        fetch->counts.latency_max_us = latency_us;
    fetch->counts.status = reply->status;
}

static bool send_now(struct attempt *attempt, struct error *err)
{
    struct fetch *fetch = attempt->fetch;
    struct exchange *exchange = attempt->exchange;
    int64_t started_us;
    bool ok;

    if (!render(fetch, attempt->ask, walk_arena(fetch), err))
        goto fail;
    exchange->request_digest = fetch->request.digest;
    attempt->title = http_title(&fetch->request.http, fetch->request.http.url);
    if (is_url_too_long(fetch, attempt->ask)) {
        exchange->answer.kind = ANSWER_OVERSIZED;
        (void)error_set(err, ERROR_REQUEST, "fetch.url", "%zu ids make a URL of %zu bytes",
                        attempt->ask->id_count, fetch->request.http.url.len);
        goto fail;
    }
    attempt->is_sent = true;
    attempt->sent_us = clock_now_us(fetch->parts.clock);
    started_us = clock_monotonic_us(fetch->parts.clock);
    ok = http_send(fetch->parts.http, walk_arena(fetch), &fetch->request.http, &exchange->reply,
                   err);
    arena_wipe(&fetch->scratch);
    count_reply(fetch, &exchange->reply, started_us);
    return ok;
fail:
    arena_wipe(&fetch->scratch);
    return false;
}

static bool take_ticket(struct attempt *attempt, struct error *err)
{
    struct fetch *fetch = attempt->fetch;
    struct exchange *exchange = attempt->exchange;
    bool ok;

    exchange->request_digest = fetch->ticket_digest;
    exchange->permit = fetch->ticket_permit;
    attempt->sent_us = fetch->ticket_sent_us;
    attempt->is_sent = true;
    ok = http_wait(fetch->ticket, &exchange->reply, err);
    fetch->ticket = NULL;
    attempt->title = fetch->ticket_title;
    count_reply(fetch, &exchange->reply, fetch->ticket_started_us);
    return ok;
}

/* ---- reading ---- */

static bool read_listing(const struct attempt *attempt, struct error *err)
{
    struct fetch *fetch = attempt->fetch;
    struct exchange *exchange = attempt->exchange;
    struct leg *leg = attempt->ask->leg;
    const struct spec_window *window = &fetch->spec->endpoint.window;
    const struct listing_ask ask = {
        .reader = &leg->reader,
        .answer = &exchange->answer,
        .reply = &exchange->reply,
        .request_url =
            exchange->reply.url.len > 0 ? exchange->reply.url : leg->endpoint->http.base_url,
        .keep = walk_keep(fetch),
        .order = window->updated_since   ? LISTING_UNSORTED
                 : leg->rules.descending ? LISTING_NEWEST_FIRST
                                         : LISTING_OLDEST_FIRST,
        .ids_only = attempt->ask->ids_only,
    };

    if (!listing_read(&exchange->listing, walk_arena(fetch), &ask, err))
        return false;
    if (leg->rules.type != PAGINATION_URL || exchange->listing.next.data == NULL)
        return true;
    return request_clean_url(&leg->form, walk_arena(fetch), exchange->listing.next,
                             &exchange->listing.next, err);
}

static bool read_reply(const struct attempt *attempt, struct error *err)
{
    struct exchange *exchange = attempt->exchange;
    const struct answer_ask ask = {
        .reader = &attempt->ask->leg->reader,
        .reply = &exchange->reply,
        .now_us = clock_now_us(attempt->fetch->parts.clock),
    };

    if (!answer_read(&exchange->answer, walk_arena(attempt->fetch), &ask, err)) {
        const bool is_refused =
            exchange->answer.kind == ANSWER_THROTTLED || exchange->answer.kind == ANSWER_QUOTA;

        attempt->fetch->counts.throttled += is_refused;
        attempt->fetch->throttled += is_refused;
        return false;
    }
    return read_listing(attempt, err);
}

/* What is told of an answer that was no good must not repeat what was shown to the source. */
static void hush(const struct attempt *attempt, struct error *err)
{
    struct fetch *fetch = attempt->fetch;
    struct exchange *exchange = attempt->exchange;
    const struct mask mask = { &attempt->ask->leg->form, fetch->parts.secrets };
    const struct str body = str_slice(exchange->reply.body, 0, DIGEST_TEXT_BYTES);
    char *told = arena_alloc(walk_arena(fetch), body.len);

    err->text[mask_text(&mask, err->text, strlen(err->text))] = '\0';
    if (told == NULL || body.len == 0)
        return;
    memcpy(told, body.data, body.len);
    exchange->answer.told = (struct str){ told, mask_text(&mask, told, body.len) };
}

static bool try_once(struct attempt *attempt, struct error *err)
{
    struct fetch *fetch = attempt->fetch;
    struct exchange *exchange = attempt->exchange;
    bool ok;

    exchange_close(exchange);
    *exchange = (struct exchange){ 0 };
    exchange->answer.kind = ANSWER_ERROR;
    if (fetch->ticket != NULL)
        ok = take_ticket(attempt, err);
    else {
        if (!acquire(fetch, attempt->ask->leg, &exchange->permit, err))
            return false;
        ok = send_now(attempt, err);
    }
    if (ok) {
        ok = read_reply(attempt, err);
        if (!ok)
            (void)error_wrap(err, "%s", attempt->title.text);
    } else if (attempt->is_sent)
        exchange->answer.kind = answer_of_failure(err);
    if (!ok)
        hush(attempt, err);
    give_feedback(attempt, ok ? NULL : err);
    return ok;
}

/* ---- trying again ---- */

static bool is_code(const struct error *err, const char *code)
{
    return strcmp(err->code, code) == 0;
}

/* What a second look at the same page may mend, although its level says it can not. */
static bool is_odd(const struct error *err)
{
    return is_code(err, "page.next") || is_code(err, "listing.schema");
}

/* A scroll has moved on, whatever became of its answer; only a refusal leaves it where it was. */
static bool is_page_lost(const struct exchange_ask *ask, const struct exchange *exchange)
{
    return ask->id_count == 0 && !ask->leg->rules.replayable && ask->leg->state.number > 0 &&
           exchange->answer.kind != ANSWER_THROTTLED;
}

static bool may_retry(const struct attempt *attempt, int attempts, const struct error *err)
{
    struct exchange *exchange = attempt->exchange;
    const struct spec_retry *retry = &attempt->ask->leg->endpoint->retry;
    const struct retry_policy policy = retry_policy_of(retry);

    if (!attempt->is_sent || is_code(err, "http.cancelled"))
        return false;
    if (is_page_lost(attempt->ask, exchange)) {
        exchange->is_lost = err->level == ERROR_TRANSIENT || is_odd(err);
        return false;
    }
    if (is_odd(err))
        return attempts == 1;
    if (exchange->answer.kind != ANSWER_ERROR && exchange->answer.kind != ANSWER_THROTTLED)
        return false;
    if (exchange->reply.status == 0 && !retry->on_timeout)
        return false;
    return retry_may(&policy, err->level, attempts);
}

static bool pause_between(const struct attempt *attempt, int attempts, struct error *err)
{
    struct fetch *fetch = attempt->fetch;
    const struct retry_policy policy = retry_policy_of(&attempt->ask->leg->endpoint->retry);
    const struct rate_hints *hints = &attempt->exchange->answer.hints;
    const int64_t wait_max_us =
        fetch->order.wait_max_us > 0 ? fetch->order.wait_max_us : WAIT_MAX_US;
    const int64_t delay_us =
        retry_delay_us(&policy, attempts, random_source_u64(fetch->parts.random),
                       hints->has_retry_after ? hints->retry_after_us : 0);
    const enum wait_why why =
        hints->has_retry_after && hints->retry_after_us > 0 ? WAIT_RETRY_AFTER : WAIT_BACKOFF;
    const int64_t until_us = clock_now_us(fetch->parts.clock) + delay_us;

    if (delay_us > wait_max_us) {
        fetch->retry_at_us = until_us;
        fetch->retry_why = why;
        return false;
    }
    fetch->counts.waited_us += delay_us;
    if (fetch->parts.waiter != NULL)
        fetch->parts.waiter->wait(fetch->parts.waiter, until_us, why);
    if (clock_sleep_us(fetch->parts.clock, delay_us, fetch->parts.wake_fd))
        return true;
    return permit_wait_cancelled(err);
}

/* When a failure tells by itself when to come back. */
static void note_retry_at(struct fetch *fetch, const struct exchange *exchange)
{
    const struct rate_hints *hints = &exchange->answer.hints;

    if (exchange->answer.kind != ANSWER_QUOTA || fetch->retry_at_us != 0)
        return;
    fetch->retry_why = WAIT_QUOTA;
    if (hints->has_retry_after)
        fetch->retry_at_us = clock_now_us(fetch->parts.clock) + hints->retry_after_us;
    else
        fetch->retry_at_us = hints->reset_at_us;
}

bool walk_exchange(struct fetch *fetch, const struct exchange_ask *ask, struct exchange *exchange,
                   struct error *err)
{
    struct attempt attempt = { .fetch = fetch, .ask = ask, .exchange = exchange };

    for (int attempts = 1;; attempts++) {
        attempt.is_sent = false;
        if (try_once(&attempt, err))
            return true;
        if (!may_retry(&attempt, attempts, err) || !pause_between(&attempt, attempts, err))
            break;
        fetch->counts.retries++;
        if (!fetch->has_kept)
            arena_reset(walk_arena(fetch));
    }
    note_retry_at(fetch, exchange);
    return false;
}

void exchange_close(struct exchange *exchange)
{
    answer_close(&exchange->answer);
}

bool walk_look(struct fetch *fetch, const struct exchange_ask *ask, struct exchange **result,
               struct error *err)
{
    struct exchange *first = &fetch->exchanges[0], *second = &fetch->exchanges[1];
    const bool may_repeat = ask->id_count > 0 || ask->leg->rules.replayable;
    bool is_odd_page, is_bare;

    *result = first;
    if (!walk_exchange(fetch, ask, first, err))
        return false;
    is_odd_page = (first->listing.bad.count > 0 || first->listing.unnamed > 0) && may_repeat &&
                  fetch->second_looks < FETCH_SECOND_LOOKS_MAX;
    /* One id may be gone; that a whole batch of them is gone, nobody believes at once. */
    is_bare = ask->id_count > 1 && first->listing.items == 0 && first->answer.kind != ANSWER_EMPTY;
    if (!is_odd_page && !is_bare)
        return true;
    fetch->second_looks += is_odd_page;
    fetch->counts.asked_again = true;
    fetch->has_kept = true;
    if (!walk_exchange(fetch, ask, second, err))
        return true; /* the first answer is good enough; the gate knows of the failure */
    if (second->listing.records.count + second->listing.dropped >=
            first->listing.records.count + first->listing.dropped &&
        second->listing.items >= first->listing.items)
        *result = second;
    return true;
}

/* ---- ahead of time ---- */

void walk_prefetch(struct fetch *fetch, const struct exchange_ask *ask)
{
    struct arena *arena = &fetch->pages[fetch->turn ^ 1];
    const struct permit_request permit_ask = { .endpoint = ask->leg->endpoint };
    struct permit_gate *gate = fetch->parts.gate;
    struct permit permit = { 0 };
    struct error ignored; /* what fails now will fail again, and be told, when it is waited for */
    struct exchange none = { 0 };
    struct attempt attempt = { .fetch = fetch, .ask = ask, .exchange = &none };

    assert(fetch->ticket == NULL);
    if (!permit_gate_acquire(gate, &permit_ask, &permit, &ignored) || permit.decision != RATE_ALLOW)
        return;
    arena_reset(arena);
    fetch->batch_no += fetch->part_count; /* the request is of the batch behind these */
    if (render(fetch, ask, arena, &ignored) && !is_url_too_long(fetch, ask) &&
        http_start(fetch->parts.http, arena, &fetch->request.http, &fetch->ticket, &ignored)) {
        fetch->ticket_leg = ask->leg;
        fetch->ticket_title = http_title(&fetch->request.http, fetch->request.http.url);
        fetch->ticket_digest = fetch->request.digest;
        fetch->ticket_permit = permit;
        fetch->ticket_sent_us = clock_now_us(fetch->parts.clock);
        fetch->ticket_started_us = clock_monotonic_us(fetch->parts.clock);
    } else {
        fetch->ticket = NULL;
        give_feedback(&attempt, NULL);
    }
    fetch->batch_no -= fetch->part_count;
    arena_wipe(&fetch->scratch);
}

void walk_drop_prefetch(struct fetch *fetch)
{
    const struct exchange_ask ask = { .leg = fetch->ticket_leg };
    struct exchange none = { 0 };
    const struct attempt attempt = { .fetch = fetch,
                                     .ask = &ask,
                                     .exchange = &none,
                                     .sent_us = fetch->ticket_sent_us,
                                     .is_sent = true };

    if (fetch->ticket == NULL)
        return;
    http_cancel(fetch->ticket);
    fetch->ticket = NULL;
    give_feedback(&attempt, NULL);
}
