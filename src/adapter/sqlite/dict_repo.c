#include "adapter/sql/read.h"
#include "adapter/sqlite/sqlite.h"
#include "port/store_dict.h"

static const char FIND[] =
    "SELECT " DICT_COLUMNS " FROM sys_dict_item"
    " WHERE type_code = :type"
    "   AND item_code = coalesce((SELECT item_code FROM sys_dict_item_alias"
    "                              WHERE type_code = :type AND alias_code = :word), :word)";

static const char LIST[] = "SELECT " DICT_COLUMNS " FROM sys_dict_item"
                           " WHERE :type IN ('', type_code) ORDER BY type_code, position";

static bool dict_find(struct store *store, struct arena *arena, struct str type, struct str word,
                      struct dict_item *item, bool *found, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), FIND);

    bind_text(st, ":type", type);
    bind_text(st, ":word", word);
    *found = rows_next(&st->rows);
    if (*found)
        read_dict_item(&st->rows, arena, item);
    return rows_finish(&st->rows, err);
}

static bool dict_list(struct store *store, struct arena *arena, struct str type,
                      struct dict_item_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LIST);

    bind_text(st, ":type", type);
    return read_dict_items(&st->rows, arena, list, err);
}

const struct store_dict_ops SQLITE_DICT = { .find = dict_find, .list = dict_list };
