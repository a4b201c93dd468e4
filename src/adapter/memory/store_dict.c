#include "port/store_dict.h"
#include "adapter/memory/store_base.h"
#include "core/codes.h"

static const struct code_table *find_type(struct str type)
{
    for (size_t i = 0; i < CODE_TABLE_COUNT; i++) {
        if (str_eq(CODE_TABLES[i]->type, type))
            return CODE_TABLES[i];
    }
    return NULL;
}

static struct dict_item item_of(const struct code_table *table, size_t i)
{
    return (struct dict_item){ .type = table->type,
                               .code = table->items[i].code,
                               .meaning = table->items[i].meaning,
                               .position = (int64_t)i };
}

static bool dict_find(struct store *store, struct arena *arena, struct str type, struct str word,
                      struct dict_item *item, bool *found, struct error *err)
{
    const struct code_table *table = find_type(type);
    const int value = table != NULL ? code_find(table, word) : -1;
    struct memory_call call;

    (void)arena; /* the words live as long as the program */
    if (!memory_enter(&call, store, "dict_find", err))
        return false;
    *found = value >= 0;
    if (*found)
        *item = item_of(table, (size_t)value);
    return memory_leave(&call, true, err);
}

static bool list_type(struct arena *arena, const struct code_table *table,
                      struct dict_item_list *list, struct error *err)
{
    for (size_t i = 0; i < table->count; i++) {
        struct dict_item *item = LIST_ADD(arena, list);

        if (item == NULL)
            return arena_error(arena, err);
        *item = item_of(table, i);
    }
    return true;
}

/* The type that follows `type` in the order of names; NULL behind the last. */
static const struct code_table *type_after(struct str type)
{
    const struct code_table *best = NULL;

    for (size_t i = 0; i < CODE_TABLE_COUNT; i++) {
        const struct code_table *table = CODE_TABLES[i];

        if (str_cmp(table->type, type) > 0 &&
            (best == NULL || str_cmp(table->type, best->type) < 0))
            best = table;
    }
    return best;
}

static bool dict_list(struct store *store, struct arena *arena, struct str type,
                      struct dict_item_list *list, struct error *err)
{
    const struct code_table *table = type.len > 0 ? find_type(type) : type_after(type);
    struct memory_call call;
    bool ok = true;

    *list = (struct dict_item_list){ 0 };
    if (!memory_enter(&call, store, "dict_list", err))
        return false;
    while (table != NULL && ok) {
        ok = list_type(arena, table, list, err);
        table = type.len > 0 ? NULL : type_after(table->type);
    }
    return memory_leave(&call, ok, err);
}

const struct store_dict_ops MEMORY_DICT = { .find = dict_find, .list = dict_list };
