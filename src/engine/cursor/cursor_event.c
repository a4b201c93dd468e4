/* Events of cursors as rows. */
#include "engine/cursor/cursor_event.h"

#include "data/hash.h"

enum { IDENTITY_BYTES_MAX = 16384 }; /* two values of CURSOR_VALUE_MAX, each byte escaped */

/* Cursors of BACKFILL are about history; all others lead towards now. */
static enum direction direction_of(enum operation operation)
{
    return operation == OPERATION_BACKFILL ? DIRECTION_BACKFILL : DIRECTION_FORWARD;
}

struct cursor_name cursor_name_of(const struct coverage_namespace *of)
{
    return (struct cursor_name){ .source = of->source,
                                 .operation = of->operation,
                                 .cursor_key = of->cursor_key,
                                 .scope = of->scope,
                                 .namespace_key = of->namespace_key };
}

struct coverage_namespace cursor_namespace(const struct cursor_name *name)
{
    return (struct coverage_namespace){ .source = name->source,
                                        .endpoint = cursor_key_endpoint(name->cursor_key),
                                        .operation = name->operation,
                                        .cursor_key = name->cursor_key,
                                        .scope = name->scope,
                                        .namespace_key = name->namespace_key };
}

bool cursor_lock(struct store *store, const struct cursor_name *name, struct error *err)
{
    const struct coverage_namespace of = cursor_namespace(name);

    return store_coverage_lock(store, &of, err);
}

struct str cursor_text(struct arena *arena, const struct cursor_value *value)
{
    char text[INSTANT_TEXT_MAX];

    return arena_copy(arena, cursor_value_text(value, text));
}

static bool make_key(struct arena *arena, const struct cursor *from, struct cursor_event *event,
                     struct error *err)
{
    const struct cursor_event_identity identity = {
        .source = event->name.source,
        .operation = event->name.operation,
        .cursor_key = event->name.cursor_key,
        .scope = event->name.scope,
        .namespace_key = event->name.namespace_key,
        .prev = event->has_prev ? &event->prev : NULL,
        .next = &event->next,
        .window = window_is_valid(event->window) ? &event->window : NULL,
        .version = from->version,
        .run_id = event->lineage.run_id,
        .batch_id = event->lineage.batch_id,
    };
    char *hex = ARENA_ARRAY(arena, char, HASH_HEX_MAX);
    struct hash_sum sum;
    struct buf out;

    if (hex == NULL)
        return arena_error(arena, err);
    buf_init(&out, arena, IDENTITY_BYTES_MAX);
    cursor_event_identity_write(&identity, &out);
    if (!buf_ok(&out, err) || !hash_of(buf_str(&out), &sum, err))
        return false;
    hash_hex(&sum, hex);
    event->idempotent_key = str_of(hex);
    return true;
}

bool cursor_event_record(struct store *store, struct arena *arena, const struct cursor *from,
                         struct cursor_event *event, struct error *err)
{
    bool added;

    event->name = from->name;
    event->has_prev = from->id > 0;
    event->prev = from->value;
    event->direction = direction_of(from->name.operation);
    return make_key(arena, from, event, err) && store_cursor_event_add(store, event, &added, err);
}
