/* Keys and versions, of records or of a table, in one order. */
#include "engine/audit/audit_internal.h"
#include "port/store_record_read.h"

enum { PAGE_KEYS = 10000 };
#define SIDE_BYTES_MAX ((size_t)64 << 20)

void audit_side_init(struct audit_side *side, const struct audit_request *request, size_t table,
                     const struct audit_type_list *types)
{
    *side = (struct audit_side){ .request = request, .table = table, .types = types };
    arena_init(&side->pages[0], SIDE_BYTES_MAX);
    arena_init(&side->pages[1], SIDE_BYTES_MAX);
}

void audit_side_release(struct audit_side *side)
{
    arena_release(&side->pages[0]);
    arena_release(&side->pages[1]);
}

static bool read_table(struct audit_side *side, struct arena *arena, struct error *err)
{
    const struct sink_scan scan = { .table = side->table,
                                    .after = side->after,
                                    .limit = PAGE_KEYS };
    struct sink_page page;

    if (!store_sink_scan(side->request->sink, arena, side->request->tables, &scan, &page, err))
        return false;
    side->items = page.items;
    side->count = page.count;
    side->is_last = page.count < PAGE_KEYS;
    return true;
}

static bool read_records(struct audit_side *side, struct arena *arena, struct error *err)
{
    const struct audit_type *type = &side->types->items[side->type];
    const struct record_seen_page page = { .source = type->source,
                                           .endpoint = type->endpoint,
                                           .after = side->after.aggregate_id,
                                           .limit = PAGE_KEYS };
    struct record_seen_list list;
    struct sink_seen *items;

    if (!store_record_seen(side->request->store, arena, &page, &list, err))
        return false;
    items = ARENA_ARRAY(arena, struct sink_seen, list.count + 1);
    if (items == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < list.count; i++)
        items[i] = (struct sink_seen){ .key = { type->name, list.items[i].provider_id },
                                       .version = list.items[i].version,
                                       .is_gone = list.items[i].is_deleted };
    side->items = items;
    side->count = list.count;
    if (list.count < PAGE_KEYS) { /* of this type; the next one begins at its first id */
        side->type++;
        side->is_last = side->type == side->types->count;
    }
    return true;
}

/* The last key stays in the other arena, as the place to go on from. */
static bool read_page(struct audit_side *side, struct error *err)
{
    struct arena old = side->pages[0];
    const size_t type = side->type;
    bool ok;

    side->pages[0] = side->pages[1];
    side->pages[1] = old;
    arena_reset(&side->pages[0]);
    side->at = 0;
    ok = side->types == NULL ? read_table(side, &side->pages[0], err)
                             : read_records(side, &side->pages[0], err);
    if (!ok)
        return false;
    side->after = side->count > 0 && side->type == type ? side->items[side->count - 1].key
                                                        : (struct sink_key){ 0 };
    return true;
}

bool audit_side_next(struct audit_side *side, const struct sink_seen **seen, struct error *err)
{
    *seen = NULL;
    if (side->types != NULL && side->types->count == 0)
        return true;
    while (side->at == side->count && !side->is_last) {
        if (!read_page(side, err))
            return false;
    }
    if (side->at < side->count)
        *seen = &side->items[side->at++];
    return true;
}
