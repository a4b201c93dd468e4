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
#include "engine/fetch/bulk_parts.h"

#include <inttypes.h>

#include "base/list.h"
#include "data/http_date.h"

/* Of one batch: then it is handed out, however few lines it has. */
enum { BATCH_LINES_BYTES = 8 << 20 };

/* ---- the lines of a batch ---- */

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
        if (!bulk_stream_line(fetch, &line, &lines->is_end, err)) {
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
         !bulk_records_read(fetch, lines, exchange, err)) ||
        !bulk_records_check(fetch, lines, &exchange->listing, err))
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
    bulk_stream_end(fetch, NULL);
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
    if (bulk->stream == NULL && !bulk_stream_open(fetch, err))
        return false;
    if (bulk->stream == NULL)
        return true; /* to be opened from the beginning */
    if (bulk->is_skipping && !bulk_stream_skip(fetch, &is_other, &is_late, err))
        return false;
    if (is_other) {
        bulk_stream_end(fetch, NULL);
        return bulk_stream_restart(fetch, err);
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
        bulk_stream_end(fetch, err);
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
