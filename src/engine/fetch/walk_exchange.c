/* One request until there is a response:
 *
 *      permit ─ render ─ send ─┬─ good ──────────────────────────────▶ listing
 *        ▲                     ├─ L1: wait, then retry ─╮
 *        ╰─────────────────────┼────────────────────────╯
 *                              ╰─ anything else ─────────────────────▶ the caller
 *
 * Each attempt has its own permit, and the gate gets feedback on each attempt.
 */
#include "engine/fetch/walk.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/clock_jump.h"
#include "data/http_date.h"
#include "data/http_fault.h"
#include "engine/fetch/digest.h"
#include "engine/source/retry_policy.h"

/* ---- sending ---- */

static void note_sent(const struct fetch *fetch, struct exchange *exchange)
{
    exchange->is_sent = true;
    exchange->sent_us = clock_now_us(fetch->parts.clock);
    exchange->started_us = clock_monotonic_us(fetch->parts.clock);
}

/* The request for a token, under the permit of the request that needs it, which gets another. */
static bool request_token(struct fetch *fetch, const struct exchange_request *request,
                          struct exchange *exchange, struct error *err)
{
    struct exchange token = { .permit = exchange->permit };

    note_sent(fetch, exchange);
    if (!http_make_ready(fetch->parts.http, &fetch->request.http, err))
        return false;
    token.is_sent = true;
    token.sent_us = exchange->sent_us;
    exchange_feedback(fetch, &token, NULL);
    fetch->totals.requests++;
    fetch->counts.requests++;
    exchange->is_sent = false;
    exchange->lacks_permit =
        !exchange_acquire(fetch, request->phase->endpoint, &exchange->permit, err);
    return !exchange->lacks_permit;
}

/* A token that is good for no longer than a permit takes is sent all the same. */
enum { TOKENS_MAX = 4 };

/* Renders the request until it needs no other request before it. */
static bool render_ready(struct fetch *fetch, const struct exchange_request *request,
                         struct exchange *exchange, struct arena *arena, struct error *err)
{
    for (int tokens = 0;; tokens++) {
        if (!exchange_render(fetch, request, &exchange->permit, fetch->handout.batch_no, arena,
                             err))
            return false;
        if (tokens == TOKENS_MAX || http_is_ready(fetch->parts.http, &fetch->request.http))
            return true;
        if (!request_token(fetch, request, exchange, err))
            return false;
        arena_wipe(&fetch->memory.scratch);
    }
}

static bool render_and_send(struct fetch *fetch, const struct exchange_request *request,
                            struct exchange *exchange, struct error *err)
{
    if (!render_ready(fetch, request, exchange, walk_arena(fetch), err))
        return false;
    exchange->request_digest = fetch->request.digest;
    exchange->request_kept = fetch->request_kept;
    exchange->title = http_title(&fetch->request.http, fetch->request.http.url);
    if (exchange_url_is_too_long(fetch, request)) {
        exchange->response.kind = RESPONSE_OVERSIZED;
        exchange->is_url_too_long = true;
        return error_set(err, ERROR_REQUEST, "fetch.url", "%zu ids make a URL of %zu bytes",
                         request->id_count, fetch->request.http.url.len);
    }
    note_sent(fetch, exchange);
    return http_send(fetch->parts.http, walk_arena(fetch), &fetch->request.http, &exchange->reply,
                     err);
}

/* Beside those of the source; a stream is not to be coded, because what is kept of it is a place in
 * the file. */
static bool add_headers(struct fetch *fetch, const struct exchange_request *request,
                        struct error *err)
{
    struct http_request *http = &fetch->request.http;
    struct http_header *headers = ARENA_ARRAY(&fetch->memory.scratch, struct http_header,
                                              http->header_count + request->extra_count);

    if (headers == NULL)
        return arena_error(&fetch->memory.scratch, err);
    for (size_t i = 0; i < http->header_count; i++)
        headers[i] = http->headers[i];
    for (size_t i = 0; i < request->extra_count; i++)
        headers[http->header_count + i] = request->extra[i];
    http->headers = headers;
    http->header_count += request->extra_count;
    http->no_compression = true;
    return true;
}

static bool render_and_open(struct fetch *fetch, const struct exchange_request *request,
                            struct exchange *exchange, struct error *err)
{
    struct arena *head = &fetch->bulk.head;

    arena_reset(head);
    if (!render_ready(fetch, request, exchange, head, err) || !add_headers(fetch, request, err))
        return false;
    exchange->request_digest = fetch->request.digest;
    exchange->request_kept = fetch->request_kept;
    exchange->title = http_title(&fetch->request.http, fetch->request.http.url);
    note_sent(fetch, exchange);
    return http_open(fetch->parts.http, head, &fetch->request.http, &exchange->stream,
                     &exchange->reply, err);
}

static void count_reply(struct fetch *fetch, struct exchange *exchange)
{
    const struct http_response *reply = &exchange->reply;
    const int64_t latency_us = clock_monotonic_us(fetch->parts.clock) - exchange->started_us;
    const int sent = exchange_requests(reply);

    exchange->took_us = latency_us;
    fetch->totals.requests += sent;
    fetch->counts.requests += sent;
    fetch->counts.bytes += reply->wire_bytes > 0 ? reply->wire_bytes : (int64_t)reply->body.len;
    fetch->counts.latency_us = latency_us;
    if (latency_us > fetch->counts.latency_max_us)
        fetch->counts.latency_max_us = latency_us;
    fetch->counts.status = reply->status;
}

/* Waits for the request under way; the exchange becomes that request's. */
static bool prefetch_take(struct prefetch *prefetch, struct exchange *exchange, struct error *err)
{
    struct http_ticket *ticket = prefetch->ticket;
    struct http_response reply;
    bool ok;

    prefetch->ticket = NULL;
    ok = http_wait(ticket, &reply, err);
    *exchange = prefetch->begun; /* and what was read of it early */
    exchange->reply = reply;
    return ok;
}

/* The request under way, or else a new one under a permit of its own. */
static bool send_request(struct fetch *fetch, const struct exchange_request *request,
                         struct exchange *exchange, struct error *err)
{
    bool ok;

    if (fetch->prefetch.ticket != NULL)
        ok = prefetch_take(&fetch->prefetch, exchange, err);
    else {
        ok =
            (request->is_stream ? render_and_open : render_and_send)(fetch, request, exchange, err);
        arena_wipe(&fetch->memory.scratch);
    }
    if (exchange->is_sent)
        count_reply(fetch, exchange);
    return ok;
}

/* ---- failures ---- */

void exchange_mask_error(const struct fetch *fetch, const struct exchange_request *request,
                         struct error *err)
{
    const struct request_mask mask = { &request->phase->form, fetch->parts.secrets,
                                       fetch->parts.http };

    err->text[request_mask_text(&mask, err->text, strlen(err->text))] = '\0';
}

static void mask_failure(struct fetch *fetch, const struct exchange_request *request,
                         struct exchange *exchange, struct error *err)
{
    const struct request_mask mask = { &request->phase->form, fetch->parts.secrets,
                                       fetch->parts.http };
    const struct str body = str_slice(exchange->reply.body, 0, DIGEST_TEXT_BYTES);
    char *excerpt = arena_alloc(walk_arena(fetch), body.len);

    exchange_mask_error(fetch, request, err);
    if (excerpt == NULL || body.len == 0)
        return;
    memcpy(excerpt, body.data, body.len);
    exchange->response.excerpt =
        (struct str){ excerpt, request_mask_text(&mask, excerpt, body.len) };
}

/* A date further off is not that of a clock: some servers send a fixed one. */
#define DATE_OFF_MAX_US (31 * US_PER_DAY)

/* A list cannot have what came after it was made: by the server now, or earlier, by a cache. */
static void note_date(struct fetch *fetch, const struct exchange_request *request,
                      const struct exchange *exchange)
{
    const int64_t now_us = clock_now_us(fetch->parts.clock);
    int64_t *dated_us = &fetch->totals.dated_us;
    int64_t at_us;

    if (request->phase == &fetch->phases[0] &&
        http_date_parse(http_header_value(exchange->reply.headers, STR("Date")), now_us, &at_us) &&
        now_us - at_us > CLOCK_STEP_MAX_US && now_us - at_us <= DATE_OFF_MAX_US &&
        (*dated_us == 0 || at_us < *dated_us))
        *dated_us = at_us;
}

static bool read_reply(struct fetch *fetch, const struct exchange_request *request,
                       struct exchange *exchange, struct error *err)
{
    const bool ok = exchange_read_once(fetch, request, exchange, err);

    if (ok)
        note_date(fetch, request, exchange);
    if (!ok && exchange_was_too_fast(exchange)) {
        fetch->counts.throttled++;
        fetch->totals.throttled++;
    }
    return ok;
}

static bool try_once(struct fetch *fetch, const struct exchange_request *request,
                     struct exchange *exchange, struct error *err)
{
    const struct spec_endpoint *endpoint = request->phase->endpoint;
    bool ok;

    exchange_close(exchange);
    *exchange = (struct exchange){ .arena = walk_arena(fetch), .response.kind = RESPONSE_ERROR };
    if (fetch->prefetch.ticket == NULL &&
        !exchange_acquire(fetch, endpoint, &exchange->permit, err))
        return false;
    ok = send_request(fetch, request, exchange, err);
    if (ok && exchange->stream != NULL) {
        exchange->response.kind = RESPONSE_PAGE;
        return true;
    }
    if (ok)
        ok = read_reply(fetch, request, exchange, err);
    else if (exchange->is_sent)
        exchange->response.kind = response_kind_of_failure(err);
    if (!ok)
        mask_failure(fetch, request, exchange, err);
    if (!exchange->lacks_permit)
        exchange_feedback(fetch, exchange, ok ? NULL : err);
    return ok;
}

/* ---- retrying ---- */

/* The error's text begins with the request, which the batch has anyway. */
static void note_attempt(struct fetch *fetch, const struct exchange_request *request,
                         const struct exchange *exchange, const struct error *err)
{
    const struct rate_hints *hints = &exchange->response.hints;
    const struct str title = str_of(exchange->title.text);
    struct str text = str_of(err->text);

    if (!exchange->is_sent)
        return;
    if (title.len > 0 && str_starts(text, title) && text.len > title.len + 2)
        text = str_slice(text, title.len + 2, text.len);
    attempts_add(&fetch->attempts,
                 (struct attempt_made){ .at_us = exchange->sent_us,
                                        .status = exchange->reply.status,
                                        .bytes = (int64_t)exchange->reply.body.len,
                                        .took_us = exchange->took_us,
                                        .has_retry_after = hints->has_retry_after,
                                        .retry_after_us = hints->retry_after_us,
                                        .id_count = request->id_count,
                                        .code = err->code },
                 text);
}

void exchange_note_doubtful(struct fetch *fetch, const struct exchange_request *request,
                            const struct exchange *exchange)
{
    char text[ATTEMPT_TEXT_MAX];

    (void)snprintf(text, sizeof(text), "status %d: %zu items, %zu of them good",
                   exchange->reply.status, exchange->listing.items,
                   exchange->listing.records.count + exchange->listing.dropped);
    attempts_add(&fetch->attempts,
                 (struct attempt_made){ .at_us = exchange->sent_us,
                                        .status = exchange->reply.status,
                                        .bytes = (int64_t)exchange->reply.body.len,
                                        .took_us = exchange->took_us,
                                        .then = ATTEMPT_CONFIRM,
                                        .id_count = request->id_count,
                                        .code = "fetch.confirm" },
                 str_of(text));
}

/* A scroll has moved on even if its response was lost. Only a refusal leaves it in place. */
static bool is_page_lost(const struct exchange_request *request, const struct exchange *exchange)
{
    return exchange_is_page(request) && !request->phase->rules.replayable &&
           request->phase->state.number > 0 && exchange->response.kind != RESPONSE_THROTTLED;
}

static bool may_retry(const struct exchange_request *request, struct exchange *exchange,
                      int attempts, const struct error *err)
{
    const struct spec_retry *retry = &request->phase->endpoint->retry;
    const struct retry_policy policy = retry_policy_of(retry);

    if (!exchange->is_sent || http_error_is_cancelled(err))
        return false;
    if (is_page_lost(request, exchange)) {
        exchange->is_lost = err->level == ERROR_TRANSIENT || listing_error_may_pass(err);
        return false;
    }
    if (listing_error_may_pass(err))
        return attempts == 1;
    if (exchange->response.kind != RESPONSE_ERROR && exchange->response.kind != RESPONSE_THROTTLED)
        return false;
    if (exchange->reply.status == 0 && !retry->on_timeout)
        return false;
    return retry_may(&policy, err->level, attempts);
}

/* False where the wait is too long (err then stays as it is) or was cancelled. */
static bool wait_before_retry(struct fetch *fetch, const struct exchange_request *request,
                              const struct rate_hints *hints, int attempts, struct error *err)
{
    const struct retry_policy policy = retry_policy_of(&request->phase->endpoint->retry);
    const int64_t wait_max_us =
        fetch->order.wait_max_us > 0 ? fetch->order.wait_max_us : WALK_WAIT_MAX_US;
    const int64_t asked_us = hints->has_retry_after ? hints->retry_after_us : 0;
    const int64_t delay_us =
        retry_delay_us(&policy, attempts, random_source_u64(fetch->parts.random), asked_us);
    const struct walk_retry retry = { clock_now_us(fetch->parts.clock) + delay_us,
                                      asked_us > 0 ? WAIT_RETRY_AFTER : WAIT_BACKOFF };

    if (delay_us > wait_max_us) {
        fetch->retry = retry;
        return false;
    }
    fetch->counts.waited_us += delay_us;
    attempts_followed(&fetch->attempts, asked_us > 0 ? ATTEMPT_RETRY_AFTER : ATTEMPT_BACKOFF,
                      delay_us);
    if (fetch->parts.waiter != NULL)
        fetch->parts.waiter->wait(fetch->parts.waiter, retry.at_us, retry.reason);
    return clock_sleep_us(fetch->parts.clock, delay_us, fetch->parts.wake_fd) ||
           permit_wait_cancelled(err);
}

/* A quota that is used up says when to come back. */
static void note_quota_reset(struct fetch *fetch, const struct exchange *exchange)
{
    const struct rate_hints *hints = &exchange->response.hints;

    if (exchange->response.kind != RESPONSE_QUOTA || fetch->retry.at_us != 0)
        return;
    fetch->retry.reason = WAIT_QUOTA;
    if (hints->has_retry_after)
        fetch->retry.at_us = clock_now_us(fetch->parts.clock) + hints->retry_after_us;
    else
        fetch->retry.at_us = hints->reset_at_us;
}

/* The source refused the credential, or its quota is used up, and there is another one: the same
 * request is sent at once with that one. The source has done nothing with it. */
static bool can_change_credential(const struct exchange_request *request,
                                  const struct exchange *exchange, const struct error *err)
{
    return exchange_credential_refused(exchange, err) ||
           (request->phase->endpoint->variant_count > 1 &&
            exchange->response.kind == RESPONSE_QUOTA);
}

/* The document of a response that was refused for its content is still open, in the arena. */
static void next_attempt(struct fetch *fetch, struct exchange *exchange)
{
    fetch->counts.retries++;
    exchange_close(exchange);
    if (!fetch->memory.keeps_first)
        arena_reset(walk_arena(fetch));
}

bool exchange_run(struct fetch *fetch, const struct exchange_request *request,
                  struct exchange *exchange, struct error *err)
{
    size_t changes = 0; /* of the credential */

    fetch->totals.spent += exchange_is_page(request);
    for (int attempts = 1;; attempts++) {
        if (try_once(fetch, request, exchange, err))
            return true;
        note_attempt(fetch, request, exchange, err);
        if (can_change_credential(request, exchange, err) &&
            changes++ < request->phase->endpoint->variant_count) {
            attempts--;
            attempts_followed(&fetch->attempts, ATTEMPT_CREDENTIAL, 0);
            next_attempt(fetch, exchange);
            continue;
        }
        if (!may_retry(request, exchange, attempts, err) ||
            !wait_before_retry(fetch, request, &exchange->response.hints, attempts, err))
            break;
        next_attempt(fetch, exchange);
    }
    note_quota_reset(fetch, exchange);
    return false;
}

bool exchange_wait(struct fetch *fetch, const struct exchange_request *request,
                   const struct exchange *opened, int failures, struct error *err)
{
    const struct retry_policy policy = retry_policy_of(&request->phase->endpoint->retry);
    const struct rate_hints none = { 0 };

    note_attempt(fetch, request, opened, err);
    if (http_error_is_cancelled(err) || !request->phase->endpoint->retry.on_timeout ||
        !retry_may(&policy, err->level, failures))
        return false;
    fetch->counts.retries++;
    return wait_before_retry(fetch, request, &none, failures, err);
}

void exchange_close(struct exchange *exchange)
{
    response_close(&exchange->response);
    http_end(exchange->stream);
    exchange->stream = NULL;
}

void exchange_discard(struct fetch *fetch, struct exchange *exchange)
{
    exchange_close(exchange);
    fetch->memory.keeps_first = false;
    arena_reset(walk_arena(fetch));
}

/* ---- the request after this batch, sent while the caller stores the batch ---- */

/* All is noted before it starts: its response may be read at once. */
static bool start_early(struct fetch *fetch, const struct exchange_request *request,
                        struct error *err)
{
    struct prefetch *prefetch = &fetch->prefetch;
    struct exchange *begun = &prefetch->begun;
    struct http_request *http = &fetch->request.http;

    begun->title = http_title(http, http->url);
    begun->request_digest = fetch->request.digest;
    begun->request_kept = fetch->request_kept;
    note_sent(fetch, begun);
    http->taker = prefetch_taker(fetch, request);
    return http_start(fetch->parts.http, begun->arena, http, &prefetch->ticket, err);
}

void prefetch_start(struct fetch *fetch, const struct exchange_request *request)
{
    const struct spec_endpoint *endpoint = request->phase->endpoint;
    const struct permit_request permit_request = { .endpoint = endpoint };
    struct arena *arena = &fetch->memory.pages[fetch->memory.turn ^ 1];
    struct prefetch *prefetch = &fetch->prefetch;
    struct exchange *begun = &prefetch->begun;
    struct error ignored; /* what fails now fails again, and is reported, in the exchange itself */

    assert(prefetch->ticket == NULL);
    *begun = (struct exchange){ .arena = arena, .response.kind = RESPONSE_ERROR };
    if (!permit_gate_acquire(fetch->parts.gate, &permit_request, &begun->permit, &ignored) ||
        begun->permit.decision != RATE_ALLOW)
        return;
    arena_reset(arena);
    /* The request belongs to the batch after those that this response is divided into. */
    if (!exchange_render(fetch, request, &begun->permit,
                         fetch->handout.batch_no + fetch->handout.part_count, arena, &ignored) ||
        exchange_url_is_too_long(fetch, request) ||
        !http_is_ready(fetch->parts.http, &fetch->request.http) ||
        !start_early(fetch, request, &ignored)) {
        prefetch->ticket = NULL;
        begun->is_sent = false;
        exchange_feedback(fetch, begun, NULL);
    }
    arena_wipe(&fetch->memory.scratch);
}

void prefetch_drop(struct fetch *fetch)
{
    struct prefetch *prefetch = &fetch->prefetch;

    if (prefetch->ticket == NULL)
        return;
    http_cancel(prefetch->ticket);
    prefetch->ticket = NULL;
    if (prefetch->read_body != NULL)
        response_close(&prefetch->begun.response);
    prefetch->read_body = NULL;
    exchange_feedback(fetch, &prefetch->begun, NULL);
}
