/* The lines of a stream are all of its bytes, whatever the pieces it comes in. The first byte of
 * the input says how large these are. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/fetch/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A hash of the lines and their bytes. */
static uint64_t cut(struct str text, size_t piece, bool is_xml)
{
    struct arena arena;
    struct lines lines;
    struct line line;
    struct error err;
    uint64_t hash = 14695981039346656037U;
    size_t at = 0, sum = 0;

    arena_init(&arena, (size_t)1 << 27);
    lines_init(&lines, &arena, is_xml);
    lines_restart(&lines, true);
    for (;;) {
        const enum lines_found found = lines_next(&lines, &line);
        struct http_room room;
        size_t len = text.len - at < piece ? text.len - at : piece;

        if (found == LINES_END)
            break;
        if (found == LINES_LINE) {
            assert(is_xml || line.text.len == 0 ||
                   memchr(line.text.data, '\n', line.text.len) == NULL);
            assert(line.text.len <= line.bytes);
            sum += line.bytes;
            for (size_t i = 0; i < line.text.len; i++)
                hash = (hash ^ (unsigned char)line.text.data[i]) * 1099511628211U;
            hash = (hash ^ line.bytes ^ 0x100 ^ line.is_open) * 1099511628211U;
            continue;
        }
        assert(!lines.is_ended);
        if (len == 0) {
            lines_end(&lines);
            continue;
        }
        if (!lines_room(&lines, &room, &err))
            abort();
        assert(room.len > 0);
        len = len < room.len ? len : room.len;
        memcpy(room.data, text.data + at, len);
        lines_add(&lines, len);
        at += len;
    }
    assert(at == text.len);
    assert(is_xml ? sum <= text.len : sum == text.len);
    arena_release(&arena);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text;

    if (size == 0)
        return 0;
    text = (struct str){ (const char *)bytes + 1, size - 1 };
    assert(cut(text, (size_t)bytes[0] + 1, false) == cut(text, size, false));
    assert(cut(text, (size_t)bytes[0] + 1, true) == cut(text, size, true));
    return 0;
}
