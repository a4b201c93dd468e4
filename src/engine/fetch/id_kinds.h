/* id_kinds: ids that are a number in one item of a walk and a text in another.
 *
 * As ids the number 1 and the text "1" are the same. Where a source has both, they are most likely
 * two records, and the later one must not overwrite the earlier one. Where they are one record, the
 * later one is a repetition. So the later one is refused in either case. Between walks the kind is
 * not remembered: a source that makes its numbers texts one day has the same records as before.
 *
 * Nearly all sources have ids of one kind, and cost no memory: only ids of another kind than that
 * of the first one are kept.
 */
#ifndef PATRA_ENGINE_FETCH_ID_KINDS_H
#define PATRA_ENGINE_FETCH_ID_KINDS_H

#include "engine/fetch/id_set.h"

struct id_kinds {
    bool has_first;
    unsigned first;    /* the kind of the first id */
    struct id_set odd; /* hashes of the ids of other kinds */
};

void id_kinds_init(struct id_kinds *kinds, struct arena *arena);
void id_kinds_clear(struct id_kinds *kinds); /* keeps the memory */

/* The ids of one page, in order. Those of earlier pages are in `kinds` and `seen`. */
struct id_kinds_page {
    const struct id_kinds *kinds; /* NULL: there are no earlier pages */
    const struct id_set *seen;    /* all ids of earlier pages; NULL with kinds */
    struct {
        uint64_t hash;
        unsigned kind;
    } * ids;
    size_t count;
    size_t odd; /* ids of another kind than the first one */
};

/* Makes room for so many ids. */
bool id_kinds_page_init(struct id_kinds_page *page, struct arena *arena, size_t most,
                        struct error *err) MUST_CHECK;

/* *is_ambiguous: an earlier item of the walk has the same id, of another kind. Otherwise it is
 * added.
 */
void id_kinds_page_add(struct id_kinds_page *page, uint64_t hash, unsigned kind,
                       bool *is_ambiguous);

/* The page counts. */
bool id_kinds_accept(struct id_kinds *kinds, const struct id_kinds_page *page,
                     struct error *err) MUST_CHECK;

#endif
