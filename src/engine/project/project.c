/* Events of a batch as steps: per table what each does, by key and version.
 *
 *      key a   v1 replace   v2 partial   v3 replace   v4 partial   v5 partial
 *                                        ╰ the last that settles everything before it
 *      steps   replace: a v3            partial: a v4            partial: a v5
 */
#include "engine/project/project.h"

#include <stdlib.h>
#include <string.h>

#include "core/waves.h"
#include "engine/project/projector.h"

struct item { /* what an event does to a table */
    size_t event;
    size_t key; /* the number of its key */
    int64_t version;
    struct projector_deed deed;
};

struct batching {
    const struct projector *projector;
    struct arena *arena;
    struct projector_event *events;
    size_t count;
    size_t *keys; /* by event */
    struct item *items;
    size_t item_count;
    size_t table;
    struct sink_batch *batch;
    struct sink_rows *steps;
    size_t step_room;
    size_t *failed;
    struct error *err;
};

static bool number_keys(struct batching *b)
{
    struct str *keys = ARENA_ARRAY(b->arena, struct str, b->count);
    struct waves waves;

    if (keys == NULL)
        return arena_error(b->arena, b->err);
    for (size_t i = 0; i < b->count; i++) {
        const struct project_event *event = b->events[i].event;

        keys[i] = arena_printf(b->arena, "%.*s%c%.*s", STR_ARG(event->aggregate_type), '\0',
                               STR_ARG(event->aggregate_id));
        if (keys[i].data == NULL)
            return arena_error(b->arena, b->err);
    }
    if (!waves_cut(b->arena, keys, b->count, &waves, b->err))
        return false;
    b->keys = waves.keys;
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct item *one = a, *other = b;

    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    if (one->version != other->version)
        return one->version < other->version ? -1 : 1;
    return one->event < other->event ? -1 : 1;
}

static bool settles(const struct item *item)
{
    return item->deed.change != SINK_PARTIAL;
}

static bool judge_all(struct batching *b)
{
    const struct projector_table *table = &b->projector->tables[b->table];

    b->item_count = 0;
    for (size_t i = 0; i < b->count; i++) {
        struct item item = { .event = i,
                             .key = b->keys[i],
                             .version = b->events[i].event->version };

        if (!projector_judge(table, b->arena, &b->events[i], &item.deed, b->err)) {
            *b->failed = i;
            return false;
        }
        if (item.deed.source != NULL)
            b->items[b->item_count++] = item;
    }
    qsort(b->items, b->item_count, sizeof(*b->items), compare);
    return true;
}

/* Leaves out what a later event of its key settles, and the same version twice. */
static void leave_out(struct batching *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->item_count; i++) {
        const bool is_next = kept > 0 && b->items[kept - 1].key == b->items[i].key;

        if (is_next && b->items[kept - 1].version == b->items[i].version)
            continue;
        if (settles(&b->items[i])) {
            while (kept > 0 && b->items[kept - 1].key == b->items[i].key)
                kept--;
        }
        b->items[kept++] = b->items[i];
    }
    b->item_count = kept;
}

/* ---- steps ---- */

static bool add_rows(struct batching *b, const struct item *const *items, size_t count,
                     enum sink_change change)
{
    struct sink_row *rows = ARENA_ARRAY(b->arena, struct sink_row, count);

    if (rows == NULL)
        return arena_error(b->arena, b->err);
    for (size_t i = 0; i < count; i++) {
        if (projector_row(&b->projector->tables[b->table], b->arena, &b->events[items[i]->event],
                          &items[i]->deed, &rows[i], b->err))
            continue;
        *b->failed = items[i]->event;
        return error_wrap(b->err, "table %.*s",
                          STR_ARG(b->projector->tables[b->table].table->name));
    }
    b->steps = b->batch->count < b->step_room
                   ? b->steps
                   : arena_grow(b->arena, b->steps, b->step_room * sizeof(*b->steps),
                                (b->step_room * 2 + 8) * sizeof(*b->steps));
    if (b->steps == NULL)
        return arena_error(b->arena, b->err);
    if (b->batch->count == b->step_room)
        b->step_room = b->step_room * 2 + 8;
    b->steps[b->batch->count++] = (struct sink_rows){ b->table, change, rows, count };
    return true;
}

/* The items of this wave (the n-th of each key that are left) with this change. */
static bool add_step(struct batching *b, size_t wave, enum sink_change change,
                     const struct item **chosen, size_t *count)
{
    size_t place = 0;

    *count = 0;
    for (size_t i = 0; i < b->item_count; i++) {
        place = i > 0 && b->items[i - 1].key == b->items[i].key ? place + 1 : 0;
        if (place == wave && b->items[i].deed.change == change)
            chosen[(*count)++] = &b->items[i];
    }
    return *count == 0 || add_rows(b, chosen, *count, change);
}

static bool add_steps(struct batching *b)
{
    const struct item **chosen = ARENA_ARRAY(b->arena, const struct item *, b->item_count);
    size_t count;

    if (chosen == NULL)
        return arena_error(b->arena, b->err);
    if (!add_step(b, 0, SINK_REPLACE, chosen, &count) ||
        !add_step(b, 0, SINK_ERASE, chosen, &count))
        return false;
    if (!add_step(b, 0, SINK_PARTIAL, chosen, &count))
        return false;
    count = 1;
    for (size_t wave = 1; count > 0; wave++) { /* whatever settles is first of its key */
        if (!add_step(b, wave, SINK_PARTIAL, chosen, &count))
            return false;
    }
    return true;
}

bool project_batch(const struct projector *projector, struct arena *arena,
                   const struct project_event *events, size_t count, struct sink_batch *batch,
                   size_t *failed, struct error *err)
{
    struct batching b = { .projector = projector,
                          .arena = arena,
                          .count = count,
                          .batch = batch,
                          .failed = failed,
                          .err = err };

    *batch = (struct sink_batch){ 0 };
    *failed = count;
    b.events = ARENA_ARRAY(arena, struct projector_event, count);
    b.items = ARENA_ARRAY(arena, struct item, count);
    if (b.events == NULL || b.items == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < count; i++)
        b.events[i] = (struct projector_event){ .event = &events[i] };
    if (!number_keys(&b))
        return false;
    for (b.table = 0; b.table < projector->spec->table_count; b.table++) {
        if (!judge_all(&b))
            return error_wrap(err, "table %.*s", STR_ARG(projector->tables[b.table].table->name));
        leave_out(&b);
        if (!add_steps(&b))
            return false;
    }
    batch->steps = b.steps;
    return true;
}
