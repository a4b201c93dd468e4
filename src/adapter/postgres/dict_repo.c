#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"
#include "port/store_dict.h"

enum { FIND_TYPE = 1, FIND_WORD };
static const char FIND[] =
    "SELECT " DICT_COLUMNS " FROM sys_dict_item"
    " WHERE type_code = $1"
    "   AND item_code = coalesce((SELECT item_code FROM sys_dict_item_alias"
    "                              WHERE type_code = $1 AND alias_code = $2), $2)";

enum { LIST_TYPE = 1 };
static const char LIST[] = "SELECT " DICT_COLUMNS " FROM sys_dict_item"
                           " WHERE $1 IN ('', type_code)"
                           " ORDER BY type_code COLLATE \"C\", position";

static bool dict_find(struct store *store, struct arena *arena, struct str type, struct str word,
                      struct dict_item *item, bool *found, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), FIND);
    set_text(&q, FIND_TYPE, type);
    set_text(&q, FIND_WORD, word);
    *found = rows_next(&q.rows);
    if (*found)
        read_dict_item(&q.rows, arena, item);
    return rows_finish(&q.rows, err);
}

static bool dict_list(struct store *store, struct arena *arena, struct str type,
                      struct dict_item_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), LIST);
    set_text(&q, LIST_TYPE, type);
    return read_dict_items(&q.rows, arena, list, err);
}

const struct store_dict_ops POSTGRES_DICT = { .find = dict_find, .list = dict_list };
