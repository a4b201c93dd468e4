/* Offsets of subscriptions, the leases of their lanes, and who reads them. */
#include <inttypes.h>

#include "adapter/sql/session.h"
#include "port/store_offset.h"
#include "port/store_prune.h"

#define OF_KEY "consumer_group = :group AND subscription = :name"

static void bind_key(struct statement *st, const struct offset_key *key)
{
    bind_text(st, ":group", key->group);
    bind_text(st, ":name", key->subscription);
}

/* ---- who is there ---- */

static const char ATTEND[] =
    "INSERT INTO ing_reader (consumer_group, subscription, owner, started_at, alive_until, error,"
    " error_since) VALUES (:group, :name, :owner, :now, :until, :error, :since)"
    " ON CONFLICT (consumer_group, subscription, owner) DO UPDATE SET"
    " alive_until = excluded.alive_until, error = excluded.error,"
    " error_since = CASE WHEN excluded.error = '' THEN NULL"
    "  ELSE coalesce(ing_reader.error_since, excluded.error_since) END";
static const char BURY[] = "DELETE FROM ing_reader WHERE " OF_KEY " AND alive_until < :now";
static const char ALIVE[] =
    "SELECT count(*) FROM ing_reader WHERE " OF_KEY " AND alive_until >= :now";

static bool attend_within(struct store *store, const struct offset_attend *attend, int64_t *readers,
                          struct error *err)
{
    struct statement *st = statement_of(store, ATTEND);
    int64_t changes;

    bind_key(st, &attend->key);
    bind_text(st, ":owner", attend->owner);
    bind_instant(st, ":now", attend->now_us);
    bind_instant(st, ":until", attend->until_us);
    bind_text(st, ":error", attend->error);
    bind_instant_opt(st, ":since", attend->error.len > 0, attend->now_us);
    if (!statement_run(st, &changes, err))
        return false;
    st = statement_of(store, BURY);
    bind_key(st, &attend->key);
    bind_instant(st, ":now", attend->now_us);
    if (!statement_run(st, &changes, err))
        return false;
    st = statement_of(store, ALIVE);
    bind_key(st, &attend->key);
    bind_instant(st, ":now", attend->now_us);
    return rows_only_i64(&st->rows, readers, err);
}

static bool offset_attend(struct store *store, const struct offset_attend *attend, int64_t *readers,
                          struct error *err)
{
    bool owns_transaction, ok;

    *readers = 0;
    ok = store_begin_if_idle(store, &owns_transaction, err) &&
         store_end_if_owned(store, owns_transaction, attend_within(store, attend, readers, err),
                            err);
    return ok || error_wrap(err, "attend %.*s", STR_ARG(attend->key.subscription));
}

/* ---- leases ---- */

/* A materialized table, or PostgreSQL may run the subquery, with its LIMIT, once per row. */
static const char CLAIM[] =
    "WITH free (n) AS MATERIALIZED (SELECT lane FROM ing_offset WHERE " OF_KEY
    " AND (leased_until IS NULL OR leased_until < :now) ORDER BY lane LIMIT :limit{lock-free})"
    " UPDATE ing_offset SET lease_owner = :owner, leased_until = :until,"
    " lease_epoch = lease_epoch + 1,"
    " crashes = CASE WHEN lease_owner IS NULL THEN 0 ELSE crashes + 1 END"
    " FROM free WHERE " OF_KEY " AND lane = free.n"
    " RETURNING lane, lease_epoch, stream_pos, crashes, coalesce(ack_id, '')";

static bool offset_claim(struct store *store, struct arena *arena, const struct offset_claim *claim,
                         struct offset_lane_list *list, struct error *err)
{
    struct statement *st = statement_of(store, CLAIM);
    struct offset_lane *lane;

    *list = (struct offset_lane_list){ 0 };
    bind_key(st, &claim->key);
    bind_instant(st, ":now", claim->now_us);
    bind_i64(st, ":limit", claim->limit);
    bind_text(st, ":owner", claim->owner);
    bind_instant(st, ":until", claim->until_us);
    while ((lane = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        lane->lane = rows_i64(&st->rows);
        lane->epoch = rows_i64(&st->rows);
        lane->pos = rows_i64(&st->rows);
        lane->crashes = rows_i64(&st->rows);
        lane->ack_id = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err) ||
           error_wrap(err, "claim lanes of %.*s", STR_ARG(claim->key.subscription));
}

#define OF_LANE                                                                      \
    " WHERE t.consumer_group = :group AND t.subscription = :name AND t.lane = @lane" \
    " AND t.lease_epoch = @epoch AND t.lease_owner IS NOT NULL"

static const char SAVE[] =
    "UPDATE ing_offset AS t SET stream_pos = @pos, ack_id = @ack, message_id = @message,"
    " publish_time = @published, lag_us = @lag, updated_by = :owner, updated_at = :now,"
    " leased_until = :until, crashes = 0 {rows}" OF_LANE " AND t.stream_pos < @pos";

/* All rows or none: *held. Within a transaction of its own, or of the caller, who rolls back. */
static bool end_change(struct store *store, bool owns_transaction, int64_t changes, size_t count,
                       bool *held, struct error *err)
{
    *held = changes == (int64_t)count;
    if (*held)
        return store_end_if_owned(store, owns_transaction, true, err);
    if (owns_transaction)
        store_rollback(store);
    return true;
}

static bool run_save(struct store *store, const struct offset_save *save, int64_t *changes,
                     struct error *err)
{
    struct statement *st = statement_of(store, SAVE);

    bind_key(st, &save->key);
    bind_text(st, ":owner", save->owner);
    bind_instant(st, ":now", save->now_us);
    bind_instant(st, ":until", save->until_us);
    for (size_t i = 0; i < save->count; i++) {
        const struct offset_move *move = &save->moves[i];

        cell_i64(st, "@pos", move->pos);
        cell_text(st, "@ack", move->ack_id);
        cell_text(st, "@message", move->message_id);
        cell_instant(st, "@published", move->published_us);
        cell_i64(st, "@lag", save->now_us - move->published_us);
        cell_i64(st, "@lane", move->lane);
        cell_i64(st, "@epoch", move->epoch);
    }
    return statement_run(st, changes, err);
}

static bool offset_save(struct store *store, const struct offset_save *save, bool *held,
                        struct error *err)
{
    bool owns_transaction, ok;
    int64_t changes = 0;

    *held = true;
    if (save->count == 0)
        return true;
    *held = false;
    ok = store_begin_if_idle(store, &owns_transaction, err);
    if (ok && !run_save(store, save, &changes, err))
        ok = store_end_if_owned(store, owns_transaction, false, err);
    else if (ok)
        ok = end_change(store, owns_transaction, changes, save->count, held, err);
    return ok || error_wrap(err, "save offsets of %.*s", STR_ARG(save->key.subscription));
}

static const char RENEW[] = "UPDATE ing_offset AS t SET leased_until = :until,"
                            " crashes = CASE WHEN @idle THEN 0 ELSE crashes END {rows}" OF_LANE;

static bool run_renew(struct store *store, const struct offset_renew *renew, int64_t *changes,
                      struct error *err)
{
    struct statement *st = statement_of(store, RENEW);

    bind_instant(st, ":until", renew->until_us);
    bind_key(st, &renew->key);
    for (size_t i = 0; i < renew->count; i++) {
        cell_bool(st, "@idle", renew->lanes[i].is_idle);
        cell_i64(st, "@lane", renew->lanes[i].lane);
        cell_i64(st, "@epoch", renew->lanes[i].epoch);
    }
    return statement_run(st, changes, err);
}

static bool offset_renew(struct store *store, const struct offset_renew *renew, bool *held,
                         struct error *err)
{
    bool owns_transaction, ok;
    int64_t changes = 0;

    *held = true;
    if (renew->count == 0)
        return true;
    *held = false;
    ok = store_begin_if_idle(store, &owns_transaction, err);
    if (ok && !run_renew(store, renew, &changes, err))
        ok = store_end_if_owned(store, owns_transaction, false, err);
    else if (ok)
        ok = end_change(store, owns_transaction, changes, renew->count, held, err);
    return ok || error_wrap(err, "renew lanes of %.*s", STR_ARG(renew->key.subscription));
}

static const char EPOCHS[] = "SELECT lane, lease_epoch FROM ing_offset WHERE " OF_KEY
                             " AND lease_owner IS NOT NULL AND lane BETWEEN 0 AND :last";

static bool read_epochs(struct store *store, const struct offset_key *key,
                        int64_t epochs[OUTBOX_LANES], struct error *err)
{
    struct statement *st = statement_of(store, EPOCHS);

    bind_key(st, key);
    bind_i64(st, ":last", OUTBOX_LANES - 1);
    while (rows_next(&st->rows)) {
        const int64_t lane = rows_i64(&st->rows);

        epochs[lane] = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err);
}

static bool offset_check(struct store *store, const struct offset_key *key,
                         const struct offset_held *lanes, size_t count, bool *held,
                         struct error *err)
{
    int64_t epochs[OUTBOX_LANES] = { 0 }; /* a lane that was ever held has a higher one */

    *held = true;
    if (count == 0)
        return true;
    if (!read_epochs(store, key, epochs, err))
        return error_wrap(err, "check lanes of %.*s", STR_ARG(key->subscription));
    for (size_t i = 0; i < count; i++)
        *held &= epochs[lanes[i].lane] == lanes[i].epoch;
    return true;
}

static const char RELEASE[] =
    "UPDATE ing_offset AS t SET lease_owner = NULL, leased_until = NULL {rows}" OF_LANE;

static bool offset_release(struct store *store, const struct offset_renew *lanes, struct error *err)
{
    struct statement *st = statement_of(store, RELEASE);
    int64_t changes;

    bind_key(st, &lanes->key);
    for (size_t i = 0; i < lanes->count; i++) {
        cell_i64(st, "@lane", lanes->lanes[i].lane);
        cell_i64(st, "@epoch", lanes->lanes[i].epoch);
    }
    return statement_run(st, &changes, err) ||
           error_wrap(err, "give back lanes of %.*s", STR_ARG(lanes->key.subscription));
}

static const char RELEASE_ALL[] = "UPDATE ing_offset SET lease_owner = NULL, leased_until = NULL"
                                  " WHERE " OF_KEY " AND lease_owner = :owner";
static const char LEAVE[] = "DELETE FROM ing_reader WHERE " OF_KEY " AND owner = :owner";

static bool run_for_owner(struct store *store, const char *sql, const struct offset_key *key,
                          struct str owner, struct error *err)
{
    struct statement *st = statement_of(store, sql);
    int64_t changes;

    bind_key(st, key);
    bind_text(st, ":owner", owner);
    return statement_run(st, &changes, err);
}

static bool offset_leave(struct store *store, const struct offset_key *key, struct str owner,
                         struct error *err)
{
    return (run_for_owner(store, RELEASE_ALL, key, owner, err) &&
            run_for_owner(store, LEAVE, key, owner, err)) ||
           error_wrap(err, "give back all lanes of %.*s", STR_ARG(key->subscription));
}

/* ---- seeking ---- */

static const char AT[] =
    "SELECT stream_pos, message_id FROM ing_offset WHERE " OF_KEY " AND lane = :lane{lock}";
static const char MOVE[] =
    "UPDATE ing_offset SET stream_pos = :pos, ack_id = '', message_id = '', publish_time = :now,"
    " lag_us = 0, updated_by = :by, updated_at = :now, lease_owner = NULL, leased_until = NULL,"
    " lease_epoch = lease_epoch + 1, crashes = 0 WHERE " OF_KEY " AND lane = :lane";
static const char NOTE[] =
    "INSERT INTO ing_offset_reset (consumer_group, subscription, lane, old_pos, old_message_id,"
    " new_pos, new_message_id, reason, reset_by, reset_at)"
    " VALUES (:group, :name, :lane, :old, :old_message, :pos, '', :reason, :by, :now)";
/* The lane is delivered again, or not at all, from its new position on: with its parked keys, later
 * events would wait for versions that are delivered by the stream itself. */
static const char FORGET[] = "DELETE FROM ing_parked WHERE " OF_KEY " AND lane = :lane";

/* A lane begins there: what was before it is gone (port/store_prune.h). */
static const char BEGIN[] = "SELECT coalesce({stream-first} - 1, l.last_pos) FROM ing_stream_lane "
                            "AS l WHERE l.lane = :lane";

static bool clamp(struct store *store, struct offset_seek *seek, struct error *err)
{
    struct statement *st;
    int64_t begin;

    if (sql_session_of(store)->is_sink)
        return true; /* the stream is elsewhere */
    st = statement_of(store, BEGIN);
    bind_i64(st, ":lane", seek->lane);
    if (!rows_only_i64(&st->rows, &begin, err))
        return false;
    if (seek->pos < begin)
        seek->pos = begin;
    return true;
}

struct place {
    int64_t pos;
    struct str message_id;
};

static bool read_place(struct store *store, struct arena *arena, const struct offset_seek *seek,
                       struct place *place, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, AT);

    *found = false;
    bind_key(st, &seek->key);
    bind_i64(st, ":lane", seek->lane);
    while (rows_next(&st->rows)) {
        place->pos = rows_i64(&st->rows);
        place->message_id = rows_text(&st->rows, arena);
        *found = true;
    }
    return rows_finish(&st->rows, err);
}

static bool note(struct store *store, const struct offset_seek *seek, const struct place *old,
                 struct error *err)
{
    struct statement *st = statement_of(store, NOTE);
    int64_t changes;

    bind_key(st, &seek->key);
    bind_i64(st, ":lane", seek->lane);
    bind_i64(st, ":old", old->pos);
    bind_text(st, ":old_message", old->message_id);
    bind_i64(st, ":pos", seek->pos);
    bind_text(st, ":reason", seek->reason);
    bind_text(st, ":by", seek->by);
    bind_instant(st, ":now", seek->now_us);
    return statement_run(st, &changes, err);
}

static bool move(struct store *store, const struct offset_seek *seek, struct error *err)
{
    struct statement *st = statement_of(store, MOVE);
    int64_t changes;

    bind_i64(st, ":pos", seek->pos);
    bind_instant(st, ":now", seek->now_us);
    bind_text(st, ":by", seek->by);
    bind_key(st, &seek->key);
    bind_i64(st, ":lane", seek->lane);
    if (!statement_run(st, &changes, err))
        return false;
    st = statement_of(store, FORGET);
    bind_key(st, &seek->key);
    bind_i64(st, ":lane", seek->lane);
    return statement_run(st, &changes, err);
}

static bool offset_seek(struct store *store, const struct offset_seek *wanted, bool *found,
                        struct error *err)
{
    struct offset_seek moved = *wanted, *seek = &moved;
    struct place old = { 0 };
    bool owns_transaction, ok;
    struct arena arena;

    *found = false;
    arena_init(&arena, 1 << 16);
    ok = store_begin_if_idle(store, &owns_transaction, err) &&
         store_end_if_owned(
             store, owns_transaction,
             store_lock(store, STORE_PRUNE_LOCK, err) && clamp(store, seek, err) &&
                 read_place(store, &arena, seek, &old, found, err) &&
                 (!*found || (move(store, seek, err) && note(store, seek, &old, err))),
             err);
    arena_release(&arena);
    return ok || error_wrap(err, "move lane %" PRId64 " of %.*s", seek->lane,
                            STR_ARG(seek->key.subscription));
}

/* ---- of another database ---- */

static const char TELL[] =
    "UPDATE ing_offset AS t SET stream_pos = @pos, updated_by = '', updated_at = :now {rows}"
    " WHERE t.consumer_group = :group AND t.subscription = :name AND t.lane = @lane"
    " AND t.stream_pos < @pos";

static bool offset_tell(struct store *store, const struct offset_tell *tell, struct error *err)
{
    struct statement *st = statement_of(store, TELL);
    int64_t changes;

    if (tell->count == 0)
        return true;
    bind_key(st, &tell->key);
    bind_instant(st, ":now", tell->now_us);
    for (size_t i = 0; i < tell->count; i++) {
        cell_i64(st, "@pos", tell->places[i].pos);
        cell_i64(st, "@lane", tell->places[i].lane);
    }
    return statement_run(st, &changes, err) ||
           error_wrap(err, "tell how far %.*s is", STR_ARG(tell->key.subscription));
}

/* ---- for people ---- */

static const char STATES[] =
    "SELECT o.lane, o.stream_pos, l.last_pos, {stream-next}, o.lease_owner, o.leased_until,"
    " o.crashes, o.updated_at FROM ing_offset AS o"
    " JOIN ing_stream_lane AS l ON l.lane = o.lane"
    " WHERE o.consumer_group = :group AND o.subscription = :name ORDER BY o.lane";

static bool offset_states(struct store *store, struct arena *arena, const struct offset_key *key,
                          struct offset_state_list *list, struct error *err)
{
    struct statement *st = statement_of(store, STATES);
    struct offset_state *state;

    *list = (struct offset_state_list){ 0 };
    bind_key(st, key);
    while ((state = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        state->lane = rows_i64(&st->rows);
        state->pos = rows_i64(&st->rows);
        state->last_pos = rows_i64(&st->rows);
        state->has_next = !rows_is_null(&st->rows);
        state->next_us = rows_i64(&st->rows);
        state->owner = rows_text(&st->rows, arena);
        state->leased_until_us = rows_i64(&st->rows);
        state->crashes = rows_i64(&st->rows);
        state->updated_us = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err) ||
           error_wrap(err, "list offsets of %.*s", STR_ARG(key->subscription));
}

static const char READERS[] = "SELECT owner, started_at, alive_until, error, error_since"
                              " FROM ing_reader WHERE " OF_KEY " ORDER BY owner{byte-order}";

static bool offset_readers(struct store *store, struct arena *arena, const struct offset_key *key,
                           struct reader_state_list *list, struct error *err)
{
    struct statement *st = statement_of(store, READERS);
    struct reader_state *reader;

    *list = (struct reader_state_list){ 0 };
    bind_key(st, key);
    while ((reader = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        reader->owner = rows_text(&st->rows, arena);
        reader->started_us = rows_i64(&st->rows);
        reader->alive_until_us = rows_i64(&st->rows);
        reader->error = rows_text(&st->rows, arena);
        reader->error_since_us = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err) ||
           error_wrap(err, "list readers of %.*s", STR_ARG(key->subscription));
}

/* Of a statement that returns rows for what it does, not for what they say. */
static bool skip_rows(struct statement *st, struct error *err)
{
    while (rows_next(&st->rows))
        rows_skip(&st->rows, 1);
    return rows_finish(&st->rows, err);
}

static const char HOLD[] = "SELECT lane FROM ing_offset WHERE " OF_KEY " AND lane = :lane{lock}";

static bool offset_hold(struct store *store, const struct offset_key *key, int64_t lane,
                        struct error *err)
{
    struct statement *st = statement_of(store, HOLD);
    int64_t ignored;

    bind_key(st, key);
    bind_i64(st, ":lane", lane);
    return rows_only_i64(&st->rows, &ignored, err) ||
           error_wrap(err, "hold lane %" PRId64 " of %.*s", lane, STR_ARG(key->subscription));
}

static const char HOLD_BRIEFLY[] = "{hold-briefly}";
static const char HOLD_ALL[] =
    "SELECT lane FROM ing_offset WHERE " OF_KEY " ORDER BY lane{lock}"; /* all in one order */

static bool offset_hold_all(struct store *store, const struct offset_key *key, struct error *err)
{
    struct statement *st = statement_of(store, HOLD_BRIEFLY);

    if (!skip_rows(st, err))
        return false;
    st = statement_of(store, HOLD_ALL);
    bind_key(st, key);
    return skip_rows(st, err) ||
           error_wrap(err, "hold the lanes of %.*s", STR_ARG(key->subscription));
}

const struct store_offset_ops SQL_OFFSET = {
    .hold = offset_hold,
    .hold_all = offset_hold_all,
    .attend = offset_attend,
    .claim = offset_claim,
    .save = offset_save,
    .renew = offset_renew,
    .check = offset_check,
    .release = offset_release,
    .leave = offset_leave,
    .seek = offset_seek,
    .tell = offset_tell,
    .states = offset_states,
    .readers = offset_readers,
};
