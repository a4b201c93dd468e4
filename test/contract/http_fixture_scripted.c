/* The scripted adapter; with CONTRACT_AUTH the one that adds credentials stands in front of it. */
#include <stdlib.h>
#include <string.h>

#include "adapter/auth/auth_http.h"
#include "fixed_secret.h"
#include "http_contract.h"
#include "scripted_http.h"
#include "virtual_clock.h"

static struct {
    struct scripted_http scripted;
    struct virtual_clock clock;
    struct fixed_secrets secrets;
    struct auth_tokens *tokens;
    struct http *http;
    struct arena arena; /* for the script's texts */
} fixture;

struct http *http_contract_begin(void)
{
    if (fixture.http != NULL)
        return fixture.http;
    arena_init(&fixture.arena, 16 << 20);
    virtual_clock_init(&fixture.clock, 0);
    scripted_http_init(&fixture.scripted, &fixture.clock.clock);
    fixed_secrets_init(&fixture.secrets, NULL, 0);
    fixture.http = &fixture.scripted.http;
#ifdef CONTRACT_AUTH
    struct error err;

    REQUIRE_OK(auth_tokens_open(&fixture.tokens, &err), err);
    REQUIRE_OK(
        auth_http_open(&(struct auth_http_parts){ fixture.http, fixture.tokens,
                                                  &fixture.secrets.source, &fixture.clock.clock },
                       &fixture.http, &err),
        err);
#endif
    return fixture.http;
}

void http_contract_end(void)
{
    http_close(fixture.http);
    auth_tokens_close(fixture.tokens);
    scripted_http_release(&fixture.scripted);
    arena_release(&fixture.arena);
    arena_release(http_contract_arena());
    memset(&fixture, 0, sizeof(fixture));
}

void http_contract_reply(const struct contract_reply *reply)
{
    const struct http_request carrier = { .headers = reply->headers,
                                          .header_count = reply->header_count,
                                          .body = reply->body };
    struct http_request copy;
    struct error err;

    REQUIRE_OK(http_request_copy(&fixture.arena, &carrier, &copy, &err), err);
    scripted_http_reply(&fixture.scripted,
                        &(struct scripted_reply){
                            .status = reply->status,
                            .headers = copy.headers,
                            .header_count = copy.header_count,
                            .body = copy.body,
                            .error_code = reply->end == BODY_NONE_RESET ? "http.reset"
                                          : reply->end == BODY_SHORT    ? "http.truncated"
                                                                        : NULL,
                        });
}

struct str http_contract_url(const char *path)
{
    (void)http_contract_begin();
    return arena_printf(&fixture.arena, "http://127.0.0.1:8080%s", path);
}

size_t http_contract_sent(void)
{
    return fixture.scripted.sent.count;
}

bool http_contract_sent_has(size_t index, const char *text)
{
    const struct scripted_sent *sent = &fixture.scripted.sent.items[index];
    struct buf all;

    buf_init(&all, &fixture.arena, 1 << 20);
    buf_printf(&all, "%.*s %.*s\r\n", STR_ARG(sent->method),
               STR_ARG(str_slice(sent->url, strlen("http://127.0.0.1:8080"), sent->url.len)));
    for (size_t i = 0; i < sent->headers.count; i++)
        buf_printf(&all, "%.*s: %.*s\r\n", STR_ARG(sent->headers.items[i].name),
                   STR_ARG(sent->headers.items[i].value));
    buf_add(&all, sent->body);
    return str_find(buf_str(&all), str_of(text)) < all.len;
}
