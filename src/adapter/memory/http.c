#include "adapter/memory/http.h"

#include <assert.h>
#include <string.h>

#include "base/list.h"
#include "data/http_fault.h"
#include "data/http_redirect.h"

enum { SCRIPT_BYTES_MAX = 256 << 20 };

struct memory_ticket {
    struct http_ticket ticket;
    struct arena *arena;
    struct http_request request;
    size_t sent; /* its place in memory->sent */
};

static struct memory_http *memory_of(struct http *http)
{
    return (struct memory_http *)http;
}

static bool contains(struct str text, struct str part)
{
    return part.len == 0 || str_find(text, part) < text.len;
}

static bool is_meant(const struct memory_reply *reply, const struct http_request *request)
{
    return (reply->method.len == 0 || str_eq(reply->method, request->method)) &&
           contains(request->url, reply->url_part) && contains(request->body, reply->body_part) &&
           (reply->matches == NULL || reply->matches(reply->context, request));
}

static struct memory_reply *find_reply(struct memory_http *memory,
                                       const struct http_request *request)
{
    for (size_t i = 0; i < memory->script.count; i++) {
        struct memory_reply *reply = &memory->script.items[i];

        if (reply->times != 0 && is_meant(reply, request)) {
            reply->times -= reply->times > 0;
            return reply;
        }
    }
    return NULL;
}

static size_t remember(struct memory_http *memory, const struct http_request *request)
{
    struct memory_sent *sent = LIST_ADD(&memory->arena, &memory->sent);
    struct http_request copy;
    struct error err;
    const bool copied = http_request_copy(&memory->arena, request, &copy, &err);

    assert(sent != NULL && copied); /* a test that sends more than the script's memory */
    *sent = (struct memory_sent){
        .method = copy.method,
        .url = copy.url,
        .headers = { (struct http_header *)copy.headers, copy.header_count },
        .body = copy.body,
        .proxy = copy.proxy,
        .traceparent = copy.traceparent,
    };
    return memory->sent.count - 1;
}

static bool fail(const struct http_request *request, const char *code, struct error *err)
{
    const struct http_fault *fault = http_fault_find(code);

    assert(fault != NULL);
    return error_set(err, fault->level, fault->code, "%s: %s",
                     http_title(request, request->url).text, fault->meaning);
}

/* Fills the reply from the script's, as far as limits and the script's error let it. */
static bool give(struct arena *arena, const struct http_request *request,
                 const struct memory_reply *from, struct http_reply *reply, struct error *err)
{
    const char *code = from->error_code;
    struct http_request copy;
    const struct http_request carrier = { .url = request->url,
                                          .headers = from->headers,
                                          .header_count = from->header_count,
                                          .body = from->body };
    struct buf url;

    if (code == NULL && (int64_t)from->body.len > request->limits.body_bytes_max)
        code = "http.too_large";
    if (code != NULL && from->status == 0)
        return fail(request, code, err);
    if (!http_request_copy(arena, &carrier, &copy, err))
        return false;
    buf_init(&url, arena, HTTP_TOLD_URL_BYTES_MAX);
    http_redact_url(&url, request, request->url);
    reply->status = from->status;
    reply->version = 11;
    reply->headers = (struct http_headers){ (struct http_header *)copy.headers, copy.header_count };
    reply->wire_bytes = (int64_t)from->body.len;
    reply->url = buf_str(&url);
    reply->address = STR("127.0.0.1:443");
    reply->timings.total_us = from->took_us;
    if (!buf_ok(&url, err))
        return false;
    if (code == NULL) {
        reply->body = copy.body;
        return true;
    }
    if (from->status / 100 == 2 || !http_fault_spares_status(code))
        return fail(request, code, err);
    reply->body = str_slice(copy.body, 0, (size_t)request->limits.body_bytes_max);
    reply->body_cut = true;
    return true;
}

static bool exchange(struct memory_http *memory, struct arena *arena,
                     const struct http_request *request, struct http_reply *reply,
                     struct error *err)
{
    struct memory_reply *found;
    struct memory_reply made;

    if (memory->interrupted)
        return fail(request, "http.cancelled", err);
    found = find_reply(memory, request);
    if (found == NULL)
        return error_set(err, ERROR_FATAL, "http.script", "%s: no reply of the script matches",
                         http_title(request, request->url).text);
    made = *found;
    if (made.make != NULL)
        made.make(made.context, arena, request, &made);
    if (memory->clock != NULL && made.took_us > 0)
        (void)clock_sleep_us(memory->clock, made.took_us, CLOCK_NO_WAKE);
    return give(arena, request, &made, reply, err);
}

/* Sends, and goes where redirects lead; `request` was checked and remembered. */
static bool follow(struct memory_http *memory, struct arena *arena,
                   const struct http_request *request, struct http_reply *reply, struct error *err)
{
    struct http_request at = *request;
    struct http_hop hop;

    for (int followed = 0;; followed++) {
        if (!exchange(memory, arena, &at, reply, err))
            return false;
        reply->redirects = followed;
        reply->attempts = 1;
        if (!http_redirect(arena, &(struct http_arrival){ request, at.url, followed, reply }, &hop,
                           err))
            return false;
        if (hop.url.data == NULL)
            return true;
        if (!http_hop_request(arena, &at, &hop, &at, err))
            return false;
        (void)remember(memory, &at);
    }
}

static bool memory_send(struct http *http, struct arena *arena, const struct http_request *request,
                        struct http_reply *reply, struct error *err)
{
    struct memory_http *memory = memory_of(http);
    struct http_request checked = *request;

    if (!http_request_check(&checked, err))
        return false;
    (void)remember(memory, &checked);
    return follow(memory, arena, &checked, reply, err);
}

static bool memory_start(struct http *http, struct arena *arena, const struct http_request *request,
                         struct http_ticket **ticket, struct error *err)
{
    struct memory_http *memory = memory_of(http);
    struct memory_ticket *made = ARENA_NEW(arena, struct memory_ticket);

    if (made == NULL)
        return arena_error(arena, err);
    if (!http_request_copy(arena, request, &made->request, err) ||
        !http_request_check(&made->request, err))
        return false;
    if (memory->under_way == HTTP_TICKETS_MAX)
        return fail(request, "http.limit", err);
    memory->under_way++;
    made->ticket.http = http;
    made->arena = arena;
    made->sent = remember(memory, &made->request);
    *ticket = &made->ticket;
    return true;
}

static bool memory_wait(struct http_ticket *ticket, struct http_reply *reply, struct error *err)
{
    struct memory_ticket *made = (struct memory_ticket *)ticket;
    struct memory_http *memory = memory_of(ticket->http);

    assert(memory->under_way > 0);
    memory->under_way--;
    return follow(memory, made->arena, &made->request, reply, err);
}

static void memory_cancel(struct http_ticket *ticket)
{
    struct memory_http *memory = memory_of(ticket->http);

    assert(memory->under_way > 0);
    memory->under_way--;
    memory->sent.items[((struct memory_ticket *)ticket)->sent].cancelled = true;
}

static void memory_interrupt(struct http *http)
{
    memory_of(http)->interrupted = true;
}

static void memory_close(struct http *http)
{
    (void)http; /* memory_http_release ends it: a test looks at what was sent afterwards */
}

void memory_http_init(struct memory_http *http, struct clock *clock)
{
    static const struct http_ops ops = { memory_send,   memory_start,     memory_wait,
                                         memory_cancel, memory_interrupt, memory_close };

    *http = (struct memory_http){ .http.ops = &ops, .clock = clock };
    arena_init(&http->arena, SCRIPT_BYTES_MAX);
}

void memory_http_release(struct memory_http *http)
{
    arena_release(&http->arena);
    *http = (struct memory_http){ 0 };
}

void memory_http_reply(struct memory_http *http, const struct memory_reply *reply)
{
    struct memory_reply *item = LIST_ADD(&http->arena, &http->script);

    assert(item != NULL);
    *item = *reply;
    if (item->times == 0)
        item->times = 1;
}
