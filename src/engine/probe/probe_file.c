/* The beginning of a file of records, as if it were a page: its first lines are the items. */
#include <string.h>

#include "engine/fetch/lines.h"
#include "engine/probe/probe.h"

enum { SAMPLE_BYTES = 1 << 20, SAMPLE_LINES = 100 };

/* Reads as much of the body as is looked at; a file that is shorter must be whole. */
static bool read_sample(struct probe *probe, struct http_stream *stream, struct error *err)
{
    char *bytes = arena_alloc_raw(probe->arena, SAMPLE_BYTES);
    size_t total = 0, len = 1;

    if (bytes == NULL)
        return arena_error(probe->arena, err);
    while (len > 0 && total < SAMPLE_BYTES) {
        if (!http_read(stream, (struct http_room){ bytes + total, SAMPLE_BYTES - total }, &len,
                       err))
            return false;
        total += len;
    }
    probe->is_sample = len > 0;
    probe->reply.body = (struct str){ bytes, total };
    probe->reply.wire_bytes = stream->wire_bytes;
    return true;
}

bool probe_send_file(struct probe *probe, struct http *http, const struct http_request *request,
                     struct error *err)
{
    struct http_request whole = *request;
    struct http_stream *stream;
    bool ok;

    whole.no_compression = true;
    if (!http_open(http, probe->arena, &whole, &stream, &probe->reply, err))
        return false;
    if (stream == NULL)
        return true;
    ok = read_sample(probe, stream, err);
    http_end(stream);
    return ok;
}

/* Elements of the sample as a document of their own. */
static bool cut_document(struct probe *probe, struct buf *out, struct error *err)
{
    struct str sample = probe->reply.body;
    struct lines lines;
    struct line line;
    size_t count = 0;
    struct http_room room;

    lines_init(&lines, probe->arena, true);
    while (count < SAMPLE_LINES) {
        const enum lines_found found = lines_next(&lines, &line);

        if (found == LINES_LINE) {
            if (count++ == 0)
                buf_add(out, buf_str(&lines.head));
            buf_add(out, line.text);
            continue;
        }
        if (found == LINES_END || sample.len == 0)
            break;
        if (!lines_room(&lines, &room, err))
            return false;
        room.len = room.len < sample.len ? room.len : sample.len;
        memcpy(room.data, sample.data, room.len);
        lines_add(&lines, room.len);
        sample = str_slice(sample, room.len, sample.len);
    }
    if (count == 0)
        buf_add(out, probe->reply.body); /* as it is: the parser says what is wrong */
    else
        lines_close_document(&lines, out);
    return true;
}

/* A sample ends in the middle of a line, which is left out. */
bool probe_cut_file(struct probe *probe, struct error *err)
{
    struct str rest = probe->reply.body;
    struct buf out;
    size_t lines = 0;

    buf_init(&out, probe->arena, 2 * (size_t)SAMPLE_BYTES + 16);
    probe->reply.headers = (struct http_headers){ 0 }; /* of a file, not of JSON or XML */
    if (probe->endpoint->response.format == RESPONSE_XML) {
        if (!cut_document(probe, &out, err))
            return false;
        probe->reply.body = buf_str(&out);
        return buf_ok(&out, err);
    }
    if (str_starts(rest, STR("\xEF\xBB\xBF")))
        rest = str_slice(rest, 3, rest.len);
    buf_add_char(&out, '[');
    while (rest.len > 0 && lines < SAMPLE_LINES) {
        const bool is_whole = str_find_char(rest, '\n') < rest.len || !probe->is_sample;
        const struct str line = str_trim(str_cut(&rest, '\n'));

        if (!is_whole || line.len == 0)
            continue;
        if (lines++ > 0)
            buf_add_char(&out, ',');
        buf_add(&out, line);
    }
    buf_add_char(&out, ']');
    probe->reply.body = buf_str(&out);
    return buf_ok(&out, err);
}
