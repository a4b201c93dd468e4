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
 * An item without a readable id counts as a record. An id that is twice on one page counts once: it
 * may stand in the place of a record that is missing. Some sources list a record twice, though, and
 * count it twice in their total. So where such repeats make up the total, the sweep is a shortfall
 * until another sweep has the same ids and the same repeats: then it is a habit of the source, and
 * the list is complete, but not proven.
 *
 * When more ids came than the total ever said, the total is wrong (is_doubted). It then proves
 * nothing, and that it moved is no sign of a list that moved.
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

/* What two sweeps over the same list have in common. */
struct proof_sweep {
    int64_t distinct; /* 0: there is none */
    int64_t page_repeats;
    int64_t id_sum;
};

struct proof {
    struct proof_rules rules;

    /* This sweep. */
    struct id_set ids;
    int64_t pages; /* without those that only repeat what came before */
    int64_t items;
    int64_t distinct;
    int64_t unnamed;      /* items without a readable id */
    int64_t page_repeats; /* ids again on the same page */
    int64_t repeats;      /* ids again on another page */
    int64_t id_sum;       /* of the hashes of its ids, in any order */
    bool has_total;
    bool total_moved;
    int64_t total_first;
    int64_t total_last;
    int64_t total_most;
    uint64_t tail[PROOF_TAIL_MAX]; /* hashes of the last ids of the last page */
    size_t tail_count;

    struct proof_sweep prior; /* the sweep before, if it was read to its end */
};

void proof_init(struct proof *proof, struct arena *arena, struct proof_rules rules);

/* Begins another sweep, after one that was left before its end. */
void proof_restart(struct proof *proof);

/* Begins another sweep, after one that was read to its end and is not believed. */
void proof_next_sweep(struct proof *proof);

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

/* Whether the sweep has exactly as many distinct ids (and items without one) as the source's total
 * says. */
bool proof_is_at_total(const struct proof *proof);

/* Whether a page has the same ids as the one before it, in the same order. */
bool proof_is_repeat(const struct proof *proof, const struct proof_page *page);

/* Whether the sweep has as many as the total says, with a page that is not added. */
bool proof_is_reached(const struct proof *proof, const struct proof_page *page, struct arena *arena,
                      bool *reached, struct error *err) MUST_CHECK;

enum proof_verdict {
    PROOF_COMPLETE,
    PROOF_SHORTFALL, /* fewer came than the source says it has */
    PROOF_DRIFT,     /* the list moved while it was read */
    PROOF_CUT,       /* pages were left unread */
};

struct proof_result {
    enum proof_verdict verdict;
    bool is_proven;  /* COMPLETE, by the source's own total */
    bool is_doubted; /* the total: more came than it says */
    bool is_habit;   /* COMPLETE: ids twice on one page make up the total, sweep after sweep */
    int64_t missing; /* SHORTFALL */
};

/* Judges a sweep by its numbers and the way it ended. */
struct proof_result proof_judge(const struct proof *proof, enum page_reason end);

#endif
