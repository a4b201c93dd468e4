/* list: arrays that grow by one inside an arena.
 *
 * Any struct with the members `items` and `count` is a list:
 *
 *      struct plan_list { struct plan *items; size_t count; };
 *      struct plan *plan = LIST_ADD(arena, &list);
 *      if (plan == NULL) return arena_error(arena, err);
 *
 * The new item is zero. Items move when the list grows: keep indexes, not
 * pointers.
 */
#ifndef PATRA_BASE_LIST_H
#define PATRA_BASE_LIST_H

#include "base/arena.h"

#define LIST_ADD(arena, list)                                                                    \
    ((list)->items = list_grow((arena), (list)->items, (list)->count, sizeof((list)->items[0])), \
     (list)->items == NULL ? NULL : &(list)->items[(list)->count++])

/* Room for one item after `count`. Capacities are powers of two, so `count` determines them. */
static inline void *list_grow(struct arena *arena, void *items, size_t count, size_t size)
{
    const size_t least = 8;
    size_t capacity = count < least ? least : count;

    if (items != NULL && (count < least || (count & (count - 1)) != 0))
        return items;
    if (count >= least)
        capacity = count * 2;
    return arena_grow(arena, items, count * size, capacity * size);
}

#endif
