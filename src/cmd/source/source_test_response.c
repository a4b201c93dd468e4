/* The response of patra source test: requested, or read from a file. */
#include <unistd.h>

#include "adapter/auth/auth_http.h"
#include "adapter/curl/curl_http.h"
#include "adapter/system/system.h"
#include "cli/file.h"
#include "cmd/source/source_test.h"
#include "data/rate_hints.h"
#include "data/saved_response.h"
#include "engine/gate/gate.h"
#include "port/store_pause.h"

#define RESPONSE_BYTES_MAX ((size_t)64 << 20)
#define PERMIT_WAIT_MAX_US (30 * US_PER_SECOND)

static bool refuse_resting(struct source_test *test, struct error *err)
{
    const struct str code = test->source.registry.code;
    struct pause_list pauses;

    if (!store_pause_list(test->session.store, &test->session.arena, code, &pauses, err))
        return false;
    for (size_t i = 0; i < pauses.count; i++) {
        const struct pause *pause = &pauses.items[i];

        /* A stopped source may be tested: this request shows whether the cause was removed. */
        if (pause->kind == PAUSE_STOPPED)
            continue;
        if (pause->endpoint.len == 0 || str_eq(pause->endpoint, test->spec.endpoint.name))
            return error_set(
                err, ERROR_REQUEST, "source.resting",
                "%.*s is %.*s (%.*s); nothing was sent. To resume it: patra resume %.*s%s%.*s",
                STR_ARG(code), STR_ARG(code_of(&PAUSE_KIND_CODES, (int)pause->kind)),
                STR_ARG(pause->reason), STR_ARG(code), pause->endpoint.len > 0 ? "/" : "",
                STR_ARG(pause->endpoint));
    }
    return true;
}

/* Feeds the response back to the gate, as any other: a Retry-After holds back all processes. */
static void hear(struct source_test *test, const struct probe *probe, bool is_answered,
                 struct permit_feedback *feedback)
{
    const struct http_response *reply = &probe->reply;
    const bool is_throttled = reply->status == 429;
    const int64_t now_us = clock_now_us(&test->session.clock);
    const struct rate_hints hints = rate_hints_of(reply, is_throttled, now_us);

    feedback->requests = reply->attempts > 1 ? reply->attempts : 1;
    feedback->status = reply->status;
    feedback->is_quota = is_throttled && probe->endpoint->rate.meaning_429 == MEANING_429_QUOTA;
    feedback->signal = (struct bucket_signal){
        .outcome = is_throttled                           ? BUCKET_THROTTLED
                   : !is_answered || reply->status >= 500 ? BUCKET_FAILING
                                                          : BUCKET_OK,
        .now_us = now_us,
        .sent_at_us = feedback->signal.sent_at_us,
        .retry_after_us = hints.has_retry_after ? hints.retry_after_us : 0,
        .has_remaining = hints.has_remaining,
        .remaining = hints.remaining,
        .reset_at_us = hints.reset_at_us,
        .provider_rate = hints.provider_rate,
    };
}

static bool send_with(struct source_test *test, struct probe *probe, struct permit_gate *gate,
                      struct secret_source *secrets, struct error *err)
{
    struct auth_http_parts parts = { .secrets = secrets, .clock = &test->session.clock };
    const struct permit_request ask = { .endpoint = probe->endpoint, .may_wait = true };
    struct permit_feedback feedback = { .endpoint = probe->endpoint };
    struct permit permit = { 0 };
    struct http *http;
    bool ok = false;

    if (!auth_tokens_open(&parts.tokens, err))
        return false;
    if (!curl_http_open(NULL, &parts.inner, err))
        goto tokens;
    if (!auth_http_open(&parts, &http, err)) {
        http_close(parts.inner);
        goto tokens;
    }
    if (gate != NULL && !permit_gate_acquire(gate, &ask, &permit, err))
        goto http;
    if (gate != NULL && permit.decision != RATE_ALLOW) {
        (void)error_set(err, ERROR_TRANSIENT, "source.rate",
                        "the rate gate has no permit within %d s: other processes use them, or the "
                        "source wants a pause",
                        (int)(PERMIT_WAIT_MAX_US / US_PER_SECOND));
        goto http;
    }
    feedback.signal.sent_at_us = clock_now_us(&test->session.clock);
    ok = probe_send(probe, http, err);
    hear(test, probe, ok, &feedback);
    if (gate != NULL)
        permit_gate_feedback(gate, &feedback);
http:
    http_close(http);
tokens:
    auth_tokens_close(parts.tokens);
    return ok;
}

bool source_test_send(struct source_test *test, struct probe *probe, struct secret_source *secrets,
                      struct error *err)
{
    struct random_source random = system_random();
    struct gate_parts parts = { .clock = &test->session.clock,
                                .random = &random,
                                .secrets = secrets,
                                .owner = STR("patra source test"),
                                .wake_fd = CLOCK_NO_WAKE };
    struct gate *gate = NULL;
    bool ok = false;

    if (test->session.store == NULL)
        return send_with(test, probe, NULL, secrets, err);
    if (!refuse_resting(test, err) || !gate_pool_open(&parts.pool, err))
        return false;
    if (!store_another(test->session.store, &parts.store, err))
        goto pool;
    if (!gate_open(&gate, &parts, err))
        goto store;
    gate_begin(gate, &(struct gate_task){ .source = test->source.registry.code,
                                          .operation = test->spec.operation.operation,
                                          .wait_max_us = PERMIT_WAIT_MAX_US });
    ok = send_with(test, probe, gate_port(gate), secrets, err);
    gate_close(gate);
store:
    store_close(parts.store);
pool:
    gate_pool_close(parts.pool);
    return ok;
}

bool source_test_read(struct source_test *test, const char *path, struct http_response *reply,
                      struct error *err)
{
    struct arena *arena = &test->session.arena;
    const struct str beside = arena_printf(arena, "%s.head", path);
    struct saved_response saved = { 0 };

    if (beside.data == NULL)
        return arena_error(arena, err);
    if (!file_read(arena, path, RESPONSE_BYTES_MAX, &saved.text, err) ||
        (access(beside.data, R_OK) == 0 &&
         !file_read(arena, beside.data, RESPONSE_BYTES_MAX, &saved.head, err)))
        return false;
    return saved_response_read(&saved, arena, reply, err) ||
           error_wrap(err, "%s", saved.head.len > 0 ? beside.data : path);
}
