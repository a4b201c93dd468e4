/* The http port from a script: finds the response, applies limits, follows redirects. */
#include "scripted_http.h"

#include <assert.h>
#include <string.h>

#include "base/list.h"
#include "data/http_fault.h"
#include "data/http_redirect.h"

enum { SCRIPT_BYTES_MAX = 256 << 20 };

struct scripted_ticket {
    struct http_ticket ticket;
    struct arena *arena;
    struct http_request request;
    size_t sent; /* its index in scripted->sent */
};

static struct scripted_http *scripted_of(struct http *http)
{
    return (struct scripted_http *)http;
}

static bool contains(struct str text, struct str part)
{
    return part.len == 0 || str_find(text, part) < text.len;
}

static bool is_meant(const struct scripted_reply *reply, const struct http_request *request)
{
    return (reply->method.len == 0 || str_eq(reply->method, request->method)) &&
           contains(request->url, reply->url_part) && contains(request->body, reply->body_part) &&
           (reply->matches == NULL || reply->matches(reply->context, request));
}

static struct scripted_reply *find_reply(struct scripted_http *scripted,
                                         const struct http_request *request)
{
    for (size_t i = 0; i < scripted->script.count; i++) {
        struct scripted_reply *reply = &scripted->script.items[i];

        if (reply->times != 0 && is_meant(reply, request)) {
            reply->times -= reply->times > 0;
            return reply;
        }
    }
    return NULL;
}

static size_t remember(struct scripted_http *scripted, const struct http_request *request)
{
    struct scripted_sent *sent = LIST_ADD(&scripted->arena, &scripted->sent);
    struct http_request copy;
    struct error err;
    const bool copied = http_request_copy(&scripted->arena, request, &copy, &err);

    assert(sent != NULL && copied); /* a test that sends more than the script's memory */
    *sent = (struct scripted_sent){
        .method = copy.method,
        .url = copy.url,
        .headers = { (struct http_header *)copy.headers, copy.header_count },
        .body = copy.body,
        .proxy = copy.proxy,
        .traceparent = copy.traceparent,
    };
    return scripted->sent.count - 1;
}

static bool fail(const struct http_request *request, const char *code, struct error *err)
{
    const struct http_fault *fault = http_fault_find(code);

    assert(fault != NULL);
    return error_set(err, fault->level, fault->code, "%s: %s",
                     http_title(request, request->url).text, fault->meaning);
}

/* Fills the reply from the script's, up to the limits and the script's error. */
static bool give(struct arena *arena, const struct http_request *request,
                 const struct scripted_reply *from, struct http_response *reply, struct error *err)
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

static bool exchange(struct scripted_http *scripted, struct arena *arena,
                     const struct http_request *request, struct http_response *reply,
                     struct error *err)
{
    struct scripted_reply *found;
    struct scripted_reply made;

    if (scripted->interrupted)
        return fail(request, "http.cancelled", err);
    found = find_reply(scripted, request);
    if (found == NULL)
        return error_set(err, ERROR_FATAL, "http.script", "%s: no reply of the script matches",
                         http_title(request, request->url).text);
    made = *found;
    if (made.make != NULL)
        made.make(made.context, arena, request, &made);
    if (scripted->clock != NULL && made.took_us > 0)
        (void)clock_sleep_us(scripted->clock, made.took_us, CLOCK_NO_WAKE);
    if (scripted->is_streaming && made.status / 100 == 2) {
        scripted->stream_error = made.error_code;
        made.error_code = NULL;
    }
    return give(arena, request, &made, reply, err);
}

/* Sends and follows redirects; `request` was checked and recorded before. */
static bool follow(struct scripted_http *scripted, struct arena *arena,
                   const struct http_request *request, struct http_response *reply,
                   struct error *err)
{
    struct http_request at = *request;
    struct http_hop hop;

    for (int followed = 0;; followed++) {
        if (!exchange(scripted, arena, &at, reply, err))
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
        (void)remember(scripted, &at);
    }
}

static bool scripted_send(struct http *http, struct arena *arena,
                          const struct http_request *request, struct http_response *reply,
                          struct error *err)
{
    struct scripted_http *scripted = scripted_of(http);
    struct http_request checked = *request;

    if (!http_request_check(&checked, err))
        return false;
    (void)remember(scripted, &checked);
    return follow(scripted, arena, &checked, reply, err);
}

static bool scripted_start(struct http *http, struct arena *arena,
                           const struct http_request *request, struct http_ticket **ticket,
                           struct error *err)
{
    struct scripted_http *scripted = scripted_of(http);
    struct scripted_ticket *made = ARENA_NEW(arena, struct scripted_ticket);

    if (made == NULL)
        return arena_error(arena, err);
    if (!http_request_copy(arena, request, &made->request, err) ||
        !http_request_check(&made->request, err))
        return false;
    if (scripted->under_way == HTTP_TICKETS_MAX)
        return fail(request, "http.limit", err);
    scripted->under_way++;
    made->ticket.http = http;
    made->arena = arena;
    made->sent = remember(scripted, &made->request);
    *ticket = &made->ticket;
    return true;
}

static bool scripted_wait(struct http_ticket *ticket, struct http_response *reply,
                          struct error *err)
{
    struct scripted_ticket *made = (struct scripted_ticket *)ticket;
    struct scripted_http *scripted = scripted_of(ticket->http);

    assert(scripted->under_way > 0);
    scripted->under_way--;
    if (!follow(scripted, made->arena, &made->request, reply, err))
        return false;
    if (made->request.taker != NULL)
        made->request.taker->take(made->request.taker, reply);
    return true;
}

static void scripted_cancel(struct http_ticket *ticket)
{
    struct scripted_http *scripted = scripted_of(ticket->http);

    assert(scripted->under_way > 0);
    scripted->under_way--;
    scripted->sent.items[((struct scripted_ticket *)ticket)->sent].cancelled = true;
}

/* ---- streams ---- */

struct scripted_stream {
    struct http_stream stream;
    const struct http_request *request;
    struct str left;
    const char *error_code; /* after the last byte; NULL: none */
};

/* The head of a 2xx comes even if its body breaks. */
static bool scripted_open(struct http *http, struct arena *arena,
                          const struct http_request *request, struct http_stream **stream,
                          struct http_response *reply, struct error *err)
{
    struct scripted_http *scripted = scripted_of(http);
    struct scripted_stream *made = ARENA_NEW(arena, struct scripted_stream);
    struct http_request *checked = ARENA_NEW(arena, struct http_request);

    if (made == NULL || checked == NULL)
        return arena_error(arena, err);
    if (!http_request_copy(arena, request, checked, err) || !http_request_check(checked, err))
        return false;
    (void)remember(scripted, checked);
    scripted->stream_error = NULL;
    scripted->is_streaming = true;
    if (!follow(scripted, arena, checked, reply, err)) {
        scripted->is_streaming = false;
        return false;
    }
    scripted->is_streaming = false;
    if (reply->status / 100 != 2)
        return true;
    *made = (struct scripted_stream){ .stream.http = http,
                                      .request = checked,
                                      .left = reply->body,
                                      .error_code = scripted->stream_error };
    reply->body = (struct str){ NULL, 0 };
    *stream = &made->stream;
    return true;
}

static bool scripted_read(struct http_stream *stream, struct http_room room, size_t *len,
                          struct error *err)
{
    struct scripted_stream *made = (struct scripted_stream *)stream;
    const struct scripted_http *scripted = scripted_of(stream->http);
    const size_t most =
        scripted->read_max > 0 && scripted->read_max < room.len ? scripted->read_max : room.len;

    if (scripted->interrupted)
        return fail(made->request, "http.cancelled", err);
    *len = made->left.len < most ? made->left.len : most;
    if (*len == 0)
        return made->error_code == NULL || fail(made->request, made->error_code, err);
    memcpy(room.data, made->left.data, *len);
    made->left = str_slice(made->left, *len, made->left.len);
    stream->wire_bytes += (int64_t)*len;
    return true;
}

static void scripted_end(struct http_stream *stream)
{
    (void)stream;
}

static void scripted_interrupt(struct http *http)
{
    scripted_of(http)->interrupted = true;
}

static void scripted_close(struct http *http)
{
    (void)http; /* scripted_http_release() frees it: tests read `sent` after the close */
}

void scripted_http_init(struct scripted_http *http, struct clock *clock)
{
    static const struct http_ops ops = { .send = scripted_send,
                                         .start = scripted_start,
                                         .wait = scripted_wait,
                                         .cancel = scripted_cancel,
                                         .open = scripted_open,
                                         .read = scripted_read,
                                         .end = scripted_end,
                                         .interrupt = scripted_interrupt,
                                         .close = scripted_close };

    *http = (struct scripted_http){ .http.ops = &ops, .clock = clock };
    arena_init(&http->arena, SCRIPT_BYTES_MAX);
}

void scripted_http_release(struct scripted_http *http)
{
    arena_release(&http->arena);
    *http = (struct scripted_http){ 0 };
}

void scripted_http_reply(struct scripted_http *http, const struct scripted_reply *reply)
{
    struct scripted_reply *item = LIST_ADD(&http->arena, &http->script);

    assert(item != NULL);
    *item = *reply;
    if (item->times == 0)
        item->times = 1;
}
