#include "sim/server/response.h"

#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "sim/http/gzip.h"
#include "sim/http/status.h"
#include "sim/util/time_option.h"

enum {
    HEAD_MAX = 32 << 10,
    LAST_BYTES = 32 << 10, /* fits the socket's buffer: leaves at once */
    CHUNK_BYTES = 16 << 10,
    GZIP_BYTES_MIN = 256,
};

static struct iovec vec(struct str s)
{
    return (struct iovec){ (void *)s.data, s.len };
}

static void done(struct reply *reply, bool complete)
{
    if (!reply->is_done)
        reply->done(reply->context, complete);
    reply->is_done = true;
}

static bool has_body(const struct reply *reply)
{
    return !str_eq(reply->exchange->method, STR("HEAD")) && reply->exchange->status != 204 &&
           reply->exchange->status != 304;
}

static bool send_head(struct reply *reply, struct str also)
{
    const struct exchange *exchange = reply->exchange;
    char date[MOMENT_HTTP_MAX];
    struct iovec iov[2];
    struct buf head;

    buf_init(&head, exchange->arena, HEAD_MAX);
    buf_printf(&head, "HTTP/1.1 %d %s\r\nDate: %.*s\r\nServer: patra-sim\r\n", exchange->status,
               status_reason(exchange->status), STR_ARG(moment_http(exchange->now_us, date)));
    if (exchange->content_type.len > 0)
        buf_printf(&head, "Content-Type: %.*s\r\n", STR_ARG(exchange->content_type));
    for (size_t i = 0; i < exchange->out_count; i++)
        buf_printf(&head, "%.*s: %.*s\r\n", STR_ARG(exchange->out[i].name),
                   STR_ARG(exchange->out[i].value));
    if (reply->gzipped)
        buf_add(&head, STR("Content-Encoding: gzip\r\n"));
    if (reply->frame == FRAME_LENGTH)
        buf_printf(&head, "Content-Length: %lld\r\n", (long long)reply->length);
    else if (reply->frame == FRAME_CHUNKED)
        buf_add(&head, STR("Transfer-Encoding: chunked\r\n"));
    if (!reply->traits->keep_alive || reply->frame == FRAME_CLOSE)
        buf_add(&head, STR("Connection: close\r\n"));
    else if (reply->traits->http_1_0)
        buf_add(&head, STR("Connection: keep-alive\r\n"));
    buf_add(&head, STR("\r\n"));
    iov[0] = vec(buf_str(&head));
    iov[1] = vec(also);
    return !head.failed && wire_write(reply->wire, iov, 2);
}

static bool send_chunk(struct reply *reply, struct str piece)
{
    char size[20];
    const int len = snprintf(size, sizeof(size), "%zx\r\n", piece.len);
    struct iovec iov[3] = { { size, (size_t)len }, vec(piece), vec(STR("\r\n")) };

    return wire_write(reply->wire, iov, 3);
}

/* A part of the body, in the reply's framing. */
static bool send_part(struct reply *reply, struct str part)
{
    if (reply->frame != FRAME_CHUNKED)
        return wire_write_str(reply->wire, part);
    while (part.len > 0) {
        if (!send_chunk(reply, str_slice(part, 0, CHUNK_BYTES)))
            return false;
        part = str_slice(part, CHUNK_BYTES, part.len);
    }
    return true;
}

static bool send_end(struct reply *reply)
{
    return reply->frame != FRAME_CHUNKED || wire_write_str(reply->wire, STR("0\r\n\r\n"));
}

static struct str part_kept(const struct reply *reply)
{
    return str_slice(reply->body, 0, (size_t)(reply->body.len * (size_t)reply->fault->keep / 100));
}

static struct str part_after(const struct reply *reply, struct str sent)
{
    return str_slice(reply->body, sent.len, reply->body.len);
}

/* ---- the right way ---- */

static bool send_well(struct reply *reply)
{
    const size_t len = has_body(reply) ? reply->body.len : 0;
    const size_t first = len > LAST_BYTES ? len - LAST_BYTES : 0;
    const struct str all = str_slice(reply->body, 0, len);

    if (reply->frame == FRAME_LENGTH && first == 0) {
        done(reply, true);
        return send_head(reply, all);
    }
    if (reply->frame == FRAME_LENGTH) {
        if (!send_head(reply, str_slice(all, 0, first)))
            return false;
        done(reply, true);
        return wire_write_str(reply->wire, str_slice(all, first, len));
    }
    if (!send_head(reply, STR("")) || !send_part(reply, str_slice(all, 0, first)))
        return false;
    done(reply, true);
    return send_part(reply, str_slice(all, first, len)) && send_end(reply);
}

/* ---- the wrong ways ---- */

static bool send_cut(struct reply *reply)
{
    const struct str kept = part_kept(reply);

    switch ((enum fault_length)reply->fault->length) {
    case LENGTH_RIGHT:
        reply->frame = FRAME_LENGTH;
        break;
    case LENGTH_SHORT:
        reply->frame = FRAME_LENGTH;
        reply->length = (int64_t)kept.len;
        break;
    case LENGTH_NONE:
        reply->frame = FRAME_CLOSE;
        break;
    case LENGTH_CHUNKED:
        reply->frame = FRAME_CHUNKED;
        break;
    }
    return send_head(reply, STR("")) && send_part(reply, kept);
}

static bool send_dripping(struct reply *reply)
{
    const int64_t bps = reply->fault->bps;
    const size_t size = bps > 10 ? (size_t)bps / 10 : 1;
    struct str rest = reply->body;

    if (!send_head(reply, STR("")))
        return false;
    while (rest.len > 0) {
        const struct str drop = str_slice(rest, 0, size);

        if (rest.len == drop.len)
            done(reply, true);
        if (!send_part(reply, drop) ||
            !wire_pause(reply->wire, (int64_t)drop.len * US_PER_SECOND / bps))
            return false;
        rest = str_slice(rest, drop.len, rest.len);
    }
    done(reply, true);
    return send_end(reply);
}

static bool send_stalling(struct reply *reply)
{
    const int64_t wanted_us = reply->fault->ms * US_PER_MS;
    const int64_t us =
        wanted_us < reply->options->stall_max_us ? wanted_us : reply->options->stall_max_us;
    struct str first = STR("");

    if (reply->fault->at == FAULT_AT_BEFORE)
        return wire_pause(reply->wire, us) && send_well(reply);
    if (reply->fault->at == FAULT_AT_MID)
        first = part_kept(reply);
    if (!send_head(reply, STR("")) || !send_part(reply, first) || !wire_pause(reply->wire, us))
        return false;
    done(reply, true);
    return send_part(reply, part_after(reply, first)) && send_end(reply);
}

/* The body, then megabytes of blanks: well-formed all the same, only a limit can tell. */
static bool send_oversized(struct reply *reply)
{
    char blanks[16 << 10];
    int64_t left = reply->fault->mb << 20;

    memset(blanks, ' ', sizeof(blanks));
    reply->frame = reply->fault->length == LENGTH_RIGHT ? FRAME_LENGTH : FRAME_CHUNKED;
    reply->length = (int64_t)reply->body.len + left;
    if (!send_head(reply, STR("")) || !send_part(reply, reply->body))
        return false;
    for (; left > 0; left -= (int64_t)sizeof(blanks)) {
        if (left == (int64_t)sizeof(blanks))
            done(reply, true);
        if (!send_part(reply, (struct str){ blanks, sizeof(blanks) }))
            return false;
    }
    return send_end(reply);
}

static bool send_squeezed_part(void *context, struct str part)
{
    return send_part(context, part);
}

static bool send_bomb(struct reply *reply)
{
    reply->frame = FRAME_CHUNKED;
    reply->gzipped = true;
    if (!send_head(reply, STR("")) ||
        !squeeze_blanks(reply->body, reply->fault->mb, send_squeezed_part, reply))
        return false;
    done(reply, true);
    return send_end(reply);
}

static bool send_badly(struct reply *reply, enum reply_end *end)
{
    const int kind = reply->fault->kind;
    bool taken = true;

    /* An answer without a body can be broken off or be late, and nothing else. */
    switch (has_body(reply) || kind == FAULT_RESET || kind == FAULT_CLOSE ? kind : FAULT_NONE) {
    case FAULT_RESET:
        *end = REPLY_RESET;
        if (reply->fault->at == FAULT_AT_MID)
            taken = send_head(reply, STR("")) && send_part(reply, part_kept(reply));
        break;
    case FAULT_CLOSE:
        *end = REPLY_CLOSE;
        break;
    case FAULT_TRUNCATE:
        /* With a length that fits, the connection can live on and nothing looks wrong. */
        *end = reply->fault->length == LENGTH_SHORT ? *end : REPLY_CLOSE;
        taken = send_cut(reply);
        break;
    case FAULT_LENGTH:
        *end = REPLY_CLOSE;
        reply->frame = FRAME_LENGTH;
        reply->length += reply->fault->delta;
        taken = send_head(reply, reply->body);
        break;
    case FAULT_DRIP:
        taken = send_dripping(reply);
        break;
    case FAULT_STALL:
        taken = send_stalling(reply);
        break;
    case FAULT_OVERSIZE:
        taken = send_oversized(reply);
        break;
    case FAULT_BOMB:
        taken = send_bomb(reply);
        break;
    default:
        taken = send_well(reply);
    }
    done(reply, false);
    return taken;
}

/* Bodies are compressed when the client takes it, and when the fault is not about their bytes. */
static void prepare(struct reply *reply)
{
    const int kind = reply->fault->kind;

    reply->body = exchange_body(reply->exchange);
    if (reply->options->gzip_level > 0 && reply->traits->accepts_gzip &&
        reply->body.len >= GZIP_BYTES_MIN && kind != FAULT_OVERSIZE && kind != FAULT_BOMB)
        reply->gzipped =
            squeeze(reply->exchange->arena, reply->body, reply->options->gzip_level, &reply->body);
    reply->length = (int64_t)reply->body.len;
    reply->frame = reply->options->frame;
    if (reply->traits->http_1_0 && reply->frame == FRAME_CHUNKED)
        reply->frame = FRAME_CLOSE;
    if (!has_body(reply))
        reply->frame = FRAME_LENGTH;
}

enum reply_end reply_send(struct reply *reply, bool *broken)
{
    enum reply_end end;

    prepare(reply);
    end = reply->traits->keep_alive && reply->frame != FRAME_CLOSE ? REPLY_KEEP : REPLY_CLOSE;
    *broken = !send_badly(reply, &end);
    return *broken && end == REPLY_KEEP ? REPLY_CLOSE : end;
}
