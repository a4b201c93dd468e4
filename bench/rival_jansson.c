/* jansson as the rival of bench_json. */
#include "rival.h"

#include <jansson.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static size_t heap_bytes(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

struct reading rival_read(const char *page, size_t len, bool raw)
{
    const size_t before = heap_bytes();
    struct reading r = { 0 };
    json_error_t fault;
    json_t *root = json_loadb(page, len, 0, &fault);
    json_t *items, *item;
    size_t i;

    items = json_object_get(json_object_get(root, "message"), "items");
    json_array_foreach(items, i, item)
    {
        json_t *indexed = json_object_get(item, "indexed");

        r.records++;
        r.field_bytes += json_string_length(json_object_get(item, "DOI"));
        r.field_bytes += json_string_length(json_object_get(indexed, "date-time"));
        r.field_bytes += json_string_length(json_array_get(json_object_get(item, "title"), 0));
        if (raw) {
            char *text = json_dumps(item, JSON_COMPACT);

            r.raw_bytes += strlen(text);
            free(text);
        }
    }
    r.memory = heap_bytes() - before;
    json_decref(root);
    return r;
}
