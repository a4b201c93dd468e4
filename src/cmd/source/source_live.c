/* Requests of a person who tries an API. */
#include "cmd/source/source_live.h"

#include "adapter/curl/curl_http.h"
#include "adapter/system/system.h"
#include "data/rate_hints.h"

#define PERMIT_WAIT_MAX_US (30 * US_PER_SECOND)

static bool open_gate(struct source_live *live, struct error *err)
{
    const struct source_live_input *input = &live->input;

    live->random = system_random();
    live->gate_parts = (struct gate_parts){ .clock = &input->session->clock,
                                            .random = &live->random,
                                            .secrets = input->secrets,
                                            .owner = input->owner,
                                            .wake_fd = CLOCK_NO_WAKE };
    if (!gate_pool_open(&live->gate_parts.pool, err) ||
        !store_another(input->session->store, &live->gate_parts.store, err) ||
        !gate_open(&live->gate, &live->gate_parts, err))
        return false;
    gate_begin(live->gate, &(struct gate_task){ .source = input->source,
                                                .operation = input->operation,
                                                .wait_max_us = PERMIT_WAIT_MAX_US });
    return true;
}

bool source_live_open(struct source_live *live, const struct source_live_input *input,
                      struct error *err)
{
    *live = (struct source_live){ .input = *input };
    live->auth =
        (struct auth_http_parts){ .secrets = input->secrets, .clock = &input->session->clock };
    if (!auth_tokens_open(&live->auth.tokens, err) || !curl_http_open(NULL, &live->auth.inner, err))
        return false;
    if (!auth_http_open(&live->auth, &live->http, err)) {
        http_close(live->auth.inner);
        return false;
    }
    return input->session->store == NULL || open_gate(live, err);
}

void source_live_close(struct source_live *live)
{
    gate_close(live->gate);
    store_close(live->gate_parts.store);
    gate_pool_close(live->gate_parts.pool);
    http_close(live->http);
    auth_tokens_close(live->auth.tokens);
    *live = (struct source_live){ 0 };
}

bool source_live_ask(struct source_live *live, const struct spec_endpoint *endpoint,
                     struct error *err)
{
    const struct permit_request ask = { .endpoint = endpoint, .may_wait = true };
    struct permit permit = { 0 };

    if (live->gate != NULL && !permit_gate_acquire(gate_port(live->gate), &ask, &permit, err))
        return false;
    if (live->gate != NULL && permit.decision != RATE_ALLOW)
        return error_set(
            err, ERROR_TRANSIENT, "source.rate",
            "the rate gate has no permit within %d s: other processes use them, or the "
            "source wants a pause",
            (int)(PERMIT_WAIT_MAX_US / US_PER_SECOND));
    live->sent_at_us = clock_now_us(&live->input.session->clock);
    return true;
}

void source_live_hear(struct source_live *live, const struct spec_endpoint *endpoint,
                      const struct http_response *reply, bool is_answered)
{
    const bool is_throttled = reply->status == 429;
    const int64_t now_us = clock_now_us(&live->input.session->clock);
    const struct rate_hints hints = rate_hints_of(reply, is_throttled, now_us);
    const struct permit_feedback feedback = {
        .endpoint = endpoint,
        .requests = reply->attempts > 1 ? reply->attempts : 1,
        .status = reply->status,
        .is_quota = is_throttled && endpoint->rate.meaning_429 == MEANING_429_QUOTA,
        .signal = {
            .outcome = is_throttled                           ? BUCKET_THROTTLED
                       : !is_answered || reply->status >= 500 ? BUCKET_FAILING
                                                              : BUCKET_OK,
            .now_us = now_us,
            .sent_at_us = live->sent_at_us,
            .retry_after_us = hints.has_retry_after ? hints.retry_after_us : 0,
            .has_remaining = hints.has_remaining,
            .remaining = hints.remaining,
            .reset_at_us = hints.reset_at_us,
            .provider_rate = hints.provider_rate,
        },
    };

    if (live->gate != NULL)
        permit_gate_feedback(gate_port(live->gate), &feedback);
}
