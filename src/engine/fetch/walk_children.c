/* Parents, one after the other, each with a list of its own:
 *
 *      queue    |done|done|.. parent ..|.. next ..|
 *                             │
 *      list               |page|page|page|  walked as any list: page rules, sweeps, proof, budget
 *                                      │
 *                 its end is believed ─┴─ the parent is done, with this batch
 *                 it is not ───────────── the parent is given up, told in the verdict
 *
 * fetch->list is the phase while a list is walked, and NULL between two parents. What fails a page
 * for good fails its parent, as a request for an id would (walk_ids.c), and the next parent
 * follows. A checkpoint has the parent and the page. What limits one list (sweeps, restarts,
 * requests per page) begins again with each parent.
 */
#include "engine/fetch/walk.h"

struct exchange_request walk_child_request(struct fetch *fetch)
{
    struct exchange_request request = id_work_request(&fetch->ids);

    request.id_count = 1;
    request.is_child_page = true;
    return request;
}

static bool leave_list(struct fetch *fetch, struct error *err)
{
    struct walk_totals *totals = &fetch->totals;

    prefetch_drop(fetch);
    fetch->list = NULL;
    totals->sweeps = totals->restarts = 0;
    totals->spent = totals->seen = 0;
    return walk_pages_reset(fetch, fetch->ids.phase, err);
}

/* ---- a list that was read to its end ---- */

/* Its records are stored, and its parent is due again. */
static bool give_up(struct fetch *fetch, struct id_queue *queue, struct str reason,
                    struct error *err)
{
    struct id_work *ids = &fetch->ids;
    const struct fetch_lost_id lost = {
        .id = queue->items[queue->next],
        .reason = FETCH_LOST_FAILED,
        .status = fetch->current != NULL ? fetch->current->reply.status : 0,
        .detail = reason,
    };

    if (++ids->failed > FETCH_FAILED_IDS_MAX)
        return error_set(
            err, ERROR_REQUEST, "fetch.children",
            "the children of %d parents could not be read whole: the source's pages or "
            "totals are not what the source file says; the last, %.*s: %.*s",
            ids->failed, STR_ARG(lost.id), STR_ARG(reason));
    queue->next++;
    return id_work_lose(ids, walk_arena(fetch), lost, err);
}

/* By its own numbers, whatever became of other parents. */
static void judge(struct fetch *fetch)
{
    const struct phase *phase = fetch->list;

    if (proof_judge(&phase->proof, phase->end).verdict == PROOF_COMPLETE)
        walk_end(fetch, FETCH_COMPLETE, STR("its list is whole"));
    else
        walk_judge(fetch);
}

static void finish(struct fetch *fetch, struct id_queue *queue, struct fetch_batch *batch)
{
    struct id_work *ids = &fetch->ids;

    ids->childless += fetch->list->proof.items == 0;
    for (size_t i = 0; i < FETCH_DOUBTS; i++)
        ids->doubts |= (int64_t)fetch->verdict.doubts[i] << i;
    batch->parents = queue->items + queue->next++;
    batch->parent_count = 1;
}

/* The verdict on the list is that on its parent. */
static bool end_list(struct fetch *fetch, struct id_queue *queue, struct fetch_batch *batch,
                     struct error *err)
{
    const struct str reason = fetch->verdict.reason;

    fetch->has_verdict = false;
    if (fetch->verdict.kind == FETCH_COMPLETE)
        finish(fetch, queue, batch);
    else if (!give_up(fetch, queue, reason, err))
        return false;
    fetch->verdict = (struct fetch_verdict){ 0 };
    return leave_list(fetch, err);
}

/* ---- a page ---- */

static bool take_page(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    bool ended;

    if (!walk_check_budget(fetch, &ended, err))
        return false;
    return ended || walk_page(fetch, batch, err);
}

bool walk_child_page(struct fetch *fetch, struct fetch_batch *batch, struct error *err)
{
    struct id_work *ids = &fetch->ids;
    struct id_queue *queue = id_work_queue(ids);
    bool is_taken;

    if (fetch->list == NULL)
        fetch->list = ids->phase;
    is_taken = take_page(fetch, batch, err);
    batch->kind = FETCH_DETAILS;
    batch->before = (struct str){ NULL, 0 }; /* lists may have the same tokens, and a run has one */
    if (!is_taken) {
        fetch->list = NULL;
        return fetch->current != NULL && id_work_recover(fetch, queue, 1, batch, err) &&
               leave_list(fetch, err);
    }
    ids->late_in_row = 0;
    if (fetch->list->is_done && !fetch->has_verdict)
        judge(fetch);
    return !fetch->has_verdict || end_list(fetch, queue, batch, err);
}
