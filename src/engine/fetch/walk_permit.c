/* A request and the rate gate: the permit before it, and the report after it. */
#include "engine/fetch/walk.h"

#include "data/http_fault.h"

bool exchange_acquire(struct fetch *fetch, const struct spec_endpoint *endpoint,
                      struct permit *permit, struct error *err)
{
    const struct permit_request request = { .endpoint = endpoint,
                                            .may_wait = true,
                                            .waiter = fetch->parts.waiter };

    if (!permit_gate_acquire(fetch->parts.gate, &request, permit, err))
        return error_wrap(err, "permit");
    fetch->counts.waited_us += permit->waited_us;
    if (permit->decision == RATE_ALLOW)
        return true;
    fetch->retry = (struct walk_retry){ permit->retry_at_us, permit->reason };
    return error_set(err, ERROR_TRANSIENT, "fetch.rejected",
                     "the rate gate has no permit in time (%.*s)",
                     STR_ARG(WAIT_REASON_CODES.items[permit->reason].meaning));
}

bool exchange_was_too_fast(const struct exchange *exchange)
{
    return exchange->response.kind == RESPONSE_THROTTLED ||
           exchange->response.kind == RESPONSE_QUOTA;
}

static enum bucket_outcome outcome_of(const struct exchange *exchange, const struct error *failure)
{
    if (failure == NULL)
        return BUCKET_OK;
    if (exchange_was_too_fast(exchange))
        return BUCKET_THROTTLED;
    if (failure->level == ERROR_TRANSIENT &&
        (exchange->reply.status == 0 || exchange->reply.status >= 500))
        return BUCKET_FAILING;
    return BUCKET_OK; /* the source responds; what it says does not concern the gate */
}

static void count_signal(struct fetch_counts *counts, const struct permit_feedback *feedback)
{
    counts->retry_afters += feedback->signal.retry_after_us > 0;
    counts->quota_gone += feedback->is_quota;
    counts->slowed += feedback->signal.outcome != BUCKET_OK && !feedback->is_quota &&
                      feedback->endpoint->rate.adaptive;
}

bool exchange_credential_refused(const struct exchange *exchange, const struct error *failure)
{
    return failure != NULL && exchange->permit.has_other &&
           (exchange->reply.status == 401 || exchange->reply.status == 403);
}

/* The source says so. One that reports that nothing remains for longer than a walk would wait says
 * the same of the credential, which matters where there is another. */
static bool is_quota_gone(const struct exchange *exchange, int64_t now_us)
{
    const struct rate_hints *hints = &exchange->response.hints;

    return exchange->response.kind == RESPONSE_QUOTA ||
           (exchange->permit.has_other && hints->has_remaining && hints->remaining <= 0 &&
            hints->reset_at_us > now_us + WALK_WAIT_MAX_US);
}

int exchange_requests(const struct http_response *reply)
{
    return (reply->attempts > 1 ? reply->attempts : 1) + reply->redirects;
}

/* A request that was given up is not over for the server, which may work on it as long again. */
static int64_t busy_us_of(const struct exchange *exchange, const struct error *failure)
{
    return failure != NULL && exchange->is_sent && http_error_is_late(failure) ? exchange->took_us
                                                                               : 0;
}

void exchange_feedback(struct fetch *fetch, const struct exchange *exchange,
                       const struct error *failure)
{
    const struct rate_hints *hints = &exchange->response.hints;
    const struct permit_feedback report = {
        .endpoint = exchange->permit.endpoint,
        .signal = { .outcome = outcome_of(exchange, failure),
                    .now_us = clock_now_us(fetch->parts.clock),
                    .sent_at_us = exchange->sent_us,
                    .retry_after_us = hints->has_retry_after ? hints->retry_after_us : 0,
                    .has_remaining = hints->has_remaining,
                    .remaining = hints->remaining,
                    .reset_at_us = hints->reset_at_us,
                    .provider_rate = hints->provider_rate },
        .is_quota = is_quota_gone(exchange, clock_now_us(fetch->parts.clock)),
        .is_refused = exchange_credential_refused(exchange, failure),
        .requests = exchange->is_sent ? exchange_requests(&exchange->reply) : 0,
        .status = exchange->reply.status,
        .busy_us = busy_us_of(exchange, failure),
    };

    count_signal(&fetch->counts, &report);
    permit_gate_feedback(fetch->parts.gate, &report);
}
