/* Compares the response of now with what the batch kept, record by record. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "engine/fetch/digest.h"
#include "engine/replay/replay.h"

/* Batches that one response was stored in, on either side of this one. */
enum { SIBLINGS_MAX = 64 };

struct item_list {
    struct batch_item *items; /* by id, each once */
    size_t count;
};

struct now_record {
    struct str id;
    uint64_t hash;
    const char *bad; /* why; NULL: it is good */
};

struct now_list {
    struct now_record *items;
    size_t count;
};

/* ---- then ---- */

static bool add_items(struct replay *replay, struct str bytes, struct item_list *list,
                      struct error *err)
{
    struct batch_item_reader reader = batch_items_read(replay->input.arena, bytes);
    struct batch_item item;

    while (batch_items_next(&reader, &item)) {
        struct batch_item *slot;

        if (item.kind == BATCH_ITEM_LOST)
            continue; /* it was not in the response */
        slot = LIST_ADD(replay->input.arena, list);
        if (slot == NULL)
            return arena_error(replay->input.arena, err);
        *slot = item;
    }
    if (replay->input.arena->failed)
        return arena_error(replay->input.arena, err);
    return !reader.is_broken ||
           error_set(err, ERROR_FATAL, "batch.items",
                     "the items of batch %" PRId64 " cannot be read", replay->input.batch->id);
}

/* Further batches made of the same response: those beside this one with the same request. */
static bool add_siblings(struct replay *replay, int step, struct item_list *list, struct error *err)
{
    const struct replay_input *input = &replay->input;
    struct batch_evidence evidence;
    struct batch sibling;
    bool found = true;

    for (int i = 1; i <= SIBLINGS_MAX && found; i++) {
        const int64_t number = input->batch->number + (int64_t)step * i;

        if (number < 1)
            break;
        if (!store_batch_get(input->store, input->arena, input->batch->run_id, number, &sibling,
                             &found, err))
            return false;
        if (!found)
            break;
        if (!store_batch_evidence(input->store, input->arena, sibling.id, &evidence, err))
            return false;
        if (!str_eq(evidence.request_input, replay->evidence.request_input))
            break;
        if (!add_items(replay, evidence.items, list, err))
            return false;
    }
    return true;
}

static int by_item_id(const void *a, const void *b)
{
    return str_cmp(((const struct batch_item *)a)->id, ((const struct batch_item *)b)->id);
}

static bool list_then(struct replay *replay, struct item_list *list, struct error *err)
{
    size_t kept = 0;

    if (!add_items(replay, replay->evidence.items, list, err) ||
        !add_siblings(replay, -1, list, err) || !add_siblings(replay, 1, list, err))
        return false;
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(list->items[0]), by_item_id);
    for (size_t i = 0; i < list->count; i++) {
        if (kept == 0 || !str_eq(list->items[kept - 1].id, list->items[i].id))
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
    return true;
}

/* ---- now ---- */

static bool add_now(struct replay *replay, struct now_list *list, struct now_record record,
                    struct error *err)
{
    struct now_record *slot = LIST_ADD(replay->input.arena, list);

    if (slot == NULL)
        return arena_error(replay->input.arena, err);
    *slot = record;
    return true;
}

static bool add_records(struct replay *replay, struct now_list *list, struct error *err)
{
    const struct listing *listing = &replay->listing;
    const struct record_origin origin = { .reader = &replay->reader,
                                          .document = &replay->response.document,
                                          .arena = replay->input.arena };
    char hex[HASH_HEX_MAX];

    for (size_t i = 0; i < listing->records.count; i++) {
        const struct record *record = &listing->records.items[i];

        if (!record_hash(&origin, record, hex, err) ||
            !add_now(replay, list,
                     (struct now_record){ record->provider_id, batch_item_hash(str_of(hex)), NULL },
                     err))
            return false;
    }
    for (size_t i = 0; i < listing->bad.count; i++) {
        const struct record *record = &listing->bad.items[i];

        if (!add_now(replay, list, (struct now_record){ record->provider_id, 0, record->reason },
                     err))
            return false;
    }
    return true;
}

static int by_now_id(const void *a, const void *b)
{
    return str_cmp(((const struct now_record *)a)->id, ((const struct now_record *)b)->id);
}

static bool list_now(struct replay *replay, struct now_list *list, struct error *err)
{
    const struct listing *listing = &replay->listing;
    size_t kept = 0;

    if (!replay->is_read)
        return true;
    if (replay->kept.ids_only) {
        for (size_t i = 0; i < listing->items - listing->unnamed; i++) {
            if (!add_now(replay, list, (struct now_record){ listing->ids[i], 0, NULL }, err))
                return false;
        }
    } else if (!add_records(replay, list, err))
        return false;
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(list->items[0]), by_now_id);
    for (size_t i = 0; i < list->count; i++) {
        if (kept == 0 || !str_eq(list->items[kept - 1].id, list->items[i].id))
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
    return true;
}

/* ---- both ---- */

static enum replay_kind kind_of(const struct batch_item *then, const struct now_record *now)
{
    const bool was_bad = then->kind == BATCH_ITEM_QUARANTINED;

    if (was_bad || now->bad != NULL)
        return was_bad && now->bad != NULL ? REPLAY_SAME : REPLAY_CHANGED;
    if (then->kind == BATCH_ITEM_LISTED)
        return REPLAY_SAME;
    if (then->hash == 0)
        return REPLAY_UNKNOWN;
    return then->hash == now->hash ? REPLAY_SAME : REPLAY_CHANGED;
}

static bool report_record(struct replay *replay, struct replay_record record, struct error *err)
{
    struct replay_record *slot = LIST_ADD(replay->input.arena, &replay->report.records);

    if (slot == NULL)
        return arena_error(replay->input.arena, err);
    *slot = record;
    replay->report.counts[record.kind]++;
    return true;
}

static bool merge(struct replay *replay, const struct item_list *then, const struct now_list *now,
                  struct error *err)
{
    size_t i = 0, k = 0;

    while (i < then->count || k < now->count) {
        struct replay_record record = { 0 };
        const int order = i == then->count  ? 1
                          : k == now->count ? -1
                                            : str_cmp(then->items[i].id, now->items[k].id);

        record.kind = order < 0 ? REPLAY_GONE : order > 0 ? REPLAY_NEW : REPLAY_SAME;
        record.id = order <= 0 ? then->items[i].id : now->items[k].id;
        if (order >= 0) {
            record.is_bad = now->items[k].bad != NULL;
            record.reason = now->items[k].bad;
        }
        if (order == 0)
            record.kind = kind_of(&then->items[i], &now->items[k]);
        i += order <= 0;
        k += order >= 0;
        if (!report_record(replay, record, err))
            return false;
    }
    return true;
}

/* ---- the sides ---- */

static bool describe_now(struct replay *replay, struct error *err)
{
    struct replay_side *now = &replay->report.now;
    char *text = arena_alloc(replay->input.arena, 8 + HASH_HEX_MAX);
    struct hash_sum sum;

    if (text == NULL)
        return arena_error(replay->input.arena, err);
    *now = (struct replay_side){ .status = replay->reply.status,
                                 .bytes = (int64_t)replay->reply.body.len,
                                 .sample = STR("") };
    if (replay->failure.level != ERROR_NONE) {
        now->level = str_of(error_level_name(replay->failure.level));
        now->code = str_of(replay->failure.code);
        now->text = str_of(replay->failure.text);
    }
    if (replay->is_read) {
        now->items = (int64_t)replay->listing.items;
        now->has_total = replay->listing.has_total;
        now->total = replay->listing.total;
        now->has_next = replay->listing.next.data != NULL;
        now->next = replay->listing.next;
    }
    if (replay->reply.body.len == 0)
        return true;
    if (!hash_of(str_slice(replay->reply.body, 0, DIGEST_SAMPLE_BYTES), &sum, err))
        return false;
    memcpy(text, "sha256:", 7);
    hash_hex(&sum, text + 7);
    now->sample = str_of(text);
    return true;
}

static void add_word(struct buf *words, const char *word)
{
    if (words->len > 0)
        buf_add(words, STR(", "));
    buf_add(words, str_of(word));
}

static void conclude(struct replay_report *report, struct buf *words)
{
    const struct replay_side *then = &report->then, *now = &report->now;
    const int64_t others =
        report->counts[REPLAY_CHANGED] + report->counts[REPLAY_GONE] + report->counts[REPLAY_NEW];

    if (!report->is_request_same)
        add_word(words, "the request");
    if (then->status != now->status)
        add_word(words, "status");
    if (!str_eq(then->code, now->code))
        add_word(words, "error");
    if (then->code.len == 0 && then->items != now->items)
        add_word(words, "items");
    if (then->code.len == 0 && (then->has_total != now->has_total || then->total != now->total))
        add_word(words, "total");
    if (then->code.len == 0 && then->has_next != now->has_next)
        add_word(words, "next page");
    if (others > 0 && report->has_items) {
        add_word(words, "");
        buf_printf(words, "%" PRId64 " record%s", others, others == 1 ? "" : "s");
    }
    report->is_same = words->len == 0;
    report->is_identical = report->is_same && then->sample.len > 0 &&
                           str_eq(then->sample, now->sample) && then->bytes == now->bytes;
}

bool replay_compare(struct replay *replay, struct error *err)
{
    struct replay_report *report = &replay->report;
    struct item_list then = { 0 };
    struct now_list now = { 0 };
    struct buf words;

    buf_init(&words, replay->input.arena, 256);
    if (!describe_now(replay, err) || !list_then(replay, &then, err) ||
        !list_now(replay, &now, err))
        return false;
    report->has_items = then.count > 0 || report->then.items == 0;
    if (report->has_items && report->then.code.len == 0 && !merge(replay, &then, &now, err))
        return false;
    conclude(report, &words);
    report->differs = words.len > 0 ? buf_str(&words) : STR("");
    return buf_ok(&words, err);
}
