/* Reads the head and the body of a request, and fills in the call. */
#include "sim/http/request.h"

#include <string.h>

#include "base/instant.h"
#include "sim/util/encode.h"
#include "sim/util/hash.h"

/* A connection may idle between two requests, but not within one. */
enum { IDLE_SECONDS_MAX = 120, READ_SECONDS_MAX = 30 };

/* ---- the head ---- */

static bool bad(struct http_call *call, int status, struct error *err, const char *why)
{
    call->status = status;
    return error_set(err, ERROR_REQUEST, "http.request", "%s", why);
}

static bool parse_target(struct http_call *call, struct str target, struct error *err)
{
    if (str_starts(target, STR("http://")) || str_starts(target, STR("https://"))) {
        target = str_slice(target, str_find(target, STR("//")) + 2, target.len);
        target = str_slice(target, str_find_char(target, '/'), target.len);
    }
    target = str_cut(&target, '#');
    call->query = target;
    call->raw_path = str_cut(&call->query, '?');
    if (call->raw_path.len == 0 || call->raw_path.data[0] != '/')
        return bad(call, 400, err, "the request's target does not begin with '/'");
    call->status = 400;
    return decode_percent(call->arena, call->raw_path, false, &call->path, err) &&
           call_add_params(call, call->query, err);
}

static bool parse_line(struct http_call *call, struct request_traits *traits, struct str line,
                       struct error *err)
{
    struct str target;

    call->method = str_cut(&line, ' ');
    target = str_cut(&line, ' ');
    if (call->method.len == 0 || target.len == 0)
        return bad(call, 400, err, "the request line is not METHOD TARGET VERSION");
    if (!str_eq(line, STR("HTTP/1.1")) && !str_eq(line, STR("HTTP/1.0")))
        return bad(call, 505, err, "only HTTP/1.0 and HTTP/1.1 are supported");
    traits->http_1_0 = str_eq(line, STR("HTTP/1.0"));
    traits->keep_alive = !traits->http_1_0;
    return parse_target(call, target, err);
}

/* True when `list` ("gzip, deflate;q=0.5") names the word and does not refuse it with q=0. */
static bool list_has(struct str list, struct str word)
{
    while (list.len > 0) {
        struct str item = str_cut(&list, ',');
        const struct str name = str_trim(str_cut(&item, ';'));

        if (str_eq_nocase(name, word))
            return !str_eq(str_trim(item), STR("q=0"));
    }
    return false;
}

static bool note_header(struct http_call *call, struct request_traits *traits, struct str name,
                        struct str value, struct error *err)
{
    if (str_eq_nocase(name, STR("Host"))) {
        call->host = value;
    } else if (str_eq_nocase(name, STR("Connection"))) {
        if (list_has(value, STR("close")))
            traits->keep_alive = false;
        else if (list_has(value, STR("keep-alive")))
            traits->keep_alive = true;
    } else if (str_eq_nocase(name, STR("Accept-Encoding"))) {
        traits->accepts_gzip = list_has(value, STR("gzip"));
    } else if (str_eq_nocase(name, STR("Expect"))) {
        traits->expects_continue = str_eq_nocase(value, STR("100-continue"));
    } else if (str_eq_nocase(name, STR("Transfer-Encoding"))) {
        if (!str_eq_nocase(value, STR("chunked")))
            return bad(call, 501, err, "the only transfer coding supported is chunked");
        traits->chunked = true;
    } else if (str_eq_nocase(name, STR("Content-Length"))) {
        if (!str_to_i64(value, &traits->content_length) || traits->content_length < 0)
            return bad(call, 400, err, "Content-Length is not a number");
        if (traits->content_length > REQUEST_BODY_MAX)
            return bad(call, 413, err, "the request's body is too large");
    }
    return true;
}

static bool parse_header(struct http_call *call, struct request_traits *traits, struct str line,
                         struct error *err)
{
    struct str value = line;
    const struct str name = str_cut(&value, ':');

    if (name.len == 0 || name.len == line.len || name.data[name.len - 1] == ' ')
        return bad(call, 400, err, "a header line is not NAME: VALUE");
    if (call->header_count == CALL_HEADERS_MAX)
        return bad(call, 431, err, "too many headers");
    value = str_trim(value);
    call->headers[call->header_count++] = (struct key_value){ name, value };
    return note_header(call, traits, name, value, err);
}

static struct str next_line(struct str *rest)
{
    struct str line = str_cut(rest, '\n');

    if (line.len > 0 && line.data[line.len - 1] == '\r')
        line.len--;
    return line;
}

bool request_parse_head(struct http_call *call, struct request_traits *traits, struct str head,
                        struct error *err)
{
    *traits = (struct request_traits){ .keep_alive = true };
    if (!parse_line(call, traits, next_line(&head), err))
        return false;
    while (head.len > 0) {
        const struct str line = next_line(&head);

        if (line.len == 0)
            break;
        if (!parse_header(call, traits, line, err))
            return false;
    }
    call->status = 0;
    return true;
}

/* ---- the bytes ---- */

static bool fill(struct wire *wire, struct request_input *input, int64_t timeout_us)
{
    size_t got;

    if (input->from > 0) {
        memmove(input->bytes, input->bytes + input->from, input->to - input->from);
        input->to -= input->from;
        input->from = 0;
    }
    got = wire_read(wire, input->bytes + input->to, sizeof(input->bytes) - input->to, timeout_us);
    input->to += got;
    return got > 0;
}

static struct str pending(const struct request_input *input)
{
    return (struct str){ input->bytes + input->from, input->to - input->from };
}

/* The length of the pending request's head, 0 when it is not complete. */
static size_t head_length(const struct request_input *input)
{
    const struct str seen = pending(input);
    const size_t end = str_find(seen, STR("\r\n\r\n"));

    return end < seen.len ? end + 4 : 0;
}

static void skip_blank_lines(struct request_input *input)
{
    while (input->from < input->to &&
           (input->bytes[input->from] == '\r' || input->bytes[input->from] == '\n'))
        input->from++;
}

static enum request_state read_head(struct wire *wire, struct request_input *input,
                                    struct http_call *call, struct str *head, struct error *err)
{
    size_t len;

    for (;;) {
        skip_blank_lines(input);
        if ((len = head_length(input)) > 0)
            break;
        if (input->to - input->from == sizeof(input->bytes)) {
            (void)bad(call, 431, err, "the request's head is too large");
            return REQUEST_BAD;
        }
        if (!fill(wire, input,
                  (input->from == input->to ? IDLE_SECONDS_MAX : READ_SECONDS_MAX) * US_PER_SECOND))
            return REQUEST_END;
    }
    *head = arena_copy(call->arena, str_slice(pending(input), 0, len));
    input->from += len;
    if (head->data != NULL)
        return REQUEST_READY;
    (void)arena_error(call->arena, err);
    call->status = 500;
    return REQUEST_BAD;
}

static enum request_state read_bytes(struct wire *wire, struct request_input *input,
                                     struct buf *body, size_t count)
{
    while (count > 0) {
        struct str seen = pending(input);

        if (seen.len == 0) {
            if (!fill(wire, input, READ_SECONDS_MAX * US_PER_SECOND))
                return REQUEST_END;
            continue;
        }
        seen = str_slice(seen, 0, count);
        buf_add(body, seen);
        input->from += seen.len;
        count -= seen.len;
    }
    return REQUEST_READY;
}

static enum request_state read_line(struct wire *wire, struct request_input *input,
                                    struct buf *line)
{
    buf_clear(line);
    while (line->len < 2 || line->data[line->len - 1] != '\n') {
        if (line->len > 1024 || read_bytes(wire, input, line, 1) != REQUEST_READY)
            return REQUEST_END;
    }
    line->len -= line->data[line->len - 2] == '\r' ? 2 : 1;
    return REQUEST_READY;
}

static bool chunk_size(struct str line, size_t *size)
{
    const struct str digits = str_trim(str_cut(&line, ';'));

    *size = 0;
    for (size_t i = 0; i < digits.len; i++) {
        const int digit = decode_hex_digit(digits.data[i]);

        if (digit < 0 || i == 8)
            return false;
        *size = *size * 16 + (size_t)digit;
    }
    return digits.len > 0;
}

static enum request_state read_chunks(struct wire *wire, struct request_input *input,
                                      struct http_call *call, struct buf *body, struct error *err)
{
    struct buf line;
    size_t size;

    buf_init(&line, call->arena, 2048);
    do {
        if (read_line(wire, input, &line) != REQUEST_READY)
            return REQUEST_END;
        if (!chunk_size(buf_str(&line), &size)) {
            (void)bad(call, 400, err, "a chunk's size is not a hexadecimal number");
            return REQUEST_BAD;
        }
        if (size > REQUEST_BODY_MAX - body->len) {
            (void)bad(call, 413, err, "the request's body is too large");
            return REQUEST_BAD;
        }
        if (read_bytes(wire, input, body, size) != REQUEST_READY)
            return REQUEST_END;
        do { /* the chunk's end, or the trailers up to an empty line */
            if (read_line(wire, input, &line) != REQUEST_READY)
                return REQUEST_END;
        } while (line.len > 0);
    } while (size > 0);
    return REQUEST_READY;
}

static enum request_state read_body(struct wire *wire, struct request_input *input,
                                    struct http_call *call, const struct request_traits *traits,
                                    struct error *err)
{
    enum request_state state;
    struct buf body;

    buf_init(&body, call->arena, REQUEST_BODY_MAX + 1);
    if (traits->expects_continue && !wire_write_str(wire, STR("HTTP/1.1 100 Continue\r\n\r\n")))
        return REQUEST_END;
    if (traits->chunked)
        state = read_chunks(wire, input, call, &body, err);
    else
        state = read_bytes(wire, input, &body, (size_t)traits->content_length);
    if (state == REQUEST_READY && !buf_ok(&body, err)) {
        call->status = 413;
        return REQUEST_BAD;
    }
    call->body = buf_str(&body);
    return state;
}

enum request_state request_read(struct wire *wire, struct request_input *input,
                                struct http_call *call, struct request_traits *traits,
                                struct error *err)
{
    struct str head;
    enum request_state state = read_head(wire, input, call, &head, err);

    if (state != REQUEST_READY)
        return state;
    if (!request_parse_head(call, traits, head, err))
        return REQUEST_BAD;
    state = read_body(wire, input, call, traits, err);
    if (state != REQUEST_READY)
        return state;
    /* curl labels any body as a form. One that does not parse as a form is still a body. */
    if (str_starts(call_header(call, STR("Content-Type")),
                   STR("application/x-www-form-urlencoded")))
        (void)!call_add_params(call, call->body, err);
    return REQUEST_READY;
}

uint64_t request_identity(const struct http_call *call)
{
    uint64_t hash = hash_bytes(hash_bytes(0, call->method), call->path);
    uint64_t params = 0;

    for (size_t i = 0; i < call->param_count; i++)
        params += hash_bytes(hash_bytes(1, call->params[i].name), call->params[i].value);
    hash = hash_bytes(hash_of(hash, params, call->param_count), call->body);
    return hash_bytes(hash, call_header(call, STR("X-Token"))); /* it also says which page */
}
