/* The schedules of all sources, read again when a source has changed. */
#include "engine/schedule/memory.h"

#include "base/list.h"
#include "engine/source/source_store.h"

enum { MEMORY_ARENA_MAX = 256 << 20 };

void schedule_memory_init(struct schedule_memory *memory)
{
    *memory = (struct schedule_memory){ 0 };
    arena_init(&memory->arena, MEMORY_ARENA_MAX);
}

void schedule_memory_release(struct schedule_memory *memory)
{
    arena_release(&memory->arena);
}

static bool is_same(const struct registry_entry_list *a, const struct registry_entry_list *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!str_eq(a->items[i].code, b->items[i].code) ||
            a->items[i].version != b->items[i].version ||
            a->items[i].changed_us != b->items[i].changed_us)
            return false;
    }
    return true;
}

static void forget(struct schedule_memory *memory)
{
    arena_reset(&memory->arena);
    memory->is_read = false;
    memory->sources = (struct registry_entry_list){ 0 };
    memory->scheduled = (struct scheduled_list){ 0 };
}

static bool keep_entry(struct schedule_memory *memory, const struct registry_entry *entry)
{
    struct registry_entry *kept = LIST_ADD(&memory->arena, &memory->sources);

    if (kept == NULL)
        return false;
    *kept = *entry;
    kept->code = arena_copy(&memory->arena, entry->code);
    return kept->code.data != NULL;
}

/* `scratch` holds one source at a time. */
static bool read_all(struct schedule_memory *memory, struct store *store, struct arena *scratch,
                     const struct registry_entry_list *sources, int64_t now_us, struct error *err)
{
    for (size_t i = 0; i < sources->count; i++) {
        struct source source;

        arena_reset(scratch);
        if (!source_load(store, scratch, sources->items[i].code, now_us, &source, err) ||
            !scheduled_add(&memory->arena, &source, &memory->scheduled, err))
            return false;
        if (!keep_entry(memory, &sources->items[i]))
            return arena_error(&memory->arena, err);
    }
    memory->is_read = true;
    return true;
}

static bool refresh(struct schedule_memory *memory, struct store *store, int64_t now_us,
                    struct arena *list, struct arena *scratch, struct error *err)
{
    struct registry_entry_list sources;

    if (!store_registry_list(store, list, now_us, &sources, err))
        return false;
    if (memory->is_read && is_same(&memory->sources, &sources))
        return true;
    forget(memory);
    return read_all(memory, store, scratch, &sources, now_us, err);
}

bool schedule_memory_refresh(struct schedule_memory *memory, struct store *store, int64_t now_us,
                             struct error *err)
{
    struct arena list, scratch;
    bool ok;

    arena_init(&list, MEMORY_ARENA_MAX);
    arena_init(&scratch, MEMORY_ARENA_MAX);
    ok = refresh(memory, store, now_us, &list, &scratch, err);
    arena_release(&scratch);
    arena_release(&list);
    if (!ok)
        forget(memory);
    return ok;
}
