/* The store's functions for offsets and parked keys, one of them with a bug. */
#include "reader_bugs.h"

#include "adapter/sql/statement.h"
#include "contract.h"

static struct reader_bugs bugs;

static const char SAVE_WITHOUT_EPOCH[] =
    "UPDATE ing_offset AS t SET stream_pos = @pos, updated_at = :now, leased_until = :until {rows}"
    " WHERE t.consumer_group = :group AND t.subscription = :name AND t.lane = @lane"
    " AND t.stream_pos < @pos";

static bool save_without_epoch(struct store *store, const struct offset_save *save, bool *held,
                               struct error *err)
{
    struct statement *st;
    int64_t changes;

    if (!bugs.real_offset->save(store, save, held, err))
        return false;
    if (*held)
        return true;
    *held = true;
    st = statement_of(store, SAVE_WITHOUT_EPOCH);
    bind_instant(st, ":now", save->now_us);
    bind_instant_opt(st, ":until", false, 0);
    bind_text(st, ":group", save->key.group);
    bind_text(st, ":name", save->key.subscription);
    for (size_t i = 0; i < save->count; i++) {
        cell_i64(st, "@pos", save->moves[i].pos);
        cell_i64(st, "@lane", save->moves[i].lane);
    }
    return statement_run(st, &changes, err);
}

static bool events_of_head(struct store *store, struct arena *arena,
                           const struct parked_events *events, struct stream_event_list *list,
                           struct error *err)
{
    struct parked_events head = *events;

    head.to_version = head.from_version;
    return bugs.real_parked->events(store, arena, &head, list, err);
}

static bool seek_keeping_parked(struct store *store, const struct offset_seek *seek, bool *found,
                                struct error *err)
{
    struct parked_list list;

    if (!bugs.real_parked->list(store, contract_arena(),
                                &(struct parked_query){ seek->key, STR(""), 1000 }, &list, err) ||
        !bugs.real_offset->seek(store, seek, found, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].lane == seek->lane &&
            !bugs.real_parked->put(store, &seek->key, &list.items[i], err))
            return false;
    }
    return true;
}

static bool pass_blindly(struct store *store, const struct offset_key *key,
                         const struct parked_pass *passes, size_t count, bool *all,
                         struct error *err)
{
    const bool ok = bugs.real_parked->pass(store, key, passes, count, all, err);

    *all = true;
    return ok;
}

struct reader_bugs *reader_bugs_plant(struct store *store, int bug)
{
    if (store->offset != &bugs.offset) {
        bugs.real_offset = store->offset;
        bugs.real_parked = store->parked;
    }
    bugs.offset = *bugs.real_offset;
    bugs.parked = *bugs.real_parked;
    if (bug == BUG_SAVE_WITHOUT_EPOCH)
        bugs.offset.save = save_without_epoch;
    if (bug == BUG_PARKED_HEAD_ONLY)
        bugs.parked.events = events_of_head;
    if (bug == BUG_SEEK_KEEPS_PARKED)
        bugs.offset.seek = seek_keeping_parked;
    if (bug == BUG_PASS_BLIND)
        bugs.parked.pass = pass_blindly;
    store->offset = &bugs.offset;
    store->parked = &bugs.parked;
    return &bugs;
}
