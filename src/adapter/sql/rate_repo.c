/* Rate gates, quotas and slots. */
#include "adapter/sql/read.h"
#include "adapter/sql/session.h"
#include "port/store_rate.h"

static bool read_quota(struct rows *rows, struct quota_count *count, struct error *err)
{
    *count = (struct quota_count){ 0 };
    while (rows_next(rows)) {
        const struct str word = rows_view(rows);
        int rank = 0;

        while (rank < QUOTA_CLASSES && !str_eq(word, quota_class_word((enum quota_class)rank)))
            rank++;
        if (rank == QUOTA_CLASSES) {
            rows->bad_value = "class_code";
            rank = 0;
        }
        count->used[rank] = rows_i64(rows);
        count->booked[rank] = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

static const char CLOCK[] = "SELECT {clock}";

/* The clocks of hosts differ, so all processes use the server's. Without a server they are all on
 * one host, and share the caller's clock. */
static bool rate_clock(struct store *store, int64_t local_us, int64_t *now_us, struct error *err)
{
    struct statement *st = statement_of(store, CLOCK);

    *now_us = local_us;
    if (rows_next(&st->rows) && !rows_is_null(&st->rows))
        *now_us = rows_i64(&st->rows);
    return rows_finish(&st->rows, err);
}

#define SELECT_GATE "SELECT " GATE_COLUMNS " FROM ing_rate_gate WHERE rate_key = :key"
static const char PEEK[] = SELECT_GATE;
static const char LOAD[] = SELECT_GATE "{lock}";

static bool load_gate(struct store *store, const char *sql, struct str key, struct rate_gate *gate,
                      struct error *err)
{
    struct statement *st = statement_of(store, sql);

    *gate = (struct rate_gate){ .parked_until_us = INT64_MIN };
    bind_text(st, ":key", key);
    if (rows_next(&st->rows))
        read_gate(&st->rows, gate);
    return rows_finish(&st->rows, err) || error_wrap(err, "load rate gate %.*s", STR_ARG(key));
}

static bool rate_load(struct store *store, struct str key, struct rate_gate *gate,
                      struct error *err)
{
    return load_gate(store, LOAD, key, gate, err);
}

static bool rate_peek(struct store *store, struct str key, struct rate_gate *gate,
                      struct error *err)
{
    return load_gate(store, PEEK, key, gate, err);
}

static const char MAKE[] =
    "INSERT INTO ing_rate_gate (rate_key, tokens, carry, refilled_at, rate, provider_rate,"
    " raised_at, demoted_at, cooldown_until, line_until, started_at, parked_until,"
    " has_credential, refused_at, refused_status, version, updated_at) VALUES (:key, :tokens, "
    ":carry, :refilled, :rate, :provider_rate, :raised,"
    " :demoted, :cooldown_until, :line_until, :started, :parked_until, :has_credential,"
    " :refused, :refused_status, 1, :now)"
    " ON CONFLICT DO NOTHING";

static const char SAVE[] =
    "UPDATE ing_rate_gate SET tokens = :tokens, carry = :carry, refilled_at = :refilled,"
    " rate = :rate, provider_rate = :provider_rate, raised_at = :raised, demoted_at = :demoted,"
    " cooldown_until = :cooldown_until, line_until = :line_until, started_at = :started,"
    " parked_until = :parked_until, has_credential = :has_credential, refused_at = :refused,"
    " refused_status = :refused_status, version = version + 1, updated_at = :now"
    " WHERE rate_key = :key AND version = :version";

static bool rate_save(struct store *store, struct str key, const struct rate_gate *gate,
                      int64_t now_us, bool *saved, struct error *err)
{
    const bool is_new = gate->version == 0;
    struct statement *st = statement_of(store, is_new ? MAKE : SAVE);

    bind_text(st, ":key", key);
    if (!is_new)
        bind_i64(st, ":version", gate->version);
    bind_i64(st, ":tokens", gate->bucket.tokens);
    bind_i64(st, ":carry", gate->bucket.carry);
    bind_instant(st, ":refilled", gate->bucket.refilled_at_us);
    bind_i64(st, ":rate", gate->bucket.rate);
    bind_i64(st, ":provider_rate", gate->bucket.provider_rate);
    bind_instant(st, ":raised", gate->bucket.raised_at_us);
    bind_instant(st, ":demoted", gate->bucket.demoted_at_us);
    bind_instant(st, ":cooldown_until", gate->bucket.cooldown_until_us);
    bind_instant(st, ":line_until", gate->bucket.line_until_us);
    bind_instant(st, ":started", gate->bucket.started_at_us);
    bind_instant(st, ":parked_until", gate->parked_until_us);
    bind_bool(st, ":has_credential", gate->has_credential);
    bind_instant_opt(st, ":refused", gate->refused_us != 0, gate->refused_us);
    bind_i64(st, ":refused_status", gate->refused_status);
    bind_instant(st, ":now", now_us);
    return statement_changed(st, saved, err) ||
           error_wrap(err, "save rate gate %.*s", STR_ARG(key));
}

static void bind_quota(struct statement *st, const struct quota_key *key)
{
    bind_text(st, ":key", key->rate_key);
    bind_text(st, ":window", quota_window_word(key->window));
    bind_instant(st, ":from", key->from_us);
}

static const char QUOTA_LOAD[] =
    "SELECT class_code, used, booked FROM ing_rate_quota"
    " WHERE rate_key = :key AND window_code = :window AND window_from = :from";

static bool quota_load(struct store *store, const struct quota_key *key, struct quota_count *count,
                       struct error *err)
{
    struct statement *st = statement_of(store, QUOTA_LOAD);

    bind_quota(st, key);
    return read_quota(&st->rows, count, err) ||
           error_wrap(err, "load quota %.*s", STR_ARG(key->rate_key));
}

static const char QUOTA_ADD[] =
    "INSERT INTO ing_rate_quota AS t (rate_key, window_code, window_from, class_code, used, booked)"
    " VALUES (:key, :window, :from, :class, {greatest}(:used, 0), {greatest}(:booked, 0))"
    " ON CONFLICT (rate_key, window_code, window_from, class_code) DO UPDATE"
    " SET used = {greatest}(t.used + :used, 0), booked = {greatest}(t.booked + :booked, 0)";

static bool quota_add(struct store *store, const struct quota_key *key, enum quota_class rank,
                      int64_t used, int64_t booked, struct error *err)
{
    struct statement *st = statement_of(store, QUOTA_ADD);

    bind_quota(st, key);
    bind_text(st, ":class", quota_class_word(rank));
    bind_i64(st, ":used", used);
    bind_i64(st, ":booked", booked);
    return statement_run(st, NULL, err) ||
           error_wrap(err, "update quota %.*s", STR_ARG(key->rate_key));
}

static const char SLOT_FREE[] =
    "DELETE FROM ing_rate_permit WHERE rate_key = :key AND expires_at <= :now";

static const char SLOT_TAKE[] =
    "INSERT INTO ing_rate_permit (rate_key, owner, expires_at)"
    " SELECT :key, :owner, :until"
    "  WHERE (SELECT count(*) FROM ing_rate_permit WHERE rate_key = :key) < :max RETURNING id";

/* The key is locked first, so that no other session takes a slot after this one has counted. */
static bool slot_take(struct store *store, const struct rate_slot *slot, int64_t *id,
                      struct error *err)
{
    struct statement *st;

    *id = 0;
    if (!store_lock(store, slot->rate_key, err))
        return false;
    st = statement_of(store, SLOT_FREE);
    bind_text(st, ":key", slot->rate_key);
    bind_instant(st, ":now", slot->now_us);
    if (!statement_run(st, NULL, err))
        return false;
    st = statement_of(store, SLOT_TAKE);
    bind_text(st, ":key", slot->rate_key);
    bind_text(st, ":owner", slot->owner);
    bind_instant(st, ":until", slot->until_us);
    bind_i64(st, ":max", slot->max);
    return rows_only_i64(&st->rows, id, err) ||
           error_wrap(err, "take a slot of %.*s", STR_ARG(slot->rate_key));
}

static const char SLOT_COUNT[] = "SELECT count(*) FROM ing_rate_permit WHERE rate_key = :key";

static bool slot_count(struct store *store, struct str key, int64_t *taken, struct error *err)
{
    struct statement *st = statement_of(store, SLOT_COUNT);

    bind_text(st, ":key", key);
    return rows_only_i64(&st->rows, taken, err) ||
           error_wrap(err, "count the slots of %.*s", STR_ARG(key));
}

static const char SLOT_RETURN[] = "DELETE FROM ing_rate_permit WHERE id = :id";

static bool slot_return(struct store *store, int64_t id, struct error *err)
{
    struct statement *st = statement_of(store, SLOT_RETURN);

    bind_i64(st, ":id", id);
    return statement_run(st, NULL, err) || error_wrap(err, "return a slot");
}

/* Without its owner, whose end would free it. */
static const char KEEP_SLOT[] =
    "UPDATE ing_rate_permit SET owner = '', expires_at = :until WHERE id = :id";

static bool slot_keep(struct store *store, int64_t id, int64_t until_us, struct error *err)
{
    struct statement *st = statement_of(store, KEEP_SLOT);

    bind_i64(st, ":id", id);
    bind_instant(st, ":until", until_us);
    return statement_run(st, NULL, err) || error_wrap(err, "keep a slot");
}

const struct store_rate_ops SQL_RATE = {
    .clock = rate_clock,
    .load = rate_load,
    .peek = rate_peek,
    .save = rate_save,
    .quota_load = quota_load,
    .quota_add = quota_add,
    .slot_take = slot_take,
    .slot_count = slot_count,
    .slot_return = slot_return,
    .slot_keep = slot_keep,
};
