/* Answers that are kept under a key of the client's. */
#include "serve/once.h"

#include "data/hash.h"

enum { KEY_MAX = 255 };

static bool hash_request(struct call *call, struct str *hex, struct error *err)
{
    const struct web_request *request = call->request;
    char text[HASH_HEX_MAX];
    struct hash_sum sum;
    struct hash hash;

    hash_init(&hash);
    hash_add(&hash, request->method);
    hash_add(&hash, STR("\n"));
    hash_add(&hash, request->target);
    hash_add(&hash, STR("\n"));
    hash_add(&hash, request->body);
    if (!hash_end(&hash, &sum, err))
        return false;
    hash_hex(&sum, text);
    *hex = arena_copy(call->reader.arena, str_of(text));
    return hex->data != NULL || arena_error(call->reader.arena, err);
}

static bool judge(struct call *call, struct once *once, const struct token_answer *found,
                  struct error *err)
{
    if (!str_eq(found->request_hash, once->answer.request_hash))
        return error_set(err, ERROR_REQUEST, "idempotency.key",
                         "this Idempotency-Key was used with another request");
    if (found->status == 0)
        return error_set(err, ERROR_REQUEST, "idempotency.busy",
                         "the first request under this Idempotency-Key is under way");
    once->is_replayed = true;
    call->response->status = (int)found->status;
    call->response->body = found->body;
    web_header_add(call->response, STR("Content-Type"),
                   found->status >= 400 ? STR("application/problem+json")
                                        : STR("application/json"));
    web_header_add(call->response, STR("Idempotent-Replayed"), STR("true"));
    return true;
}

bool once_begin(struct call *call, struct once *once, struct error *err)
{
    const struct str key = call->request->idempotency_key;
    struct token_answer found;
    bool begun;

    *once = (struct once){ .is_used = key.data != NULL && call->route->access == ROUTE_CHANGES };
    if (!once->is_used)
        return true;
    if (key.len == 0 || key.len > KEY_MAX || !str_is_utf8(key))
        return error_set(err, ERROR_REQUEST, "idempotency.key",
                         "an Idempotency-Key has 1 to %d characters", KEY_MAX);
    once->answer = (struct token_answer){ .selector = call->access.token.selector,
                                          .key = key,
                                          .created_us = call->reader.now_us };
    if (!hash_request(call, &once->answer.request_hash, err) ||
        !store_token_answer_begin(call->reader.store, call->reader.arena, &once->answer, &found,
                                  &begun, err))
        return false;
    return begun || judge(call, once, &found, err);
}

void once_end(struct call *call, struct once *once)
{
    const int status = call->response->status;
    struct error err;
    bool ok;

    if (!once->is_used || once->is_replayed)
        return;
    once->answer.status = status;
    once->answer.body = call->response->body;
    ok = status >= 500 || status == 409
             ? store_token_answer_forget(call->reader.store, &once->answer, &err)
             : store_token_answer_end(call->reader.store, &once->answer, &err);
    if (!ok) /* the change is made all the same; a repetition is told that it is under way */
        log_event(api_settings(call->api)->log, LOG_WARN, "answer not kept",
                  LOG_STR("code", str_of(err.code)), LOG_STR("error", str_of(err.text)));
}
