/* Hashes of values that select. */
#include "spec/selected.h"

#include "data/hash.h"

bool selected_hash(struct str name, struct str value, char hex[HASH_HEX_MAX], struct error *err)
{
    struct hash_sum sum, parts[2];
    char both[2 * (HASH_HEX_MAX - 1) + 1];

    if (!hash_of(name, &parts[0], err) ||
        !hash_of(value.data != NULL ? value : STR(""), &parts[1], err))
        return false;
    hash_hex(&parts[0], both);
    hash_hex(&parts[1], both + HASH_HEX_MAX - 1);
    if (value.data == NULL)
        both[0] = '-'; /* no value is not the empty value */
    if (!hash_of(str_of(both), &sum, err))
        return false;
    hash_hex(&sum, hex);
    return true;
}

const struct selected *selected_find(const struct selected_list *list, struct str name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (str_eq(list->items[i].name, name))
            return &list->items[i];
    }
    return NULL;
}
