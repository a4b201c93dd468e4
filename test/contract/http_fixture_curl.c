/* libcurl against a real socket. */
#include <string.h>

#include "adapter/curl/curl_http.h"
#include "http_contract.h"
#include "raw_server.h"

static struct {
    struct raw_server *server;
    struct http *http;
    struct arena arena;
} fixture;

struct http *http_contract_begin(void)
{
    struct error err;

    if (fixture.http != NULL)
        return fixture.http;
    arena_init(&fixture.arena, 16 << 20);
    fixture.server = raw_server_start();
    REQUIRE_OK(curl_http_open(NULL, &fixture.http, &err), err);
    return fixture.http;
}

void http_contract_end(void)
{
    http_close(fixture.http);
    raw_server_stop(fixture.server);
    arena_release(&fixture.arena);
    arena_release(http_contract_arena());
    memset(&fixture, 0, sizeof(fixture));
}

void http_contract_reply(const struct contract_reply *reply)
{
    struct buf bytes;

    if (reply->end == BODY_NONE_RESET) {
        raw_server_reply(fixture.server, STR(""), RAW_RESET);
        return;
    }
    buf_init(&bytes, &fixture.arena, 1 << 20);
    buf_printf(&bytes, "HTTP/1.1 %d Whatever\r\n", reply->status);
    for (size_t i = 0; i < reply->header_count; i++)
        buf_printf(&bytes, "%.*s: %.*s\r\n", STR_ARG(reply->headers[i].name),
                   STR_ARG(reply->headers[i].value));
    if (reply->status != 204 && reply->status != 304)
        buf_printf(&bytes, "Content-Length: %zu\r\n",
                   reply->body.len + (reply->end == BODY_SHORT ? 10 : 0));
    buf_add(&bytes, STR("\r\n"));
    buf_add(&bytes, reply->body);
    raw_server_reply(fixture.server, buf_str(&bytes),
                     reply->end == BODY_SHORT ? RAW_CLOSE : RAW_KEEP);
}

struct str http_contract_url(const char *path)
{
    (void)http_contract_begin();
    return arena_printf(&fixture.arena, "http://127.0.0.1:%d%s", raw_server_port(fixture.server),
                        path);
}

size_t http_contract_sent(void)
{
    return raw_server_requests(fixture.server);
}

bool http_contract_sent_has(size_t index, const char *text)
{
    const struct str request = raw_server_request(fixture.server, index);

    return str_find(request, str_of(text)) < request.len;
}
