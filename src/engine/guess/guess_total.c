/* Which number of the answer says how many records match. */
#include <inttypes.h>

#include "engine/guess/guess_parts.h"
#include "engine/guess/guess_words.h"

enum { POINTS_LEAST = 5 };

static const struct guess_word NAMES[] = {
    { "total", 10 },   { "totals", 8 },   { "count", 6 },     { "hits", 6 },     { "hit", 5 },
    { "found", 7 },    { "matches", 6 },  { "matching", 6 },  { "complete", 6 }, { "num", 3 },
    { "number", 3 },   { "results", 3 },  { "result", 2 },    { "records", 3 },  { "size", 1 },
    { "items", 1 },    { "pages", -16 },  { "page", -8 },     { "per", -12 },    { "start", -10 },
    { "offset", -12 }, { "limit", -10 },  { "max", -8 },      { "retmax", -10 }, { "new", -6 },
    { "current", -6 }, { "index", -6 },   { "version", -12 }, { "status", -14 }, { "code", -12 },
    { "took", -12 },   { "time", -12 },   { "ms", -8 },       { "id", -8 },      { "year", -12 },
    { "cursor", -12 }, { "request", -8 }, { "query", -8 },    { "next", -12 },   { "last", -8 },
    { "rate", -10 },   { "cost", -10 },   { NULL, 0 },
};

static int points_of(const struct guess_tree *tree, const struct guess_node *node, int64_t number)
{
    const struct guess *guess = tree->guess;
    const struct guess_words words = guess_words_of(node, tree->root);
    int points = guess_words_points(&words, NAMES, NULL) -
                 (guess_depth(node, NULL) - (guess->is_xml ? 2 : 1));

    if (number < (int64_t)guess->item_count)
        return -1;
    for (const struct guess_node *at = node; at != NULL; at = at->parent)
        points -= at->is_element ? 2 : 0; /* of a list of one */
    points -= guess->page.size > 0 && number == guess->page.size ? 3 : 0;
    return points;
}

void guess_total(struct guess_tree *tree, const struct guess_node *items)
{
    struct guess_node *best = NULL;
    int most = POINTS_LEAST - 1, second = 0;
    int64_t total = 0;

    for (struct guess_node *at = tree->root; at != NULL; at = guess_tree_next(tree->root, at)) {
        int64_t number;
        int points;

        if (!guess_is_scalar(at) || guess_is_in(at, items) || !guess_number(at, &number))
            continue;
        points = points_of(tree, at, number);
        if (points > most) {
            second = most;
            most = points;
            best = at;
            total = number;
        } else if (points > second)
            second = points;
    }
    if (best == NULL)
        return;
    tree->guess->total = (struct guess_found){
        .certainty = guess_certainty_of(most + 2, most - second),
        .path = guess_path(tree, best, NULL),
        .why = arena_printf(tree->arena, "%" PRId64 " in this answer, which has %zu items", total,
                            tree->guess->item_count),
    };
}
