/* A file as a stream of lines: opened, continued, skipped. */
#include "engine/fetch/bulk_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_MAX = 48 };

/* While what was handed out is skipped, an empty batch shows that the walk is alive. */
#define SKIPPING_TOLD_US (5 * US_PER_MINUTE)

void bulk_init(struct fetch *fetch)
{
    lines_init(&fetch->bulk.lines, &fetch->memory.own,
               fetch->spec->endpoint.response.format == RESPONSE_XML);
    fetch->bulk.told_us = clock_monotonic_us(fetch->parts.clock);
}

void bulk_stream_end(struct fetch *fetch, const struct error *failure)
{
    struct walk_bulk *bulk = &fetch->bulk;

    if (bulk->stream == NULL)
        return;
    fetch->counts.bytes += bulk->stream->wire_bytes - bulk->opened.reply.wire_bytes;
    http_end(bulk->stream);
    bulk->stream = NULL;
    exchange_feedback(fetch, &bulk->opened, failure);
}

void bulk_close(struct fetch *fetch)
{
    bulk_stream_end(fetch, NULL);
    hash_release(&fetch->bulk.hash);
    arena_release(&fetch->bulk.head);
}

/* ---- opening ---- */

bool bulk_stream_restart(struct fetch *fetch, struct error *err)
{
    struct walk_bulk *bulk = &fetch->bulk;

    fetch->totals.restarts++;
    bulk->place = (struct bulk_place){ 0 };
    bulk->file = (struct bulk_file){ 0 };
    bulk->others = 0;
    if (fetch->totals.restarts <= FETCH_RESTARTS_MAX)
        return true;
    return error_set(err, ERROR_TRANSIENT, "fetch.restarts",
                     "the file was another one %d times while it was read", FETCH_RESTARTS_MAX);
}

/* For the rest of the file, where a place in it is one in what is transferred. With the byte before
 * it, which ends a line: bytes from elsewhere are then seen to be so. */
static void ask_for_rest(const struct walk_bulk *bulk, char number[NUMBER_MAX],
                         struct exchange_request *request)
{
    const struct str validator = bulk_file_validator(&bulk->file);

    if (bulk->place.bytes == 0 || bulk->file.is_packed || validator.len == 0 || bulk->has_no_rest ||
        bulk->lines.is_xml) /* the rest of a document is none */
        return;
    (void)snprintf(number, NUMBER_MAX, "bytes=%" PRId64 "-", bulk->rest_from);
    request->extra[0] = (struct http_header){ STR("Range"), str_of(number) };
    request->extra[1] = (struct http_header){ STR("If-Range"), validator };
    request->extra_count = 2;
}

/* A 200: all of the file. */
static bool begin_whole(struct fetch *fetch, const struct http_response *reply, struct error *err)
{
    struct walk_bulk *bulk = &fetch->bulk;
    struct bulk_file file = bulk_file_of(reply);

    if (bulk->place.records > 0 && bulk_file_differs(&bulk->file, &file) &&
        !bulk_stream_restart(fetch, err))
        return false;
    file.is_packed = bulk->file.is_packed;
    bulk->file = file;
    bulk->at = (struct bulk_place){ 0 };
    bulk->is_skipping = bulk->place.records > 0;
    bulk->rest_end = 0;
    bulk->is_joining = false;
    lines_restart(&bulk->lines, true);
    return true;
}

static bool begin_rest(struct walk_bulk *bulk)
{
    bulk->at = bulk->place;
    bulk->at.bytes = bulk->rest_from;
    bulk->is_skipping = false;
    bulk->is_joining = true;
    lines_restart(&bulk->lines, false);
    return true;
}

/* Of a list with commas. */
static struct str last_of(struct str list)
{
    struct str last = list;

    while (list.len > 0)
        last = str_cut(&list, ',');
    return str_trim(last);
}

/* HTTP/1 without a length or chunks ends with the connection, however that came about. */
static bool is_bounded(const struct http_response *reply)
{
    const struct str coding = http_header_value(reply->headers, STR("Transfer-Encoding"));

    return reply->version >= 20 ||
           http_header_value(reply->headers, STR("Content-Length")).data != NULL ||
           str_eq_nocase(last_of(coding), STR("chunked"));
}

static bool accept(struct fetch *fetch, const struct exchange_request *request, struct error *err)
{
    struct walk_bulk *bulk = &fetch->bulk;
    const struct http_response *reply = &bulk->opened.reply;

    bulk->is_bounded = is_bounded(reply);
    if (reply->status == 206 && request->extra_count > 0)
        return begin_rest(bulk);
    if (reply->status == 200)
        return begin_whole(fetch, reply, err);
    return error_set(err, ERROR_TRANSIENT, "answer.file", "status %d in place of a file",
                     reply->status);
}

bool bulk_stream_open(struct fetch *fetch, struct error *err)
{
    struct walk_bulk *bulk = &fetch->bulk;
    struct exchange *exchange = &fetch->exchanges[0];
    struct exchange_request request = { .phase = fetch->list, .is_stream = true };
    char number[NUMBER_MAX];

    bulk->rest_from = bulk->place.bytes - 1;
    ask_for_rest(bulk, number, &request);
    fetch->current = exchange;
    if (!exchange_run(fetch, &request, exchange, err)) {
        if (exchange->reply.status != 416)
            return false;
        exchange_close(exchange); /* the file is shorter than what was handed out of it */
        return bulk_stream_restart(fetch, err);
    }
    if (exchange->stream == NULL)
        return error_set(err, ERROR_TRANSIENT, "answer.file",
                         "a rule of the source says that the "
                         "file is empty");
    bulk->opened = *exchange;
    bulk->stream = exchange->stream;
    exchange->stream = NULL;
    bulk->opened.stream = NULL;
    bulk->opened.reply.wire_bytes = 0;
    if (request.extra_count > 0 && bulk->opened.reply.status == 206 &&
        !bulk_range_fits(&bulk->opened.reply, &bulk->file, bulk->rest_from, &bulk->rest_end)) {
        bulk_stream_end(fetch, NULL);
        bulk->has_no_rest = true; /* all of it, then */
        return true;
    }
    if (accept(fetch, &request, err))
        return true;
    bulk_stream_end(fetch, err);
    return error_wrap(err, "%s", bulk->opened.title.text);
}

/* ---- lines ---- */

/* The end of the stream: is it the end of the file, too? */
static bool check_end(struct walk_bulk *bulk, struct error *err)
{
    if (bulk->rest_end > 0 && bulk->rest_from + bulk->stream->wire_bytes != bulk->rest_end) {
        bulk->has_no_rest = true;
        return error_set(err, ERROR_TRANSIENT, "answer.file",
                         "the rest of the file has other bytes than its Content-Range says");
    }
    if (bulk->stream->is_packed || bulk->is_bounded)
        return bulk->stream->wire_bytes > 0 || bulk->at.bytes > 0 ||
               error_set(err, ERROR_TRANSIENT, "answer.file", "the file is empty");
    return error_set(err, ERROR_TRANSIENT, "answer.file",
                     "the response has neither a length nor chunks: whether the file is whole "
                     "cannot be known");
}

static bool read_more(struct fetch *fetch, struct error *err)
{
    struct walk_bulk *bulk = &fetch->bulk;
    struct http_room room;
    size_t len;

    if (!lines_room(&bulk->lines, &room, err) || !http_read(bulk->stream, room, &len, err))
        return false;
    if (len > 0)
        lines_add(&bulk->lines, len);
    else if (!check_end(bulk, err))
        return error_wrap(err, "%s", bulk->opened.title.text);
    else
        lines_end(&bulk->lines);
    bulk->file.is_packed = bulk->stream->is_packed;
    return true;
}

/* The first line of a rest is the end of the line before it. */
static bool join(struct walk_bulk *bulk, const struct line *line, struct error *err)
{
    if (!bulk->is_joining)
        return true;
    bulk->is_joining = false;
    if (line->bytes == 1 && !line->is_open)
        return true;
    bulk->has_no_rest = true;
    return error_set(err, ERROR_TRANSIENT, "answer.file",
                     "%s: the rest of the file does not begin at the end of a line",
                     bulk->opened.title.text);
}

static bool check_whole(const struct walk_bulk *bulk, struct error *err)
{
    if (!lines_are_whole(&bulk->lines))
        return error_set(err, ERROR_TRANSIENT, "answer.file",
                         "%s: the file ends before its root element does", bulk->opened.title.text);
    return !bulk->lines.has_text ||
           error_set(err, ERROR_TRANSIENT, "answer.file",
                     "%s: there is a text between the elements of the file, or after them",
                     bulk->opened.title.text);
}

bool bulk_stream_line(struct fetch *fetch, struct line *line, bool *is_end, struct error *err)
{
    struct walk_bulk *bulk = &fetch->bulk;

    *is_end = false;
    for (;;) {
        switch (lines_next(&bulk->lines, line)) {
        case LINES_LINE:
            bulk->at.bytes += (int64_t)line->bytes;
            if (!join(bulk, line, err))
                return false;
            if (str_trim(line->text).len > 0)
                return bulk_place_add(&bulk->at, &bulk->hash, line->text, err);
            break;
        case LINES_MORE:
            if (!read_more(fetch, err))
                return false;
            break;
        case LINES_END:
            *is_end = check_whole(bulk, err);
            return *is_end;
        }
    }
}

bool bulk_stream_skip(struct fetch *fetch, bool *is_other, bool *is_late, struct error *err)
{
    struct walk_bulk *bulk = &fetch->bulk;
    struct line line;
    bool is_end;

    *is_other = *is_late = false;
    while (bulk->at.records < bulk->place.records) {
        if (clock_monotonic_us(fetch->parts.clock) - bulk->told_us > SKIPPING_TOLD_US) {
            *is_late = true;
            return true;
        }
        if (!bulk_stream_line(fetch, &line, &is_end, err))
            return false;
        if (is_end)
            break;
    }
    *is_other = bulk->at.records != bulk->place.records ||
                memcmp(&bulk->at.sum, &bulk->place.sum, sizeof(bulk->at.sum)) != 0;
    bulk->is_skipping = false;
    return true;
}
