/* The http port that makes spans of requests. */
#include "adapter/trace/trace_http.h"

#include <stdlib.h>

#include "data/url.h"

struct trace_http {
    struct http http;
    struct trace_http_parts parts;
};

struct trace_ticket {
    struct http_ticket ticket;
    struct http_ticket *inner;
    struct span *span; /* in the arena of the request; NULL: it has none */
    int64_t started_us;
};

static struct trace_http *trace_of(struct http *http)
{
    return (struct trace_http *)http;
}

/* ---- spans ---- */

static void describe_url(struct span *span, const struct http_request *request)
{
    const struct http_title title = http_title(request, request->url);
    struct str rest = str_of(title.text);
    struct error ignored;
    struct url url;

    span_str(span, "http.request.method", str_cut(&rest, ' '));
    if (!url_parse(rest, &url, &ignored))
        return; /* it was cut: the request says nothing else either */
    span_str(span, "server.address", url.host);
    span_i64(span, "server.port", url.port);
    span_str(span, "url.path", url.path);
}

/* NULL: the request names no span, or there is no memory. The request is made all the same. */
static struct span *begin(struct trace_http *self, struct arena *arena,
                          const struct http_request *request)
{
    struct span_context context;
    struct span *span;

    if (!span_context_parse(request->traceparent, &context))
        return NULL;
    span = ARENA_NEW(arena, struct span);
    if (span == NULL)
        return NULL;
    span->context = context;
    span->kind = SPAN_CLIENT;
    span->begin_us = clock_now_us(self->parts.clock);
    span_id_named(span->parent, &context, request->correlation_id);
    span_name(span, "HTTP Call");
    span_str(span, "patra.correlation_id", request->correlation_id);
    describe_url(span, request);
    return span;
}

/* `err` NULL: there is a response, of whatever status. */
static void finish(struct trace_http *self, struct span *span, int64_t took_us,
                   const struct http_response *reply, const struct error *err)
{
    if (span == NULL)
        return;
    span->end_us = span->begin_us + took_us;
    if (reply->status > 0)
        span_i64(span, "http.response.status_code", reply->status);
    if (reply->wire_bytes > 0)
        span_i64(span, "http.response.body.size", reply->wire_bytes);
    span_str(span, "network.peer.address", reply->address);
    if (err != NULL) {
        span_str(span, "error.type", str_of(err->code));
        span_str(span, "error.level", str_of(error_level_name(err->level)));
        span_fail(span, str_of(err->code));
    } else if (reply->status >= 400) {
        span_fail(span, STR("status"));
    }
    tracer_add(self->parts.tracer, span);
}

static int64_t since_us(struct trace_http *self, int64_t started_us)
{
    return clock_monotonic_us(self->parts.clock) - started_us;
}

/* ---- the port ---- */

static bool trace_send(struct http *http, struct arena *arena, const struct http_request *request,
                       struct http_response *reply, struct error *err)
{
    struct trace_http *self = trace_of(http);
    const int64_t started_us = clock_monotonic_us(self->parts.clock);
    struct span *span = begin(self, arena, request);
    const bool ok = http_send(self->parts.inner, arena, request, reply, err);

    finish(self, span, since_us(self, started_us), reply, ok ? NULL : err);
    return ok;
}

static bool trace_start(struct http *http, struct arena *arena, const struct http_request *request,
                        struct http_ticket **ticket, struct error *err)
{
    struct trace_http *self = trace_of(http);
    struct trace_ticket *made = ARENA_NEW(arena, struct trace_ticket);

    if (made == NULL)
        return arena_error(arena, err);
    made->ticket.http = http;
    made->started_us = clock_monotonic_us(self->parts.clock);
    made->span = begin(self, arena, request);
    if (!http_start(self->parts.inner, arena, request, &made->inner, err))
        return false;
    *ticket = &made->ticket;
    return true;
}

/* Who waits may come long after the response: how long it took is known better than when. */
static bool trace_wait(struct http_ticket *ticket, struct http_response *reply, struct error *err)
{
    struct trace_ticket *made = (struct trace_ticket *)ticket;
    struct trace_http *self = trace_of(ticket->http);
    const bool ok = http_wait(made->inner, reply, err);
    const int64_t took_us = reply->timings.total_us;

    finish(self, made->span, took_us > 0 ? took_us : since_us(self, made->started_us), reply,
           ok ? NULL : err);
    return ok;
}

static void trace_cancel(struct http_ticket *ticket)
{
    http_cancel(((struct trace_ticket *)ticket)->inner);
}

/* The span ends with the head; what is read of the stream is the batch's. */
static bool trace_open(struct http *http, struct arena *arena, const struct http_request *request,
                       struct http_stream **stream, struct http_response *reply, struct error *err)
{
    struct trace_http *self = trace_of(http);
    const int64_t started_us = clock_monotonic_us(self->parts.clock);
    struct span *span = begin(self, arena, request);
    const bool ok = http_open(self->parts.inner, arena, request, stream, reply, err);

    finish(self, span, since_us(self, started_us), reply, ok ? NULL : err);
    return ok;
}

static size_t trace_redact(struct http *http, char *text, size_t len)
{
    return http_redact(trace_of(http)->parts.inner, text, len);
}

static bool trace_is_ready(struct http *http, const struct http_request *request)
{
    return http_is_ready(trace_of(http)->parts.inner, request);
}

static bool trace_make_ready(struct http *http, const struct http_request *request,
                             struct error *err)
{
    return http_make_ready(trace_of(http)->parts.inner, request, err);
}

static void trace_interrupt(struct http *http)
{
    http_interrupt(trace_of(http)->parts.inner);
}

static void trace_close(struct http *http)
{
    http_close(trace_of(http)->parts.inner);
    free(http);
}

bool trace_http_open(const struct trace_http_parts *parts, struct http **http, struct error *err)
{
    static const struct http_ops ops = { .send = trace_send,
                                         .start = trace_start,
                                         .wait = trace_wait,
                                         .cancel = trace_cancel,
                                         .open = trace_open, /* its streams are the inner one's */
                                         .redact = trace_redact,
                                         .is_ready = trace_is_ready,
                                         .make_ready = trace_make_ready,
                                         .interrupt = trace_interrupt,
                                         .close = trace_close };
    struct trace_http *self = calloc(1, sizeof(*self));

    if (self == NULL)
        return error_set(err, ERROR_TRANSIENT, "http.resource", "no memory for an HTTP handle");
    self->http.ops = &ops;
    self->parts = *parts;
    *http = &self->http;
    return true;
}
