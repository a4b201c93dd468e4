/* Doubts, by kind. */
#include "view/doubt.h"

const char *view_doubt_text(enum fetch_doubt doubt)
{
    static const char *const texts[] = {
        [FETCH_DOUBT_NEXT] = "with a full last page and no next, which may have been lost",
        [FETCH_DOUBT_TOTAL] = "with more records than response.total says",
        [FETCH_DOUBT_REPEATS] = "with ids twice on a page, which make up response.total",
        [FETCH_DOUBT_INSTANT] = "with a short page of one instant, which may have more records",
        [FETCH_DOUBT_ELEMENTS] =
            "with a file that has elements without a record, which were left out",
        [FETCH_DOUBT_CHILDREN] = "without children for any of its parents: see the request",
        [FETCH_DOUBT_LATEST] = "with ids above response.latest, or one that fell",
        [FETCH_DOUBT_SAME_TOKEN] = "with changes that came with the sync token that was sent",
    };

    return texts[doubt];
}

static bool has_name(struct str doubts, struct str name)
{
    while (doubts.len > 0) { /* ["lost-next", "repeats"] */
        (void)str_cut(&doubts, '"');
        if (str_eq(str_cut(&doubts, '"'), name))
            return true;
    }
    return false;
}

void view_doubts_sum(const struct doubted_runs_list *runs, struct view_doubt sums[FETCH_DOUBTS])
{
    for (int kind = 0; kind < FETCH_DOUBTS; kind++) {
        const struct str name = str_of(fetch_doubt_name((enum fetch_doubt)kind));

        sums[kind] = (struct view_doubt){ 0, 0 };
        for (size_t i = 0; i < runs->count; i++) {
            if (!has_name(runs->items[i].doubts, name))
                continue;
            sums[kind].slices += runs->items[i].count;
            if (runs->items[i].task_id > sums[kind].task_id)
                sums[kind].task_id = runs->items[i].task_id;
        }
    }
}
