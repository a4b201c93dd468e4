#include "adapter/sqlite/sqlite.h"
#include "port/store_dict.h"

static const char FIND[] =
    "SELECT type_code, item_code, position, meaning FROM sys_dict_item"
    " WHERE type_code = :type"
    "   AND item_code = coalesce((SELECT item_code FROM sys_dict_item_alias"
    "                              WHERE type_code = :type AND alias_code = :word), :word)";

static const char LIST[] = "SELECT type_code, item_code, position, meaning FROM sys_dict_item"
                           " WHERE :type IN ('', type_code) ORDER BY type_code, position";

enum { ITEM_TYPE, ITEM_CODE, ITEM_POSITION, ITEM_MEANING };

static void read_item(struct statement *st, struct arena *arena, struct dict_item *item)
{
    item->type = column_text(st, ITEM_TYPE, arena);
    item->code = column_text(st, ITEM_CODE, arena);
    item->position = column_i64(st, ITEM_POSITION);
    item->meaning = column_text(st, ITEM_MEANING, arena);
}

static bool dict_find(struct store *store, struct arena *arena, struct str type, struct str word,
                      struct dict_item *item, bool *found, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), FIND);

    bind_text(st, ":type", type);
    bind_text(st, ":word", word);
    *found = statement_row(st);
    if (*found)
        read_item(st, arena, item);
    return statement_finish(st, err);
}

static bool dict_list(struct store *store, struct arena *arena, struct str type,
                      struct dict_item_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LIST);

    *list = (struct dict_item_list){ 0 };
    bind_text(st, ":type", type);
    while (statement_row(st)) {
        struct dict_item *item = LIST_ADD(arena, list);

        if (item == NULL) {
            st->full = arena;
            break;
        }
        read_item(st, arena, item);
    }
    return statement_finish(st, err);
}

const struct store_dict_ops SQLITE_DICT = { .find = dict_find, .list = dict_list };
