/* An aggregate of another service: its events, and the foreign outboxes that they may come from. */
#include "port/store_outbox.h"
#include "spec/import.h"
#include "view/why_internal.h"

/* Whether the aggregates of the import can be of such a type, and whether the type says so. */
static bool read_prefix(const struct view_reader *reader, const struct view_why *why,
                        struct why_import *import, bool *may_be, struct error *err)
{
    struct import_spec spec;

    if (!import_load(reader->arena, import->subscription.spec, &spec, err))
        return false;
    *may_be = str_starts(why->key.source, spec.type_prefix);
    import->is_named = *may_be && spec.type_prefix.len > 0;
    return true;
}

static bool read_import(const struct view_reader *reader, const struct view_why *why,
                        struct why_import *import, struct error *err)
{
    const struct trace_key key = { { SUBSCRIPTION_GROUP, import->subscription.name },
                                   why->key.source,
                                   why->key.provider_id };
    struct reader_state_list readers;

    if (!store_trace_parked(reader->store, reader->arena, &key, &import->parked, &import->is_parked,
                            err) ||
        !store_offset_readers(reader->store, reader->arena, &key.offset, &readers, err))
        return false;
    import->readers = why_alive(&readers, why->now_us, &import->error);
    return true;
}

static bool read_imports(const struct view_reader *reader, struct view_why *why, struct error *err)
{
    struct subscription_list subscriptions;

    if (!store_subscription_list(reader->store, reader->arena, &subscriptions, err))
        return false;
    for (size_t i = 0; i < subscriptions.count; i++) {
        struct why_import import = { .subscription = subscriptions.items[i] }, *place;
        bool may_be = false;

        if (import.subscription.kind == SUBSCRIPTION_IMPORT &&
            (!read_prefix(reader, why, &import, &may_be, err) ||
             (may_be && !read_import(reader, why, &import, err))))
            return error_wrap(err, "foreign outbox %.*s", STR_ARG(import.subscription.name));
        if (!may_be)
            continue;
        why->is_foreign |= import.is_named || import.is_parked;
        place = LIST_ADD(reader->arena, &why->imports);
        if (place == NULL)
            return arena_error(reader->arena, err);
        *place = import;
    }
    return true;
}

bool why_foreign_read(const struct view_reader *reader, struct view_why *why, struct error *err)
{
    const struct foreign_event event = { .aggregate_type = why->key.source,
                                         .aggregate_id = why->key.provider_id };
    struct foreign_place place;

    if (!store_outbox_places(reader->store, reader->arena, &event, 1, &place, err) ||
        !read_imports(reader, why, err))
        return false;
    why->has_record = place.last_version > 0;
    why->record = (struct stored_record){ .version = place.last_version };
    why->is_foreign |= why->has_record;
    return true;
}
