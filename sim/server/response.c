/* Sends a response, correctly or as its fault says. */
#include "sim/server/response.h"

#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "sim/http/gzip.h"
#include "sim/http/http_date.h"
#include "sim/http/status.h"

enum {
    HEAD_MAX = 32 << 10,
    LAST_BYTES = 32 << 10, /* fits the socket's buffer, so it is sent at once */
    CHUNK_BYTES = 16 << 10,
    GZIP_BYTES_MIN = 256,
};

static struct iovec vec(struct str s)
{
    return (struct iovec){ (void *)s.data, s.len };
}

static void done(struct response *response, bool complete)
{
    if (!response->is_done)
        response->done(response->context, complete);
    response->is_done = true;
}

static bool has_body(const struct response *response)
{
    return !str_eq(response->call->method, STR("HEAD")) && response->call->status != 204 &&
           response->call->status != 304;
}

static bool send_head(struct response *response, struct str also)
{
    const struct http_call *call = response->call;
    char date[HTTP_DATE_TEXT_MAX];
    struct iovec iov[2];
    struct buf head;

    buf_init(&head, call->arena, HEAD_MAX);
    buf_printf(&head, "HTTP/1.1 %d %s\r\nDate: %.*s\r\nServer: patra-sim\r\n", call->status,
               status_reason(call->status), STR_ARG(sim_http_date_write(call->now_us, date)));
    if (call->content_type.len > 0)
        buf_printf(&head, "Content-Type: %.*s\r\n", STR_ARG(call->content_type));
    for (size_t i = 0; i < call->response_header_count; i++)
        buf_printf(&head, "%.*s: %.*s\r\n", STR_ARG(call->response_headers[i].name),
                   STR_ARG(call->response_headers[i].value));
    if (response->gzipped)
        buf_add(&head, STR("Content-Encoding: gzip\r\n"));
    if (response->frame == FRAME_LENGTH)
        buf_printf(&head, "Content-Length: %lld\r\n", (long long)response->length);
    else if (response->frame == FRAME_CHUNKED)
        buf_add(&head, STR("Transfer-Encoding: chunked\r\n"));
    if (!response->traits->keep_alive || response->frame == FRAME_CLOSE)
        buf_add(&head, STR("Connection: close\r\n"));
    else if (response->traits->http_1_0)
        buf_add(&head, STR("Connection: keep-alive\r\n"));
    buf_add(&head, STR("\r\n"));
    iov[0] = vec(buf_str(&head));
    iov[1] = vec(also);
    return !head.failed && wire_write(response->wire, iov, 2);
}

static bool send_chunk(struct response *response, struct str piece)
{
    char size[20];
    const int len = snprintf(size, sizeof(size), "%zx\r\n", piece.len);
    struct iovec iov[3] = { { size, (size_t)len }, vec(piece), vec(STR("\r\n")) };

    return wire_write(response->wire, iov, 3);
}

/* A part of the body, in the response's framing. */
static bool send_part(struct response *response, struct str part)
{
    if (response->frame != FRAME_CHUNKED)
        return wire_write_str(response->wire, part);
    while (part.len > 0) {
        if (!send_chunk(response, str_slice(part, 0, CHUNK_BYTES)))
            return false;
        part = str_slice(part, CHUNK_BYTES, part.len);
    }
    return true;
}

static bool send_end(struct response *response)
{
    return response->frame != FRAME_CHUNKED || wire_write_str(response->wire, STR("0\r\n\r\n"));
}

static struct str part_kept(const struct response *response)
{
    return str_slice(response->body, 0,
                     (size_t)(response->body.len * (size_t)response->fault->keep / 100));
}

static struct str part_after(const struct response *response, struct str sent)
{
    return str_slice(response->body, sent.len, response->body.len);
}

/* ---- correct ---- */

static bool send_correct(struct response *response)
{
    const size_t len = has_body(response) ? response->body.len : 0;
    const size_t first = len > LAST_BYTES ? len - LAST_BYTES : 0;
    const struct str all = str_slice(response->body, 0, len);

    if (response->frame == FRAME_LENGTH && first == 0) {
        done(response, true);
        return send_head(response, all);
    }
    if (response->frame == FRAME_LENGTH) {
        if (!send_head(response, str_slice(all, 0, first)))
            return false;
        done(response, true);
        return wire_write_str(response->wire, str_slice(all, first, len));
    }
    if (!send_head(response, STR("")) || !send_part(response, str_slice(all, 0, first)))
        return false;
    done(response, true);
    return send_part(response, str_slice(all, first, len)) && send_end(response);
}

/* ---- with a fault ---- */

static bool send_truncated(struct response *response)
{
    const struct str kept = part_kept(response);

    switch ((enum fault_length)response->fault->length) {
    case LENGTH_RIGHT:
        response->frame = FRAME_LENGTH;
        break;
    case LENGTH_SHORT:
        response->frame = FRAME_LENGTH;
        response->length = (int64_t)kept.len;
        break;
    case LENGTH_NONE:
        response->frame = FRAME_CLOSE;
        break;
    case LENGTH_CHUNKED:
        response->frame = FRAME_CHUNKED;
        break;
    }
    return send_head(response, STR("")) && send_part(response, kept);
}

static bool send_dripping(struct response *response)
{
    const int64_t bps = response->fault->bps;
    const size_t size = bps > 10 ? (size_t)bps / 10 : 1;
    struct str rest = response->body;

    if (!send_head(response, STR("")))
        return false;
    while (rest.len > 0) {
        const struct str drop = str_slice(rest, 0, size);

        if (rest.len == drop.len)
            done(response, true);
        if (!send_part(response, drop) ||
            !wire_pause(response->wire, (int64_t)drop.len * US_PER_SECOND / bps))
            return false;
        rest = str_slice(rest, drop.len, rest.len);
    }
    done(response, true);
    return send_end(response);
}

static bool send_stalling(struct response *response)
{
    const int64_t wanted_us = response->fault->ms * US_PER_MS;
    const int64_t us =
        wanted_us < response->options->stall_max_us ? wanted_us : response->options->stall_max_us;
    struct str first = STR("");

    if (response->fault->at == FAULT_AT_BEFORE)
        return wire_pause(response->wire, us) && send_correct(response);
    if (response->fault->at == FAULT_AT_MID)
        first = part_kept(response);
    if (!send_head(response, STR("")) || !send_part(response, first) ||
        !wire_pause(response->wire, us))
        return false;
    done(response, true);
    return send_part(response, part_after(response, first)) && send_end(response);
}

/* The body, then megabytes of blanks: still well-formed, so only a limit detects it. */
static bool send_oversized(struct response *response)
{
    char blanks[16 << 10];
    int64_t left = response->fault->mb << 20;

    memset(blanks, ' ', sizeof(blanks));
    response->frame = response->fault->length == LENGTH_RIGHT ? FRAME_LENGTH : FRAME_CHUNKED;
    response->length = (int64_t)response->body.len + left;
    if (!send_head(response, STR("")) || !send_part(response, response->body))
        return false;
    for (; left > 0; left -= (int64_t)sizeof(blanks)) {
        if (left == (int64_t)sizeof(blanks))
            done(response, true);
        if (!send_part(response, (struct str){ blanks, sizeof(blanks) }))
            return false;
    }
    return send_end(response);
}

static bool send_gzip_part(void *context, struct str part)
{
    return send_part(context, part);
}

static bool send_bomb(struct response *response)
{
    response->frame = FRAME_CHUNKED;
    response->gzipped = true;
    if (!send_head(response, STR("")) ||
        !gzip_blanks(response->body, response->fault->mb, send_gzip_part, response))
        return false;
    done(response, true);
    return send_end(response);
}

static bool send_with_fault(struct response *response, enum response_end *end)
{
    const int kind = response->fault->kind;
    bool taken = true;

    /* A response without a body can only be cut off or delayed. */
    switch (has_body(response) || kind == FAULT_RESET || kind == FAULT_CLOSE ? kind : FAULT_NONE) {
    case FAULT_RESET:
        *end = RESPONSE_RESET;
        if (response->fault->at == FAULT_AT_MID)
            taken = send_head(response, STR("")) && send_part(response, part_kept(response));
        break;
    case FAULT_CLOSE:
        *end = RESPONSE_CLOSE;
        break;
    case FAULT_TRUNCATE:
        /* With a matching length the connection stays usable and nothing looks wrong. */
        *end = response->fault->length == LENGTH_SHORT ? *end : RESPONSE_CLOSE;
        taken = send_truncated(response);
        break;
    case FAULT_LENGTH:
        *end = RESPONSE_CLOSE;
        response->frame = FRAME_LENGTH;
        response->length += response->fault->delta;
        taken = send_head(response, response->body);
        break;
    case FAULT_DRIP:
        taken = send_dripping(response);
        break;
    case FAULT_STALL:
        taken = send_stalling(response);
        break;
    case FAULT_OVERSIZE:
        taken = send_oversized(response);
        break;
    case FAULT_BOMB:
        taken = send_bomb(response);
        break;
    default:
        taken = send_correct(response);
    }
    done(response, false);
    return taken;
}

/* Compresses when the client accepts it and the fault does not concern the body's bytes. */
static void prepare(struct response *response)
{
    const int kind = response->fault->kind;

    response->body = call_body(response->call);
    if (response->options->gzip_level > 0 && response->traits->accepts_gzip &&
        response->body.len >= GZIP_BYTES_MIN && kind != FAULT_OVERSIZE && kind != FAULT_BOMB)
        response->gzipped = gzip_compress(response->call->arena, response->body,
                                          response->options->gzip_level, &response->body);
    response->length = (int64_t)response->body.len;
    response->frame = response->options->frame;
    if (response->traits->http_1_0 && response->frame == FRAME_CHUNKED)
        response->frame = FRAME_CLOSE;
    if (!has_body(response))
        response->frame = FRAME_LENGTH;
}

enum response_end response_send(struct response *response, bool *broken)
{
    enum response_end end;

    prepare(response);
    end = response->traits->keep_alive && response->frame != FRAME_CLOSE ? RESPONSE_KEEP
                                                                         : RESPONSE_CLOSE;
    *broken = !send_with_fault(response, &end);
    return *broken && end == RESPONSE_KEEP ? RESPONSE_CLOSE : end;
}
