/* Counts pages and judges sweeps. */
#include "engine/fetch/proof.h"

#include <string.h>

void proof_init(struct proof *proof, struct arena *arena, struct proof_rules rules)
{
    *proof = (struct proof){ .rules = rules };
    id_set_init(&proof->ids, arena);
}

void proof_restart(struct proof *proof)
{
    *proof = (struct proof){ .rules = proof->rules, .ids = proof->ids };
    id_set_clear(&proof->ids);
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
    proof->pages++;
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

struct proof_result proof_judge(const struct proof *proof, enum page_reason end)
{
    const int64_t came = proof->distinct + proof->unnamed + proof->page_repeats;
    const int64_t total = proof->rules.repeats_are_ok ? proof->total_first : proof->total_last;
    const bool counts = proof->has_total && proof->rules.counts_total && end != PAGE_END_PAST;
    const bool has_drifted =
        !proof->rules.repeats_are_ok && (proof->total_moved || proof->repeats > 0);

    if (page_is_cut(end))
        return (struct proof_result){ .verdict = PROOF_CUT,
                                      .missing = counts && came < total ? total - came : 0 };
    if (counts && came < total)
        return (struct proof_result){ .verdict = PROOF_SHORTFALL, .missing = total - came };
    if (has_drifted)
        return (struct proof_result){ .verdict = PROOF_DRIFT };
    return (struct proof_result){ .verdict = PROOF_COMPLETE,
                                  .is_proven = counts && !proof->ids.is_full };
}
