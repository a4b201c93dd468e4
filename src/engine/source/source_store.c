/* Loads, compares and applies the rows of a source. */
#include "engine/source/source_store.h"

#include "base/instant.h"
#include "port/store_view.h"
#include "spec/source_views.h"

static bool load_rows(struct store *store, struct arena *arena, struct str code, int64_t at_us,
                      struct source *source, struct error *err)
{
    *source = (struct source){ 0 };
    return store_registry_load(store, arena, code, at_us, &source->registry, err);
}

bool source_load(struct store *store, struct arena *arena, struct str code, int64_t at_us,
                 struct source *source, struct error *err)
{
    if (!load_rows(store, arena, code, at_us, source, err))
        return error_wrap(err, "load source %.*s", STR_ARG(code));
    if (source->registry.count == 0)
        return error_set(err, ERROR_REQUEST, "source.unknown",
                         "there is no source '%.*s'; patra source list shows all sources",
                         STR_ARG(code));
    return true;
}

/* The instant and version of a change to what is in force. */
static void next_change(const struct source *old, int64_t now_us, struct source_applied *applied)
{
    applied->version = 0;
    applied->at_us = now_us;
    for (size_t i = 0; i < old->registry.count; i++) {
        const struct registry_row *row = &old->registry.rows[i];

        if (row->version > applied->version)
            applied->version = row->version;
        if (row->effective_from_us >= applied->at_us)
            applied->at_us = row->effective_from_us + 1;
    }
}

static bool carry_out(struct store *store, struct str code, struct source_applied *applied,
                      struct error *err)
{
    const struct source_diff *diff = &applied->diff;

    applied->version++;
    for (size_t i = 0; i < diff->count; i++) {
        const struct registry_row *old = diff->items[i].old;

        if (old != NULL && !store_registry_close(store, old->table, old->id, applied->at_us, err))
            return false;
    }
    for (size_t i = 0; i < diff->count; i++) {
        const struct registry_row *new = diff->items[i].new;
        int64_t id;

        if (new != NULL &&
            !store_registry_insert(store,
                                   &(struct registry_insert){ .code = code,
                                                              .row = new,
                                                              .at_us = applied->at_us,
                                                              .version = applied->version },
                                   &id, err))
            return false;
    }
    return true;
}

static bool apply_locked(struct store *store, struct arena *arena, const struct source *wanted,
                         int64_t now_us, struct source_applied *applied, struct error *err)
{
    const struct str code = wanted->registry.code;
    struct record_view_list views;
    struct source old;

    if (!store_registry_lock(store, code, err))
        return false;
    /* All that is open, also what a faster clock has opened in our future. */
    if (!load_rows(store, arena, code, INSTANT_MAX, &old, err))
        return false;
    next_change(&old, now_us, applied);
    /* A source that was removed goes on with its versions. */
    if (old.registry.count == 0 && !store_registry_version(store, code, &applied->version, err))
        return false;
    if (!source_diff(arena, &old, wanted, &applied->diff, err) ||
        (applied->diff.count > 0 && !carry_out(store, code, applied, err)))
        return false;
    return source_views(arena, wanted, &views, err) &&
           store_view_set(store, arena, code, &views, err);
}

bool source_apply(struct store *store, struct arena *arena, const struct source *wanted,
                  int64_t now_us, struct source_applied *applied, struct error *err)
{
    if (!store_begin(store, err))
        goto fail;
    if (!apply_locked(store, arena, wanted, now_us, applied, err))
        goto rollback;
    if (!store_commit(store, err))
        goto fail;
    return true;
rollback:
    store_rollback(store);
fail:
    return error_wrap(err, "apply source %.*s", STR_ARG(wanted->registry.code));
}

bool source_compare(struct store *store, struct arena *arena, const struct source *wanted,
                    int64_t now_us, struct source_diff *diff, struct error *err)
{
    struct source old;

    if (!load_rows(store, arena, wanted->registry.code, now_us, &old, err))
        return error_wrap(err, "load source %.*s", STR_ARG(wanted->registry.code));
    return source_diff(arena, &old, wanted, diff, err);
}
