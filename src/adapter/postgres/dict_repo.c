#include "adapter/postgres/postgres.h"
#include "port/store_dict.h"

enum { FIND_TYPE = 1, FIND_WORD };
static const char FIND[] =
    "SELECT type_code, item_code, position, meaning FROM sys_dict_item"
    " WHERE type_code = $1"
    "   AND item_code = coalesce((SELECT item_code FROM sys_dict_item_alias"
    "                              WHERE type_code = $1 AND alias_code = $2), $2)";

enum { LIST_TYPE = 1 };
static const char LIST[] = "SELECT type_code, item_code, position, meaning FROM sys_dict_item"
                           " WHERE $1 IN ('', type_code)"
                           " ORDER BY type_code COLLATE \"C\", position";

enum { ITEM_TYPE, ITEM_CODE, ITEM_POSITION, ITEM_MEANING };

static void read_item(struct query *q, struct arena *arena, struct dict_item *item)
{
    item->type = get_text(q, ITEM_TYPE, arena);
    item->code = get_text(q, ITEM_CODE, arena);
    item->position = get_i64(q, ITEM_POSITION);
    item->meaning = get_text(q, ITEM_MEANING, arena);
}

static bool dict_find(struct store *store, struct arena *arena, struct str type, struct str word,
                      struct dict_item *item, bool *found, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), FIND);
    set_text(&q, FIND_TYPE, type);
    set_text(&q, FIND_WORD, word);
    *found = query_row(&q);
    if (*found)
        read_item(&q, arena, item);
    return query_finish(&q, err);
}

static bool dict_list(struct store *store, struct arena *arena, struct str type,
                      struct dict_item_list *list, struct error *err)
{
    struct query q;

    *list = (struct dict_item_list){ 0 };
    query_init(&q, postgres_store_of(store), LIST);
    set_text(&q, LIST_TYPE, type);
    while (query_row(&q)) {
        struct dict_item *item = LIST_ADD(arena, list);

        if (item == NULL) {
            q.full = arena;
            break;
        }
        read_item(&q, arena, item);
    }
    return query_finish(&q, err);
}

const struct store_dict_ops POSTGRES_DICT = { .find = dict_find, .list = dict_list };
