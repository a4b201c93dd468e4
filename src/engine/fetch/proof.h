/* proof: whether a walk received all records there are.
 *
 * It counts page by page, and judges at the end. A walk may take several sweeps over the same
 * pages. Each is judged by itself, because a record that was missed in one sweep is not found by
 * the numbers of another:
 *
 *      sweep 1   |1 2 3|4 5 6|6 7 8|     total 9, one came twice: which one is missing?
 *      sweep 2   |1 2 3|4 5 6|7 8 9|     total 9 on every page, nine ids, none twice: proven
 *
 * A sweep is clean when the total was the same on every page, no id was on two pages, and as many
 * ids came as the total says. Without a total it is clean when no id was on two pages; that proves
 * nothing, and is_proven is false.
 *
 * An id that is twice on one page is a habit of the source and counts twice. An item without a
 * readable id counts too.
 */
#ifndef PATRA_ENGINE_FETCH_PROOF_H
#define PATRA_ENGINE_FETCH_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/str.h"
#include "engine/fetch/id_set.h"
#include "engine/fetch/page.h"

/* Ids at the end of the last page that a checkpoint keeps, so that a walk that is resumed notices
 * records that have moved across the border in the meantime. */
enum { PROOF_TAIL_MAX = 256 };

/* What the numbers of a walk mean. */
struct proof_rules {
    bool counts_total;   /* false: the total counts more than this walk (a slice by page) */
    bool repeats_are_ok; /* TIME: the records of a border are on two pages */
};

struct proof {
    struct proof_rules rules;

    /* This sweep. */
    struct id_set ids;
    int64_t pages;
    int64_t items;
    int64_t distinct;
    int64_t unnamed;      /* items without a readable id */
    int64_t page_repeats; /* ids again on the same page */
    int64_t repeats;      /* ids again on another page */
    bool has_total;
    bool total_moved;
    int64_t total_first;
    int64_t total_last;
    uint64_t tail[PROOF_TAIL_MAX]; /* hashes of the last ids of the last page */
    size_t tail_count;
};

void proof_init(struct proof *proof, struct arena *arena, struct proof_rules rules);

/* Begins another sweep. */
void proof_restart(struct proof *proof);

/* One page: the hashes of its ids (id_set_hash), in order, and the number of items without one.
 * *fresh is how many of all were not on an earlier page. */
struct proof_page {
    const uint64_t *hashes;
    size_t count;
    size_t unnamed;
    bool has_total;
    int64_t total;
};
bool proof_add(struct proof *proof, const struct proof_page *page, int64_t *fresh,
               struct error *err) MUST_CHECK;

/* What fresh would be, without adding the page: it may be requested again. */
int64_t proof_fresh(const struct proof *proof, const struct proof_page *page);

enum proof_verdict {
    PROOF_COMPLETE,
    PROOF_SHORTFALL, /* fewer came than the source says it has */
    PROOF_DRIFT,     /* the list moved while it was read */
    PROOF_CUT,       /* pages were left unread */
};

struct proof_result {
    enum proof_verdict verdict;
    bool is_proven;  /* COMPLETE, by the source's own total */
    int64_t missing; /* SHORTFALL */
};

/* Judges a sweep by its numbers and the way it ended. */
struct proof_result proof_judge(const struct proof *proof, enum page_reason end);

#endif
