/* Reads heads until the last one, then the body. */
#include "data/saved_response.h"

#include <inttypes.h>

#include "base/quote.h"
#include "data/http_head.h"

/* A file of curl's may have the heads of several responses. */
static const struct http_limits LIMITS = { .header_bytes_max = 1 << 20, .headers_max = 1000 };

struct reading {
    struct str rest;
    int64_t line_no; /* of the line before the rest */
    struct http_head head;
};

static struct str next_line(struct reading *reading)
{
    struct str line = str_cut(&reading->rest, '\n');

    reading->line_no++;
    if (str_ends(line, STR("\r")))
        line.len--;
    return line;
}

/* "HTTP/2 302": another head, and not a body. */
static bool begins_next_head(struct str text)
{
    struct str line = str_cut(&text, '\n');
    int64_t status;

    if (!str_starts(line, STR("HTTP/")))
        return false;
    (void)str_cut(&line, ' ');
    return str_to_i64(str_trim(str_cut(&line, ' ')), &status);
}

/* A status line, right or wrong, or a status as browsers show it. */
static bool begins_head(struct str text)
{
    struct str line = str_cut(&text, '\n');

    if (str_starts(line, STR("HTTP/")))
        return true;
    if (str_starts(line, STR(":")))
        (void)str_cut(&line, ':');
    return str_eq_nocase(str_trim(str_cut(&line, ':')), STR("status"));
}

/* "status: 200", ":status: 200 OK", as a status line; the line itself when it is another one. */
static struct str as_status_line(struct arena *arena, struct str line)
{
    struct str rest = line;

    if (str_starts(rest, STR(":")))
        (void)str_cut(&rest, ':');
    if (!str_eq_nocase(str_trim(str_cut(&rest, ':')), STR("status")))
        return line;
    return arena_printf(arena, "HTTP/1.1 %.*s", STR_ARG(str_trim(rest)));
}

static bool is_header(struct str line)
{
    const size_t colon = str_find_char(line, ':');

    return str_starts(line, STR(" ")) || str_starts(line, STR("\t")) ||
           (colon < line.len && http_is_token(str_slice(line, 0, colon)));
}

/* The first line of a head has its status. */
static bool read_line(struct reading *reading, struct arena *arena, bool is_first,
                      struct error *err)
{
    const struct str line = next_line(reading);
    const struct str read = is_first ? as_status_line(arena, line) : line;

    if (read.data == NULL && line.data != NULL)
        return arena_error(arena, err);
    if (line.len > 0 && !is_first && !is_header(line))
        return error_set(err, ERROR_REQUEST, "response.head",
                         "line %" PRId64 " is not a header, and no empty line ended the head: %s; "
                         "save the response with curl -i",
                         reading->line_no, QUOTE(line));
    if (!http_head_add(&reading->head, read, err)) {
        err->level = ERROR_REQUEST;
        err->code = "response.head";
        return error_wrap(err, "line %" PRId64, reading->line_no);
    }
    return true;
}

/* One head, with the empty line after it. */
static bool read_head(struct reading *reading, struct arena *arena, struct error *err)
{
    bool is_first = true;

    do {
        if (!read_line(reading, arena, is_first, err))
            return false;
        is_first = false;
    } while (!reading->head.is_complete && reading->rest.len > 0);
    return true;
}

/* What curl -v and curl --trace write is not what was received. */
static bool refuse_trace(struct str text, struct error *err)
{
    static const struct str marks[] = { STR_INIT("< HTTP/"), STR_INIT("> "), STR_INIT("* "),
                                        STR_INIT("== Info:") };

    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        if (str_starts(text, marks[i]))
            return error_set(err, ERROR_REQUEST, "response.head",
                             "this is a trace of curl -v, not a response: %s; save the response "
                             "with curl -i",
                             QUOTE(str_cut(&text, '\n')));
    }
    return true;
}

static bool refuse_packed(struct str body, struct error *err)
{
    return !str_starts(body, STR("\x1f\x8b")) ||
           error_set(err, ERROR_REQUEST, "response.head",
                     "the body is compressed; save the response with curl -i --compressed");
}

bool saved_response_read(const struct saved_response *saved, struct arena *arena,
                         struct http_response *reply, struct error *err)
{
    const bool is_beside = saved->head.len > 0 && !str_starts(saved->text, STR("HTTP/"));
    struct reading reading = { .rest = is_beside ? saved->head : saved->text };

    *reply = (struct http_response){ .status = 200 };
    http_head_init(&reading.head, arena, &LIMITS);
    if (!refuse_trace(reading.rest, err))
        return false;
    if (is_beside && !begins_head(reading.rest))
        return error_set(err, ERROR_REQUEST, "response.head",
                         "the head does not begin with a status line: %s",
                         QUOTE(str_cut(&reading.rest, '\n')));
    if (begins_head(reading.rest)) {
        do {
            if (!read_head(&reading, arena, err))
                return false;
        } while (begins_next_head(reading.rest));
    }
    if (reading.head.status > 0) {
        reply->status = reading.head.status;
        reply->version = reading.head.version;
        reply->headers = reading.head.headers;
    }
    reply->body = is_beside ? saved->text : reading.rest;
    reply->wire_bytes = (int64_t)reply->body.len;
    return refuse_packed(reply->body, err);
}
