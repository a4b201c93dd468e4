/* What libcurl calls during a transfer: for the request, headers, the body and progress. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapter/curl/transfer.h"
#include "adapter/curl/unpack.h"

enum { BUFFER_BYTES_MIN = 64 << 10 };

int64_t transfer_clock_us(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * US_PER_SECOND + at.tv_nsec / 1000;
}

/* ---- head ---- */

size_t transfer_on_header(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *t = context;
    const struct str line = { bytes, size * count };

    t->has_moved = true;
    if (!http_head_add(&t->head, line, &t->err))
        return line.len + 1; /* any other return value ends the transfer */
    return line.len;
}

/* ---- body ---- */

static bool too_large(struct transfer *t)
{
    const bool by_line = (int64_t)t->body.max == t->request.limits.body_bytes_max;

    return error_set(&t->err, ERROR_REQUEST, by_line ? "http.too_large" : "http.inflate_limit",
                     "the body is larger than %zu bytes", t->body.max);
}

/* At the first bytes: where the body goes, and how large it may be. */
static bool place_body(struct transfer *t)
{
    const struct http_limits *limits = &t->request.limits;
    curl_off_t announced = -1;

    t->body.is_placed = true;
    t->body.is_coded =
        !unpack_is_identity(http_header_value(t->head.headers, STR("Content-Encoding")));
    t->body.max = (size_t)limits->body_bytes_max;
    if (!t->body.is_coded && limits->inflated_bytes_max < limits->body_bytes_max)
        t->body.max = (size_t)limits->inflated_bytes_max;
    (void)curl_easy_getinfo(t->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
    if (announced > (curl_off_t)t->body.max)
        return too_large(t);
    if (announced > 0 && !t->body.is_coded) {
        t->body.data = arena_alloc_raw(t->arena, (size_t)announced);
        t->body.room = (size_t)announced;
        t->body.is_direct = true;
        return t->body.data != NULL || arena_error(t->arena, &t->err);
    }
    t->body.data = t->buffer;
    t->body.room = t->buffer_room;
    return true;
}

static bool make_room(struct transfer *t, size_t more)
{
    size_t wanted = t->buffer_room > 0 ? 2 * t->buffer_room : BUFFER_BYTES_MIN;
    char *bytes;

    if (t->body.room - t->body.len >= more)
        return true;
    if (t->body.is_direct)
        return error_set(&t->err, ERROR_TRANSIENT, "http.protocol",
                         "the body is longer than announced");
    if (wanted < t->body.len + more)
        wanted = t->body.len + more;
    bytes = realloc(t->buffer, wanted);
    if (bytes == NULL)
        return error_set(&t->err, ERROR_TRANSIENT, "http.resource", "no memory for a body");
    t->buffer = t->body.data = bytes;
    t->buffer_room = t->body.room = wanted;
    return true;
}

size_t transfer_on_body(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *t = context;
    const size_t len = size * count;

    t->has_moved = true;
    if (!t->body.is_placed && !place_body(t))
        return len + 1;
    if (len > t->body.max - t->body.len) {
        (void)too_large(t);
        return len + 1;
    }
    if (!make_room(t, len))
        return len + 1;
    memcpy(t->body.data + t->body.len, bytes, len);
    t->body.len += len;
    return len;
}

/* ---- connection ---- */

/* libcurl calls this before it sends the request, and again when it finds a kept connection dead
 * and would send it a second time. The permit was for one request. */
int transfer_on_connected(void *context, char *remote_ip, char *local_ip, int remote_port,
                          int local_port)
{
    struct transfer *t = context;

    (void)remote_ip;
    (void)local_ip;
    (void)remote_port;
    (void)local_port;
    if (t->has_begun) {
        (void)error_set(&t->err, ERROR_TRANSIENT, "http.reset",
                        "the server closed a kept connection instead of responding");
        return CURL_PREREQFUNC_ABORT;
    }
    t->has_begun = true;
    t->has_moved = true;
    return CURL_PREREQFUNC_OK;
}

int transfer_on_progress(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                         curl_off_t up)
{
    struct transfer *t = context;

    (void)down_total;
    (void)down;
    (void)up_total;
    if (up > t->sent_bytes) {
        t->sent_bytes = up;
        t->has_moved = true;
    }
    return 0;
}
