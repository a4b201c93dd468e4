/* Counts pages and judges sweeps. */
#include "engine/fetch/proof.h"

#include <stdlib.h>
#include <string.h>

void proof_init(struct proof *proof, struct arena *arena, struct proof_rules rules)
{
    *proof = (struct proof){ .rules = rules };
    id_set_init(&proof->ids, arena);
}

void proof_restart(struct proof *proof)
{
    *proof = (struct proof){ .rules = proof->rules, .ids = proof->ids, .prior = proof->prior };
    id_set_clear(&proof->ids);
}

void proof_next_sweep(struct proof *proof)
{
    proof->prior = (struct proof_sweep){ .distinct = proof->distinct,
                                         .page_repeats = proof->page_repeats,
                                         .id_sum = proof->id_sum };
    proof_restart(proof);
}

static void keep_tail(struct proof *proof, const struct proof_page *page)
{
    const size_t count = page->count < PROOF_TAIL_MAX ? page->count : PROOF_TAIL_MAX;

    if (count == 0)
        return;
    memcpy(proof->tail, page->hashes + page->count - count, count * sizeof(proof->tail[0]));
    proof->tail_count = count;
}

static void keep_total(struct proof *proof, const struct proof_page *page)
{
    if (!page->has_total)
        return;
    if (!proof->has_total)
        proof->total_first = page->total;
    else if (page->total != proof->total_last)
        proof->total_moved = true;
    if (!proof->has_total || page->total > proof->total_most)
        proof->total_most = page->total;
    proof->has_total = true;
    proof->total_last = page->total;
}

/* The second of two equal ids on this page is not new to the set either. So what the set had before
 * the page is counted first. */
static bool add_ids(struct proof *proof, const struct proof_page *page, int64_t *fresh,
                    struct error *err)
{
    const int64_t known = proof_fresh(proof, page); /* before anything is added */
    int64_t added = 0;
    bool is_new;

    for (size_t i = 0; i < page->count; i++) {
        if (!id_set_add(&proof->ids, page->hashes[i], &is_new, err))
            return false;
        added += is_new;
        if (is_new)
            proof->id_sum = (int64_t)((uint64_t)proof->id_sum + page->hashes[i]);
    }
    *fresh = known;
    proof->distinct += added;
    proof->page_repeats += known - (int64_t)page->unnamed - added;
    proof->repeats += (int64_t)(page->count + page->unnamed) - known;
    return true;
}

bool proof_add(struct proof *proof, const struct proof_page *page, int64_t *fresh,
               struct error *err)
{
    if (!add_ids(proof, page, fresh, err))
        return false;
    proof->pages += *fresh > 0 || page->count + page->unnamed == 0;
    proof->items += (int64_t)(page->count + page->unnamed);
    proof->unnamed += (int64_t)page->unnamed;
    keep_total(proof, page);
    keep_tail(proof, page);
    return true;
}

int64_t proof_fresh(const struct proof *proof, const struct proof_page *page)
{
    int64_t fresh = (int64_t)page->unnamed;

    for (size_t i = 0; i < page->count; i++)
        fresh += !id_set_has(&proof->ids, page->hashes[i]);
    return fresh;
}

/* The last total counts the whole list, and not a rest of it. */
static bool counts_all(const struct proof *proof)
{
    return proof->rules.counts_total && !proof->rules.repeats_are_ok;
}

/* What counts toward the total. */
static int64_t came_of(const struct proof *proof)
{
    return proof->distinct + proof->unnamed;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* The distinct ids of a page that the sweep does not have. */
static bool count_new(const struct proof *proof, const struct proof_page *page, struct arena *arena,
                      int64_t *count, struct error *err)
{
    uint64_t *sorted = ARENA_ARRAY(arena, uint64_t, page->count);

    if (sorted == NULL)
        return arena_error(arena, err);
    *count = 0;
    if (page->count == 0)
        return true;
    memcpy(sorted, page->hashes, page->count * sizeof(sorted[0]));
    qsort(sorted, page->count, sizeof(sorted[0]), by_value);
    for (size_t i = 0; i < page->count; i++)
        *count += (i == 0 || sorted[i] != sorted[i - 1]) && !id_set_has(&proof->ids, sorted[i]);
    return true;
}

bool proof_is_reached(const struct proof *proof, const struct proof_page *page, struct arena *arena,
                      bool *reached, struct error *err)
{
    const bool has_total = page->has_total || proof->has_total;
    const int64_t total = page->has_total ? page->total : proof->total_last;
    int64_t added;

    if (!count_new(proof, page, arena, &added, err))
        return false;
    *reached =
        has_total && counts_all(proof) && came_of(proof) + added + (int64_t)page->unnamed == total;
    return true;
}

bool proof_is_at_total(const struct proof *proof)
{
    return proof->has_total && counts_all(proof) && came_of(proof) == proof->total_last;
}

bool proof_is_repeat(const struct proof *proof, const struct proof_page *page)
{
    const size_t count = page->count < PROOF_TAIL_MAX ? page->count : PROOF_TAIL_MAX;

    return count > 0 && count == proof->tail_count &&
           memcmp(proof->tail, page->hashes + page->count - count,
                  count * sizeof(proof->tail[0])) == 0;
}

/* ---- judging ---- */

/* The repeats on pages make up what is missing, and the sweep before had the same. */
static bool is_habit(const struct proof *proof, int64_t missing)
{
    return missing <= proof->page_repeats && proof->prior.distinct == proof->distinct &&
           proof->prior.page_repeats == proof->page_repeats && proof->prior.id_sum == proof->id_sum;
}

struct proof_result proof_judge(const struct proof *proof, enum page_reason end)
{
    const int64_t total = proof->rules.repeats_are_ok ? proof->total_first : proof->total_last;
    const int64_t most = proof->rules.repeats_are_ok ? proof->total_first : proof->total_most;
    const bool counts = proof->has_total && proof->rules.counts_total && end != PAGE_END_PAST;
    const int64_t missing = counts && came_of(proof) < total ? total - came_of(proof) : 0;
    struct proof_result result = { .is_doubted = counts && came_of(proof) > most };
    const bool has_moved = proof->total_moved && !result.is_doubted;

    result.is_habit = missing > 0 && is_habit(proof, missing);
    if (page_is_cut(end))
        result.verdict = PROOF_CUT;
    else if (missing > 0 && !result.is_habit)
        result.verdict = PROOF_SHORTFALL;
    else if (!proof->rules.repeats_are_ok && (has_moved || proof->repeats > 0))
        result.verdict = PROOF_DRIFT;
    else
        result.verdict = PROOF_COMPLETE;
    result.missing = result.verdict == PROOF_CUT || result.verdict == PROOF_SHORTFALL ? missing : 0;
    result.is_proven = result.verdict == PROOF_COMPLETE && counts && !result.is_doubted &&
                       !result.is_habit && !proof->ids.is_full;
    return result;
}
