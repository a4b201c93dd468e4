/* Subscriptions, and the offsets that are made and removed with them. */
#include "adapter/sql/session.h"
#include "core/limits.h"
#include "port/store_prune.h"
#include "port/store_subscription.h"

#define COLUMNS                                                                             \
    "name, kind_code, spec, spec_hash, policy_code, state_code, state_reason, created_at, " \
    "updated_at"

static void read_one(struct rows *rows, struct arena *arena, struct subscription *s)
{
    s->name = rows_text(rows, arena);
    s->kind = (enum subscription_kind)rows_code(rows, &SUBSCRIPTION_KIND_CODES);
    s->spec = rows_text(rows, arena);
    s->spec_hash = rows_text(rows, arena);
    s->policy = (enum subscription_policy)rows_code(rows, &SUBSCRIPTION_POLICY_CODES);
    s->state = (enum subscription_state)rows_code(rows, &SUBSCRIPTION_STATE_CODES);
    s->state_reason = rows_text(rows, arena);
    s->created_us = rows_i64(rows);
    s->updated_us = rows_i64(rows);
}

/* ---- applying ---- */

static const char ADD[] =
    "INSERT INTO ing_subscription (" COLUMNS ") VALUES (:name, :kind, :spec, :hash, :policy,"
    " 'ACTIVE', '', :now, :now) ON CONFLICT DO NOTHING";

static bool add(struct store *store, const struct subscription_apply *apply, bool *added,
                struct error *err)
{
    struct statement *st = statement_of(store, ADD);

    bind_text(st, ":name", apply->name);
    bind_code(st, ":kind", &SUBSCRIPTION_KIND_CODES, (int)apply->kind);
    bind_text(st, ":spec", apply->spec);
    bind_text(st, ":hash", apply->spec_hash);
    bind_code(st, ":policy", &SUBSCRIPTION_POLICY_CODES, (int)apply->policy);
    bind_instant(st, ":now", apply->now_us);
    return statement_changed(st, added, err);
}

/* Epochs begin with the time in microseconds: they go on growing when a subscription of the same
 * name was there before, and whoever still has a lane of that one is refused. */
static const char LANES[] =
    "INSERT INTO ing_offset (consumer_group, subscription, lane, stream_pos, message_id,"
    " publish_time, lag_us, updated_by, updated_at, lease_epoch)"
    " SELECT :group, :name, l.lane, CASE WHEN :latest THEN l.last_pos"
    "  ELSE coalesce({stream-first} - 1, l.last_pos) END, '', :now, 0, :by, :now, :epoch"
    " FROM ing_stream_lane AS l WHERE l.lane < :lanes";

static bool add_lanes(struct store *store, const struct subscription_apply *apply,
                      struct error *err)
{
    struct statement *st = statement_of(store, LANES);
    int64_t added;

    bind_text(st, ":group", SUBSCRIPTION_GROUP);
    bind_text(st, ":name", apply->name);
    bind_bool(st, ":latest", apply->from_latest);
    bind_instant(st, ":now", apply->now_us);
    bind_text(st, ":by", apply->applied_by);
    bind_i64(st, ":epoch", apply->now_us);
    bind_i64(st, ":lanes", apply->kind == SUBSCRIPTION_IMPORT ? 1 : OUTBOX_LANES);
    return statement_run(st, &added, err);
}

static const char KIND[] = "SELECT kind_code FROM ing_subscription WHERE name = :name{lock}";

static bool check_kind(struct store *store, const struct subscription_apply *apply,
                       struct error *err)
{
    struct statement *st = statement_of(store, KIND);
    int kind = (int)apply->kind;

    bind_text(st, ":name", apply->name);
    while (rows_next(&st->rows))
        kind = rows_code(&st->rows, &SUBSCRIPTION_KIND_CODES);
    if (!rows_finish(&st->rows, err))
        return false;
    return kind == (int)apply->kind ||
           error_set(err, ERROR_REQUEST, "subscription.kind", "%.*s is a subscription of kind %.*s",
                     STR_ARG(apply->name), STR_ARG(code_of(&SUBSCRIPTION_KIND_CODES, kind)));
}

static const char CHANGE[] =
    "UPDATE ing_subscription SET spec = :spec, spec_hash = :hash, policy_code = :policy,"
    " updated_at = :now WHERE name = :name AND (spec_hash <> :hash OR policy_code <> :policy)";

static bool change(struct store *store, const struct subscription_apply *apply, bool *changed,
                   struct error *err)
{
    struct statement *st = statement_of(store, CHANGE);

    bind_text(st, ":spec", apply->spec);
    bind_text(st, ":hash", apply->spec_hash);
    bind_code(st, ":policy", &SUBSCRIPTION_POLICY_CODES, (int)apply->policy);
    bind_instant(st, ":now", apply->now_us);
    bind_text(st, ":name", apply->name);
    return statement_changed(st, changed, err);
}

static bool apply_within(struct store *store, const struct subscription_apply *apply,
                         struct subscription_applied *applied, struct error *err)
{
    *applied = (struct subscription_applied){ 0 };
    if (!store_lock(store, STORE_PRUNE_LOCK, err) || !add(store, apply, &applied->is_new, err))
        return false;
    if (applied->is_new)
        return add_lanes(store, apply, err);
    return check_kind(store, apply, err) && change(store, apply, &applied->is_changed, err);
}

static bool subscription_apply(struct store *store, const struct subscription_apply *apply,
                               struct subscription_applied *applied, struct error *err)
{
    bool owns_transaction, ok;

    ok = store_begin_if_idle(store, &owns_transaction, err) &&
         store_end_if_owned(store, owns_transaction, apply_within(store, apply, applied, err), err);
    return ok || error_wrap(err, "apply subscription %.*s", STR_ARG(apply->name));
}

/* ---- reading ---- */

static const char LIST[] = "SELECT " COLUMNS " FROM ing_subscription ORDER BY name{byte-order}";

static bool subscription_list(struct store *store, struct arena *arena,
                              struct subscription_list *list, struct error *err)
{
    struct statement *st = statement_of(store, LIST);
    struct subscription *s;

    *list = (struct subscription_list){ 0 };
    while ((s = ROWS_NEXT(&st->rows, arena, list)) != NULL)
        read_one(&st->rows, arena, s);
    return rows_finish(&st->rows, err) || error_wrap(err, "list subscriptions");
}

static const char FIND[] = "SELECT " COLUMNS " FROM ing_subscription WHERE name = :name";

static bool subscription_find(struct store *store, struct arena *arena, struct str name,
                              struct subscription *subscription, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, FIND);

    *subscription = (struct subscription){ 0 };
    *found = false;
    bind_text(st, ":name", name);
    while (rows_next(&st->rows)) {
        read_one(&st->rows, arena, subscription);
        *found = true;
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "find subscription %.*s", STR_ARG(name));
}

/* ---- changing ---- */

static const char SET_STATE[] =
    "UPDATE ing_subscription SET state_code = :state, state_reason = :reason, updated_at = :now"
    " WHERE name = :name AND state_code <> :state";

static bool subscription_set_state(struct store *store, const struct subscription_change *change,
                                   bool *changed, struct error *err)
{
    struct statement *st = statement_of(store, SET_STATE);

    bind_code(st, ":state", &SUBSCRIPTION_STATE_CODES, (int)change->state);
    bind_text(st, ":reason", change->reason);
    bind_instant(st, ":now", change->now_us);
    bind_text(st, ":name", change->name);
    return statement_changed(st, changed, err) ||
           error_wrap(err, "set the state of subscription %.*s", STR_ARG(change->name));
}

static const char REMOVE[] = "DELETE FROM ing_subscription WHERE name = :name";
/* First: whoever saves has locked its row of these. */
static const char REMOVE_OFFSETS[] =
    "DELETE FROM ing_offset WHERE consumer_group = :group AND subscription = :name";
static const char REMOVE_PARKED[] =
    "DELETE FROM ing_parked WHERE consumer_group = :group AND subscription = :name";
static const char REMOVE_READERS[] =
    "DELETE FROM ing_reader WHERE consumer_group = :group AND subscription = :name";

static bool remove_rows(struct store *store, const char *sql, struct str name, struct error *err)
{
    struct statement *st = statement_of(store, sql);
    int64_t removed;

    bind_text(st, ":group", SUBSCRIPTION_GROUP);
    bind_text(st, ":name", name);
    return statement_run(st, &removed, err);
}

static bool remove_within(struct store *store, struct str name, bool *removed, struct error *err)
{
    struct statement *st = statement_of(store, REMOVE);

    bind_text(st, ":name", name);
    return statement_changed(st, removed, err) && remove_rows(store, REMOVE_OFFSETS, name, err) &&
           remove_rows(store, REMOVE_PARKED, name, err) &&
           remove_rows(store, REMOVE_READERS, name, err);
}

static bool subscription_remove(struct store *store, struct str name, bool *removed,
                                struct error *err)
{
    bool owns_transaction, ok;

    *removed = false;
    ok = store_begin_if_idle(store, &owns_transaction, err) &&
         store_end_if_owned(store, owns_transaction, remove_within(store, name, removed, err), err);
    return ok || error_wrap(err, "remove subscription %.*s", STR_ARG(name));
}

const struct store_subscription_ops SQL_SUBSCRIPTION = {
    .apply = subscription_apply,
    .list = subscription_list,
    .find = subscription_find,
    .set_state = subscription_set_state,
    .remove = subscription_remove,
};
