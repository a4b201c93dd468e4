/* Who else has the id, or one that differs only in case. */
#include "core/id_case.h"
#include "view/why_internal.h"

/* So often is an index asked, each time for so many ids; that is enough unless most letters of most
 * ids are written in both ways. */
enum { PROBES_MAX = 64, PROBED = 8 };

struct search {
    const struct view_reader *reader;
    struct view_why *why;
    char *next; /* where one can be, as long as the id */
};

/* Adds those that are alike; *from is where none was found any more. False in *goes_on: there are
 * no further ids, or enough. */
static bool add_alike(const struct search *search, const struct trace_id_list *found,
                      struct str *from, bool *goes_on, struct error *err)
{
    struct view_why *why = search->why;

    *goes_on = false;
    for (size_t i = 0; i < found->count && why->alike.count < WHY_ROWS_MAX; i++) {
        struct record_key *place;

        if (!id_case_is_alike(found->items[i].provider_id, why->key.provider_id)) {
            *from = found->items[i].provider_id;
            *goes_on = true;
            return true;
        }
        place = LIST_ADD(search->reader->arena, &why->alike);
        if (place == NULL)
            return arena_error(search->reader->arena, err);
        *place = found->items[i];
    }
    return true;
}

bool why_alike_read(const struct view_reader *reader, struct view_why *why, struct error *err)
{
    const struct str id = why->key.provider_id;
    struct search search = { reader, why, arena_alloc(reader->arena, id.len + 1) };
    struct str from = STR("");
    bool goes_on = true;

    if (search.next == NULL)
        return arena_error(reader->arena, err);
    for (int i = 0; i < PROBES_MAX && goes_on && id_case_next(id, from, search.next); i++) {
        struct trace_id_list found;

        if (!store_trace_ids(reader->store, reader->arena, (struct str){ search.next, id.len },
                             PROBED, &found, err) ||
            !add_alike(&search, &found, &from, &goes_on, err))
            return false;
    }
    return true;
}
