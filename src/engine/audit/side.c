/* Both sides of the buckets that differ: states of records and of a table, in one order. */
#include <stdlib.h>

#include "base/list.h"
#include "engine/audit/audit_internal.h"

int audit_key_order(const struct sink_key *a, const struct sink_key *b)
{
    const int order = str_cmp(a->aggregate_type, b->aggregate_type);

    return order != 0 ? order : str_cmp(a->aggregate_id, b->aggregate_id);
}

static int by_key(const void *a, const void *b)
{
    return audit_key_order(&((const struct sink_seen *)a)->key,
                           &((const struct sink_seen *)b)->key);
}

static void sort(struct sink_seen_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof(list->items[0]), by_key);
}

static bool read_records(const struct audit *audit, struct arena *arena,
                         const struct key_pick *pick, struct sink_seen_list *all, struct error *err)
{
    for (size_t i = 0; i < audit->types.count; i++) {
        struct sink_seen_list list;

        if (!store_record_pick(audit->request->store, arena, &audit->types.items[i], pick, &list,
                               err))
            return false;
        for (size_t k = 0; k < list.count; k++) {
            struct sink_seen *seen = LIST_ADD(arena, all);

            if (seen == NULL)
                return arena_error(arena, err);
            *seen = list.items[k];
        }
    }
    return true;
}

/* Without the keys that are not compared. */
static bool read_rows(const struct audit *audit, struct arena *arena, const struct key_pick *pick,
                      struct sink_seen_list *list, struct error *err)
{
    size_t kept = 0;

    if (!store_sink_pick(audit->request->sink, arena, audit->request->tables, audit->table, pick,
                         list, err))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        if (audit_is_compared(audit, list->items[i].key.aggregate_type))
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
    return true;
}

bool audit_sides_read(const struct audit *audit, struct arena *arena, struct str marks,
                      struct audit_sides *sides, struct error *err)
{
    const struct key_pick pick = { audit->buckets, marks };

    *sides = (struct audit_sides){ 0 };
    if (!read_records(audit, arena, &pick, &sides->wanted, err) ||
        !read_rows(audit, arena, &pick, &sides->found, err))
        return false;
    sort(&sides->wanted);
    sort(&sides->found);
    return true;
}
