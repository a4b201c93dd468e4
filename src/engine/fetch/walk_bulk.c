/* A file of records, as it comes:
 *
 *      open ─┬─ 206 ──────────────────── the rest of the file
 *            ├─ 200, the same file ───── skip what was handed out, and compare its hash
 *            ╰─ 200, another file ────── from its beginning
 *                     │
 *                     ▼
 *      lines ── up to 250 of them ── one document ── records ──▶ a batch
 *        ▲                                                      │
 *        ╰─── the stream breaks: wait, open it again ◀──────────╯
 *
 * The lines of a batch are parsed as one JSON array: a document and its records are then what they
 * are everywhere else. Where that fails, or its elements are not the lines, lines that are not JSON
 * are found one by one and become bad records; a last line without its end is a file that was cut
 * off.
 *
 * The elements of an XML file are parsed as a document with its root around them, in which
 * response.items finds the records. Elements without any are counted, and a doubt.
 */
#include "engine/fetch/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/mask.h"
#include "base/quote.h"
#include "data/http_date.h"
#include "engine/fetch/document_outline.h"

enum {
    BATCH_LINES_BYTES = 8 << 20, /* of one batch: then it is handed out, however few it has */
    NUMBER_MAX = 48,
};

/* While what was handed out is skipped, an empty batch shows that the walk is alive. */
#define SKIPPING_TOLD_US (5 * US_PER_MINUTE)

void bulk_init(struct fetch *fetch)
{
    lines_init(&fetch->bulk.lines, &fetch->memory.own,
               fetch->spec->endpoint.response.format == RESPONSE_XML);
    fetch->bulk.told_us = clock_monotonic_us(fetch->parts.clock);
}

/* Ends the stream. failure NULL: it did not fail. */
static void end_stream(struct fetch *fetch, const struct error *failure)
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
    end_stream(fetch, NULL);
    hash_release(&fetch->bulk.hash);
    arena_release(&fetch->bulk.head);
}

/* ---- opening ---- */

static bool restart(struct fetch *fetch, struct error *err)
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

    if (bulk->place.records > 0 && bulk_file_differs(&bulk->file, &file) && !restart(fetch, err))
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

static bool open_stream(struct fetch *fetch, struct error *err)
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
        return restart(fetch, err);
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
        end_stream(fetch, NULL);
        bulk->has_no_rest = true; /* all of it, then */
        return true;
    }
    if (accept(fetch, &request, err))
        return true;
    end_stream(fetch, err);
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

/* The next line that is not blank. *is_end: there is none. */
static bool next_line(struct fetch *fetch, struct line *line, bool *is_end, struct error *err)
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

/* Skips what was handed out. *is_other: this is another file. False also where the walk should show
 * that it is alive (*is_late). */
static bool skip(struct fetch *fetch, bool *is_other, bool *is_late, struct error *err)
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
        if (!next_line(fetch, &line, &is_end, err))
            return false;
        if (is_end)
            break;
    }
    *is_other = bulk->at.records != bulk->place.records ||
                memcmp(&bulk->at.sum, &bulk->place.sum, sizeof(bulk->at.sum)) != 0;
    bulk->is_skipping = false;
    return true;
}

/* ---- the lines of a batch ---- */

struct bulk_lines {
    struct buf body; /* a JSON array of them */
    struct {
        struct str *items; /* in the body */
        size_t count;
    } texts;
    bool is_open; /* the last one has no end */
    bool is_end;  /* that was all of the file */
};

static bool add_line(struct fetch *fetch, struct bulk_lines *lines, const struct line *line,
                     struct error *err)
{
    struct str *text = LIST_ADD(walk_arena(fetch), &lines->texts);

    if (text == NULL)
        return arena_error(walk_arena(fetch), err);
    if (!fetch->bulk.lines.is_xml)
        buf_add_char(&lines->body, lines->texts.count == 1 ? '[' : ',');
    else if (lines->texts.count == 1)
        buf_add(&lines->body, buf_str(&fetch->bulk.lines.head));
    *text = (struct str){ NULL, lines->body.len }; /* the buffer may move: see close_body() */
    buf_add(&lines->body, line->text);
    lines->is_open = line->is_open;
    return buf_ok(&lines->body, err);
}

static bool close_body(const struct lines *cutter, struct bulk_lines *lines, struct error *err)
{
    if (cutter->is_xml) {
        if (lines->texts.count == 0)
            buf_add(&lines->body, buf_str(&cutter->head));
        lines_close_document(cutter, &lines->body);
        return buf_ok(&lines->body, err);
    }
    if (lines->texts.count == 0)
        buf_add_char(&lines->body, '[');
    buf_add_char(&lines->body, ']');
    if (!buf_ok(&lines->body, err))
        return false;
    for (size_t i = 0; i < lines->texts.count; i++) {
        const size_t from = lines->texts.items[i].len;
        const size_t to =
            i + 1 < lines->texts.count ? lines->texts.items[i + 1].len - 1 : lines->body.len - 1;

        lines->texts.items[i] = str_slice(buf_str(&lines->body), from, to);
    }
    return true;
}

/* As many as a batch may have. What breaks after some lines is kept for the next batch. */
static bool gather(struct fetch *fetch, struct bulk_lines *lines, struct error *err)
{
    const size_t most = (size_t)fetch->order.batch_records;
    struct walk_bulk *bulk = &fetch->bulk;
    struct line line;

    buf_init(&lines->body, walk_arena(fetch), (size_t)BATCH_BYTES_MAX);
    while (!lines->is_end && lines->texts.count < most && lines->body.len < BATCH_LINES_BYTES) {
        if (!next_line(fetch, &line, &lines->is_end, err)) {
            if (lines->texts.count == 0)
                return false;
            bulk->broken = *err;
            break;
        }
        if (!lines->is_end && !add_line(fetch, lines, &line, err))
            return false;
    }
    return close_body(&bulk->lines, lines, err);
}

/* ---- records ---- */

/* The root is that of a list. */
static bool check_root(struct fetch *fetch, const struct response *response, struct error *err)
{
    return response->items.is_there ||
           error_set(err, ERROR_TRANSIENT, "answer.file",
                     "%.*s finds nothing in the file, nor the place for it; see "
                     "response.namespaces if it has a namespace: %.*s",
                     STR_ARG(fetch->list->endpoint->response.items.text),
                     STR_ARG(document_outline(&response->document, walk_arena(fetch))));
}

static bool open_document(struct fetch *fetch, struct response *response, struct str body,
                          struct error *err)
{
    const struct reader *reader = &fetch->list->reader;

    *response = (struct response){ .kind = RESPONSE_PAGE };
    if (!document_open(
            &response->document, walk_arena(fetch),
            &(struct document_source){ .format = RESPONSE_XML, .xml = reader->xml, .body = body },
            err)) {
        err->level = ERROR_TRANSIENT;
        err->code = "answer.file";
        return false;
    }
    response->is_open = true;
    return document_items(
               &response->document,
               &(struct document_list){ .items = &reader->items, .container = &reader->container },
               walk_arena(fetch), &response->items, err) &&
           check_root(fetch, response, err);
}

static bool open_body(struct fetch *fetch, struct response *response, struct str body,
                      struct error *err)
{
    const struct json_doc *json = &response->document.json;
    struct document_items *items = &response->items;
    struct json_iter it;

    *response = (struct response){ .kind = RESPONSE_PAGE };
    if (!document_open(&response->document, walk_arena(fetch),
                       &(struct document_source){ .format = RESPONSE_JSON, .body = body }, err))
        return false;
    response->is_open = true;
    items->is_there = true;
    items->items =
        ARENA_ARRAY(walk_arena(fetch), struct document_node, json_count(json, json_root(json)));
    if (items->items == NULL)
        return arena_error(walk_arena(fetch), err);
    for (it = json_each(json, json_root(json)); json_next(&it);)
        items->items[items->count++].json = it.value;
    return true;
}

/* "1,2" is two elements and no JSON. */
static bool is_of_lines(const struct response *response, const struct bulk_lines *lines)
{
    const struct document_items *items = &response->items;

    if (items->count != lines->texts.count)
        return false;
    for (size_t i = 0; i < items->count; i++) {
        const struct str raw = json_raw(&response->document.json, items->items[i].json);
        const struct str text = str_trim(lines->texts.items[i]);

        if (raw.data != text.data || raw.len != text.len)
            return false;
    }
    return true;
}

static bool is_json(struct fetch *fetch, struct str text, struct error *why)
{
    struct json_doc doc;
    const bool is_good = json_parse(&doc, &fetch->memory.scratch, text, why);

    arena_reset(&fetch->memory.scratch);
    return is_good;
}

static bool add_bad(struct fetch *fetch, struct listing *bad, size_t position, struct str text,
                    const struct error *why)
{
    struct record *record = LIST_ADD(walk_arena(fetch), &bad->bad);

    if (record == NULL)
        return false;
    *record = (struct record){ .position = position,
                               .payload = text,
                               .reason = "item.syntax",
                               .detail = mask_personal_copy(walk_arena(fetch), str_of(why->text)) };
    return record->detail.data != NULL;
}

/* A body of the lines that are JSON; the others are bad records. */
static bool sort_out(struct fetch *fetch, const struct bulk_lines *lines, struct str *body,
                     struct listing *bad, struct error *err)
{
    struct error why = { 0 };
    struct buf out;

    buf_init(&out, walk_arena(fetch), (size_t)BATCH_BYTES_MAX);
    for (size_t i = 0; i < lines->texts.count; i++) {
        const struct str text = lines->texts.items[i];

        if (is_json(fetch, text, &why)) {
            buf_add_char(&out, out.len == 0 ? '[' : ',');
            buf_add(&out, text);
        } else if (i + 1 == lines->texts.count && lines->is_open)
            return error_set(err, ERROR_TRANSIENT, "answer.file",
                             "the file ends in the middle of a line: %s",
                             QUOTE(str_slice(text, 0, 80)));
        else if (!add_bad(fetch, bad, i, text, &why))
            return arena_error(walk_arena(fetch), err);
    }
    if (out.len == 0)
        return error_set(err, ERROR_TRANSIENT, "answer.file",
                         "none of %zu lines is JSON; the first is %s", lines->texts.count,
                         QUOTE(str_slice(lines->texts.items[0], 0, 80)));
    buf_add_char(&out, ']');
    *body = buf_str(&out);
    return buf_ok(&out, err);
}

/* Behind those that the listing itself found. */
static bool add_all_bad(struct fetch *fetch, struct listing *listing, const struct listing *bad,
                        struct error *err)
{
    for (size_t i = 0; i < bad->bad.count; i++) {
        struct record *record = LIST_ADD(walk_arena(fetch), &listing->bad);

        if (record == NULL)
            return arena_error(walk_arena(fetch), err);
        *record = bad->bad.items[i];
    }
    listing->items += bad->bad.count;
    return true;
}

static bool read_records(struct fetch *fetch, const struct bulk_lines *lines,
                         struct exchange *exchange, struct error *err)
{
    const struct listing_input input = {
        .reader = &fetch->list->reader,
        .response = &exchange->response,
        .reply = &exchange->reply,
        .request_url = fetch->list->endpoint->http.base_url,
        .now_us = exchange->sent_us,
        .feed = CURSOR_TIME,
    };
    struct str body = buf_str(&lines->body);
    struct listing bad = { 0 };
    struct error ignored;

    if (fetch->bulk.lines.is_xml)
        return open_document(fetch, &exchange->response, body, err) &&
               listing_read(&exchange->listing, walk_arena(fetch), &input, err);
    if (!(open_body(fetch, &exchange->response, body, &ignored) &&
          is_of_lines(&exchange->response, lines)) &&
        (!sort_out(fetch, lines, &body, &bad, err) ||
         !open_body(fetch, &exchange->response, body, err)))
        return false;
    return listing_read(&exchange->listing, walk_arena(fetch), &input, err) &&
           add_all_bad(fetch, &exchange->listing, &bad, err);
}

/* A file begins with records, or it is something else: an error, a list on one line. */
static bool check_beginning(struct fetch *fetch, const struct bulk_lines *lines,
                            const struct listing *listing, struct error *err)
{
    struct str first = STR("");

    if (fetch->bulk.place.records > 0 || listing->hash_count > 0)
        return true;
    if (lines->texts.count == 0)
        return fetch->bulk.lines.is_xml || error_set(err, ERROR_TRANSIENT, "answer.file",
                                                     "the file is empty: it has no records");
    if (!fetch->bulk.lines.is_xml)
        first = lines->texts.items[0];
    else
        first = str_slice(buf_str(&lines->body), 0, lines->body.len);
    return error_set(err, ERROR_TRANSIENT, "answer.file",
                     "none of the first %zu %s of the file is a record with an id at %.*s: %s",
                     lines->texts.count, fetch->bulk.lines.is_xml ? "elements" : "lines",
                     STR_ARG(fetch->list->endpoint->response.id[0].text),
                     QUOTE(str_slice(first, 0, 80)));
}

/* ---- a batch ---- */

/* By the server's clock, and never later than the request. */
static int64_t made_us(const struct walk_bulk *bulk)
{
    int64_t at_us;

    return http_date_parse(str_of(bulk->file.modified), bulk->opened.sent_us, &at_us) ? at_us : 0;
}

/* What the batch is made of; the stream stays where it is. */
static struct exchange *exchange_of(struct fetch *fetch)
{
    struct exchange *exchange = &fetch->exchanges[0];

    exchange_close(exchange);
    *exchange = fetch->bulk.opened;
    fetch->current = exchange;
    fetch->counts.status = exchange->reply.status;
    return exchange;
}

static void count_bytes(struct fetch *fetch)
{
    struct walk_bulk *bulk = &fetch->bulk;

    fetch->counts.bytes += bulk->stream->wire_bytes - bulk->opened.reply.wire_bytes;
    bulk->opened.reply.wire_bytes = bulk->stream->wire_bytes;
}

static void end_file(struct fetch *fetch)
{
    fetch->list->is_done = true;
    fetch->list->end = PAGE_END_SINGLE;
}

/* A root without elements. */
static bool is_empty_document(const struct walk_bulk *bulk, const struct bulk_lines *lines)
{
    return bulk->lines.is_xml && lines->is_end && bulk->at.records == 0;
}

/* Elements of a batch that are no records, nor have any in them. */
static int64_t others_of(const struct walk_bulk *bulk, const struct bulk_lines *lines,
                         const struct listing *listing)
{
    return bulk->lines.is_xml && lines->texts.count > listing->items
               ? (int64_t)(lines->texts.count - listing->items)
               : 0;
}

static bool hand_out(struct fetch *fetch, const struct bulk_lines *lines, struct fetch_batch *batch,
                     struct error *err)
{
    struct walk_bulk *bulk = &fetch->bulk;
    struct exchange *exchange = exchange_of(fetch);

    if (((lines->texts.count > 0 || is_empty_document(bulk, lines)) &&
         !read_records(fetch, lines, exchange, err)) ||
        !check_beginning(fetch, lines, &exchange->listing, err))
        return error_wrap(err, "%s, after %" PRId64 " records", exchange->title.text,
                          bulk->place.records);
    walk_take_records(fetch, &exchange->listing, batch);
    batch->made_us = made_us(bulk);
    bulk->place = bulk->at;
    bulk->others += others_of(bulk, lines, &exchange->listing);
    bulk->failures = 0;
    bulk->told_us = clock_monotonic_us(fetch->parts.clock);
    count_bytes(fetch);
    if (!lines->is_end)
        return true;
    end_file(fetch);
    end_stream(fetch, NULL);
    return true;
}

/* Nothing new: what was handed out is being skipped. */
static void show_alive(struct fetch *fetch)
{
    (void)exchange_of(fetch);
    fetch->bulk.told_us = clock_monotonic_us(fetch->parts.clock);
}

/* All of a plain file was handed out, and the walk was left before it saw the end. There is no rest
 * to request: a server would refuse that, as it does where a file has become shorter. */
static bool is_at_end(const struct walk_bulk *bulk)
{
    return bulk->stream == NULL && bulk->place.records > 0 && !bulk->file.is_packed &&
           !bulk->lines.is_xml && bulk->file.has_length && bulk->place.bytes == bulk->file.length;
}

/* One attempt at a batch, from the stream as it is. *is_done: there is one. */
static bool try_batch(struct fetch *fetch, struct fetch_batch *batch, bool *is_done,
                      struct error *err)
{
    struct walk_bulk *bulk = &fetch->bulk;
    struct bulk_lines lines = { 0 };
    bool is_other = false, is_late = false;

    *is_done = false;
    if (bulk->broken.level != ERROR_NONE) {
        *err = bulk->broken;
        bulk->broken = (struct error){ 0 };
        return false;
    }
    if (is_at_end(bulk)) {
        *is_done = true;
        end_file(fetch);
        return true;
    }
    if (bulk->stream == NULL && !open_stream(fetch, err))
        return false;
    if (bulk->stream == NULL)
        return true; /* to be opened from the beginning */
    if (bulk->is_skipping && !skip(fetch, &is_other, &is_late, err))
        return false;
    if (is_other) {
        end_stream(fetch, NULL);
        return restart(fetch, err);
    }
    *is_done = true;
    if (is_late) {
        show_alive(fetch);
        return true;
    }
    return gather(fetch, &lines, err) && hand_out(fetch, &lines, batch, err);
}

bool walk_bulk_batch(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    const struct exchange_request request = { .phase = fetch->list, .is_stream = true };
    struct walk_bulk *bulk = &fetch->bulk;
    bool is_done = false, was_open;

    while (!is_done) {
        was_open = bulk->stream != NULL;
        if (try_batch(fetch, batch, &is_done, err))
            continue;
        is_done = false;
        exchange_mask_error(fetch, &request, err);
        was_open = was_open || bulk->stream != NULL;
        end_stream(fetch, err);
        if (!was_open || fetch_error_is_restarts(err))
            return false; /* exchange_run has tried as often as the source allows */
        if (!exchange_wait(fetch, &request, &bulk->opened, ++bulk->failures, err))
            return false;
        exchange_close(&fetch->exchanges[0]);
        fetch->current = NULL;
        arena_reset(walk_arena(fetch));
    }
    return true;
}

void walk_bulk_end(struct fetch *fetch)
{
    const struct walk_bulk *bulk = &fetch->bulk;
    struct str reason;

    if (bulk->others > 0)
        reason =
            arena_printf(&fetch->memory.own,
                         "%" PRId64 " elements in the file; %" PRId64 " of them have no record",
                         bulk->place.records, bulk->others);
    else
        reason = arena_printf(&fetch->memory.own, "%" PRId64 " records in the file",
                              bulk->place.records);
    walk_end(fetch, FETCH_COMPLETE, reason.data != NULL ? reason : STR("the file was read"));
    fetch->verdict.distinct = bulk->place.records - bulk->others;
    fetch->verdict.doubts[FETCH_DOUBT_ELEMENTS] = bulk->others > 0;
}
