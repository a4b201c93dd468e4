/* Lines of a stream. */
#include "engine/fetch/lines.h"

#include <assert.h>
#include <string.h>

enum { ROOM_BYTES_MIN = 256 << 10 };

#define BYTE_ORDER_MARK STR("\xEF\xBB\xBF")

enum { TAG_BYTES_MAX = 64 << 10 };

void lines_init(struct lines *lines, struct arena *arena, bool is_xml)
{
    *lines = (struct lines){ .arena = arena, .is_xml = is_xml };
    buf_init(&lines->head, arena, TAG_BYTES_MAX);
}

bool lines_are_whole(const struct lines *lines)
{
    return !lines->is_xml || lines->is_closed;
}

void lines_restart(struct lines *lines, bool is_beginning)
{
    lines->at = lines->searched = lines->len = 0;
    lines->has_begun = !is_beginning;
    lines->is_ended = false;
    lines->depth = 0;
    lines->in_piece = lines->is_closed = lines->has_text = false;
    buf_clear(&lines->head);
}

/* How many bytes of a mark there are. False: that cannot be said yet. */
static bool skip_mark(struct lines *lines, size_t *skipped)
{
    const struct str mark = BYTE_ORDER_MARK;
    const struct str begin = { lines->data + lines->at, lines->len - lines->at };

    *skipped = 0;
    if (lines->has_begun)
        return true;
    if (begin.len < mark.len && !lines->is_ended && str_starts(mark, begin))
        return false;
    lines->has_begun = true;
    if (str_starts(begin, mark))
        *skipped = mark.len;
    return true;
}

enum lines_found lines_next(struct lines *lines, struct line *line)
{
    const char *end;
    size_t skipped, len;

    if (lines->data == NULL) /* nothing was added yet */
        return lines->is_ended ? LINES_END : LINES_MORE;
    if (lines->is_xml)
        return elements_next(lines, line);
    if (!skip_mark(lines, &skipped))
        return LINES_MORE;
    if (lines->searched < lines->at + skipped)
        lines->searched = lines->at + skipped;
    end = lines->searched < lines->len
              ? memchr(lines->data + lines->searched, '\n', lines->len - lines->searched)
              : NULL;
    lines->searched = end != NULL ? (size_t)(end - lines->data) + 1 : lines->len;
    if (end == NULL && !lines->is_ended) {
        lines->has_begun = skipped == 0;
        return LINES_MORE;
    }
    len = lines->searched - lines->at;
    if (len == 0)
        return LINES_END;
    line->bytes = len;
    line->is_open = end == NULL;
    line->text = (struct str){ lines->data + lines->at + skipped, len - skipped };
    if (!line->is_open)
        line->text.len--;
    if (line->text.len > 0 && line->text.data[line->text.len - 1] == '\r')
        line->text.len--;
    lines->at = lines->searched;
    return LINES_LINE;
}

/* The part of a line that is there moves to the front. */
static void close_up(struct lines *lines)
{
    if (lines->at == 0)
        return;
    memmove(lines->data, lines->data + lines->at, lines->len - lines->at);
    lines->len -= lines->at;
    lines->searched -= lines->at;
    lines->at = 0;
}

bool lines_room(struct lines *lines, struct http_room *room, struct error *err)
{
    char *data;
    size_t wanted;

    assert(!lines->is_ended);
    close_up(lines);
    if (lines->len == lines->room) {
        if (lines->room >= LINES_BYTES_MAX)
            return error_set(err, ERROR_REQUEST, "lines.limit",
                             "a line of the file is longer than %d bytes", LINES_BYTES_MAX);
        wanted = lines->room > 0 ? 2 * lines->room : ROOM_BYTES_MIN;
        data = lines->room > 0 ? arena_grow(lines->arena, lines->data, lines->room, wanted)
                               : arena_alloc_raw(lines->arena, wanted);
        if (data == NULL)
            return arena_error(lines->arena, err);
        lines->data = data;
        lines->room = wanted;
    }
    *room = (struct http_room){ lines->data + lines->len, lines->room - lines->len };
    return true;
}

void lines_add(struct lines *lines, size_t len)
{
    assert(len <= lines->room - lines->len);
    lines->len += len;
}

void lines_end(struct lines *lines)
{
    lines->is_ended = true;
}
