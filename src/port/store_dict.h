/* store_dict: the dictionaries sys_dict_*, the one space of codes that configurations are checked
 * against. Their rows come with the migrations and are those of core/codes.h; a site may add items
 * and aliases with SQL.
 */
#ifndef PATRA_PORT_STORE_DICT_H
#define PATRA_PORT_STORE_DICT_H

#include "port/store.h"

struct dict_item {
    struct str type;
    struct str code;
    struct str meaning;
    int64_t position;
};

struct dict_item_list {
    struct dict_item *items;
    size_t count;
};

struct store_dict_ops {
    bool (*find)(struct store *store, struct arena *arena, struct str type, struct str word,
                 struct dict_item *item, bool *found, struct error *err);
    bool (*list)(struct store *store, struct arena *arena, struct str type,
                 struct dict_item_list *list, struct error *err);
};

/* By code or alias, letter by letter. */
static inline bool MUST_CHECK store_dict_find(struct store *store, struct arena *arena,
                                              struct str type, struct str word,
                                              struct dict_item *item, bool *found,
                                              struct error *err)
{
    return store->dict->find(store, arena, type, word, item, found, err);
}

/* By type and position; type '' lists all types. */
static inline bool MUST_CHECK store_dict_list(struct store *store, struct arena *arena,
                                              struct str type, struct dict_item_list *list,
                                              struct error *err)
{
    return store->dict->list(store, arena, type, list, err);
}

#endif
