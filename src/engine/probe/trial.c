/* Walks a slice without a rate gate, and compares two walks. */
#include "engine/probe/trial.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "data/hash.h"

static bool allow(struct permit_gate *gate, const struct permit_request *ask, struct permit *permit,
                  struct error *err)
{
    (void)gate;
    (void)ask;
    (void)err;
    permit->decision = RATE_ALLOW;
    return true;
}

static void hear(struct permit_gate *gate, const struct permit_feedback *feedback)
{
    (void)gate;
    (void)feedback;
}

static int by_id(const void *a, const void *b)
{
    return str_cmp(((const struct trial_record *)a)->id, ((const struct trial_record *)b)->id);
}

/* A slice of a trial has some hundred records: a linear search is quick enough. */
static struct trial_record *place_of(struct trial *trial, struct arena *arena, struct str id)
{
    struct trial_record *slot;

    for (size_t i = 0; i < trial->count; i++) {
        if (str_eq(trial->items[i].id, id))
            return &trial->items[i];
    }
    slot = LIST_ADD(arena, trial);
    if (slot == NULL)
        return NULL;
    slot->id = arena_copy(arena, id);
    return slot->id.data != NULL ? slot : NULL;
}

static bool take(struct trial *trial, struct arena *arena, const struct fetch_batch *batch,
                 struct error *err)
{
    struct hash_sum sum;

    for (size_t i = 0; i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];
        struct trial_record *place = place_of(trial, arena, record->provider_id);

        if (place == NULL)
            return arena_error(arena, err);
        if (!hash_of(record->payload, &sum, err))
            return false;
        hash_hex(&sum, place->hash);
        place->is_deleted = record->is_deleted;
    }
    trial->requests += batch->counts.requests;
    trial->retries += batch->counts.retries;
    trial->bad += batch->bad_count;
    trial->lost += batch->lost_count;
    return true;
}

static bool keep_verdict(struct trial *trial, struct arena *arena, const struct fetch_batch *batch,
                         struct error *err)
{
    trial->verdict = batch->verdict;
    trial->restarts = batch->verdict.restarts;
    trial->sweeps = batch->verdict.sweeps;
    trial->verdict.reason = arena_copy(arena, batch->verdict.reason);
    return trial->verdict.reason.data != NULL || batch->verdict.reason.len == 0 ||
           arena_error(arena, err);
}

bool trial_run(struct trial *trial, struct arena *arena, const struct fetch_parts *parts,
               const struct fetch_order *order, struct error *err)
{
    struct permit_gate gate = { allow, hear };
    struct fetch_parts all = *parts;
    struct fetch_batch batch;
    struct fetch *fetch;
    bool ok = true;

    *trial = (struct trial){ 0 };
    all.gate = &gate;
    if (!fetch_open(&fetch, &all, order, err))
        return false;
    do {
        if (!fetch_next(fetch, &batch, &trial->err)) {
            trial->failed = true;
            trial->requests += batch.counts.requests;
            trial->retries += batch.counts.retries;
            break;
        }
        ok = take(trial, arena, &batch, err);
    } while (ok && !batch.is_last);
    if (ok && !trial->failed)
        ok = keep_verdict(trial, arena, &batch, err);
    fetch_close(fetch);
    if (trial->count > 0)
        qsort(trial->items, trial->count, sizeof(trial->items[0]), by_id);
    return ok;
}

bool trial_same_ids(const struct trial *trial, const struct trial *truth)
{
    if (trial->count != truth->count)
        return false;
    for (size_t i = 0; i < trial->count; i++) {
        if (!str_eq(trial->items[i].id, truth->items[i].id) ||
            trial->items[i].is_deleted != truth->items[i].is_deleted)
            return false;
    }
    return true;
}

enum trial_outcome trial_judge(const struct trial *trial, const struct trial *truth)
{
    if (trial->failed)
        return TRIAL_FAILED;
    if (trial->verdict.kind != FETCH_COMPLETE || trial->bad > 0 || trial->lost > 0)
        return TRIAL_PARTIAL;
    if (!trial_same_ids(trial, truth))
        return TRIAL_WRONG;
    for (size_t i = 0; i < trial->count; i++) {
        if (strcmp(trial->items[i].hash, truth->items[i].hash) != 0)
            return TRIAL_WRONG;
    }
    return TRIAL_WHOLE;
}
