#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"
#include "port/store_rate.h"

static const char CLOCK[] = "SELECT clock_timestamp()";

static bool rate_clock(struct store *store, int64_t local_us, int64_t *now_us, struct error *err)
{
    struct query q;

    (void)local_us; /* hosts differ; the server does not differ from itself */
    query_init(&q, postgres_store_of(store), CLOCK);
    return rows_only_i64(&q.rows, now_us, err);
}

enum { LOAD_KEY = 1 };
#define SELECT_GATE "SELECT " GATE_COLUMNS " FROM ing_rate_gate WHERE rate_key = $1"
static const char PEEK[] = SELECT_GATE;
static const char LOAD[] = SELECT_GATE " FOR UPDATE";

static bool load_gate(struct store *store, const char *sql, struct str key, struct rate_gate *gate,
                      struct error *err)
{
    struct query q;

    *gate = (struct rate_gate){ .parked_until_us = INT64_MIN };
    query_init(&q, postgres_store_of(store), sql);
    set_text(&q, LOAD_KEY, key);
    if (rows_next(&q.rows))
        read_gate(&q.rows, gate);
    return rows_finish(&q.rows, err) || error_wrap(err, "load rate %.*s", STR_ARG(key));
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

enum {
    SAVE_KEY = 1,
    SAVE_TOKENS,
    SAVE_CARRY,
    SAVE_REFILLED,
    SAVE_RATE,
    SAVE_PROVIDER_RATE,
    SAVE_RAISED,
    SAVE_DEMOTED,
    SAVE_COOLDOWN_UNTIL,
    SAVE_LINE_UNTIL,
    SAVE_STARTED,
    SAVE_PARKED_UNTIL,
    SAVE_NOW,
    SAVE_VERSION, /* not for a new one */
};
static const char MAKE[] =
    "INSERT INTO ing_rate_gate (rate_key, tokens, carry, refilled_at, rate, provider_rate,"
    " raised_at, demoted_at, cooldown_until, line_until, started_at, parked_until, updated_at,"
    " version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 1)"
    " ON CONFLICT DO NOTHING";

static const char SAVE[] =
    "UPDATE ing_rate_gate SET tokens = $2, carry = $3, refilled_at = $4, rate = $5,"
    " provider_rate = $6, raised_at = $7, demoted_at = $8, cooldown_until = $9,"
    " line_until = $10, started_at = $11, parked_until = $12, updated_at = $13,"
    " version = version + 1 WHERE rate_key = $1 AND version = $14";

static bool rate_save(struct store *store, struct str key, const struct rate_gate *gate,
                      int64_t now_us, bool *saved, struct error *err)
{
    const bool is_new = gate->version == 0;
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), is_new ? MAKE : SAVE);
    set_text(&q, SAVE_KEY, key);
    set_i64(&q, SAVE_TOKENS, gate->bucket.tokens);
    set_i64(&q, SAVE_CARRY, gate->bucket.carry);
    set_time(&q, SAVE_REFILLED, gate->bucket.refilled_at_us);
    set_i64(&q, SAVE_RATE, gate->bucket.rate);
    set_i64(&q, SAVE_PROVIDER_RATE, gate->bucket.provider_rate);
    set_time(&q, SAVE_RAISED, gate->bucket.raised_at_us);
    set_time(&q, SAVE_DEMOTED, gate->bucket.demoted_at_us);
    set_time(&q, SAVE_COOLDOWN_UNTIL, gate->bucket.cooldown_until_us);
    set_time(&q, SAVE_LINE_UNTIL, gate->bucket.line_until_us);
    set_time(&q, SAVE_STARTED, gate->bucket.started_at_us);
    set_time(&q, SAVE_PARKED_UNTIL, gate->parked_until_us);
    set_time(&q, SAVE_NOW, now_us);
    if (!is_new)
        set_i64(&q, SAVE_VERSION, gate->version);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "save rate %.*s", STR_ARG(key));
    *saved = changes == 1;
    return true;
}

enum { PLACE_KEY = 1, PLACE_WINDOW, PLACE_FROM, PLACE_CLASS, PLACE_USED, PLACE_BOOKED };

static void set_quota(struct query *q, const struct quota_key *key)
{
    set_text(q, PLACE_KEY, key->rate_key);
    set_text(q, PLACE_WINDOW, quota_window_word(key->window));
    set_time(q, PLACE_FROM, key->from_us);
}

static const char QUOTA_LOAD[] = "SELECT class_code, used, booked FROM ing_rate_quota"
                                 " WHERE rate_key = $1 AND window_code = $2 AND window_from = $3";

static bool quota_load(struct store *store, const struct quota_key *key, struct quota_count *count,
                       struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), QUOTA_LOAD);
    set_quota(&q, key);
    return read_quota(&q.rows, count, err) ||
           error_wrap(err, "load quota %.*s", STR_ARG(key->rate_key));
}

static const char QUOTA_ADD[] =
    "INSERT INTO ing_rate_quota AS t (rate_key, window_code, window_from, class_code, used,"
    " booked) VALUES ($1, $2, $3, $4, greatest($5, 0), greatest($6, 0))"
    " ON CONFLICT (rate_key, window_code, window_from, class_code) DO UPDATE"
    " SET used = greatest(t.used + $5, 0), booked = greatest(t.booked + $6, 0)";

static bool quota_add(struct store *store, const struct quota_key *key, enum quota_class rank,
                      int64_t used, int64_t booked, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), QUOTA_ADD);
    set_quota(&q, key);
    set_text(&q, PLACE_CLASS, quota_class_word(rank));
    set_i64(&q, PLACE_USED, used);
    set_i64(&q, PLACE_BOOKED, booked);
    return query_run(&q, NULL, err) || error_wrap(err, "count quota %.*s", STR_ARG(key->rate_key));
}

enum { FREE_KEY = 1, FREE_NOW };
static const char SLOT_FREE[] =
    "DELETE FROM ing_rate_permit WHERE rate_key = $1 AND expires_at <= $2";

enum { TAKE_KEY = 1, TAKE_OWNER, TAKE_UNTIL, TAKE_MAX };
static const char SLOT_TAKE[] =
    "INSERT INTO ing_rate_permit (rate_key, owner, expires_at) SELECT $1, $2, $3"
    " WHERE (SELECT count(*) FROM ing_rate_permit WHERE rate_key = $1) < $4 RETURNING id";

/* Counting and taking must not interleave with another's: the key is locked first. */
static bool slot_take(struct store *store, const struct rate_slot *slot, int64_t *id,
                      struct error *err)
{
    struct query q;

    *id = 0;
    if (!store_lock(store, slot->rate_key, err))
        return false;
    query_init(&q, postgres_store_of(store), SLOT_FREE);
    set_text(&q, FREE_KEY, slot->rate_key);
    set_time(&q, FREE_NOW, slot->now_us);
    if (!query_run(&q, NULL, err))
        return false;
    query_init(&q, postgres_store_of(store), SLOT_TAKE);
    set_text(&q, TAKE_KEY, slot->rate_key);
    set_text(&q, TAKE_OWNER, slot->owner);
    set_time(&q, TAKE_UNTIL, slot->until_us);
    set_i64(&q, TAKE_MAX, slot->max);
    return rows_only_i64(&q.rows, id, err) ||
           error_wrap(err, "slot of %.*s", STR_ARG(slot->rate_key));
}

enum { RETURN_ID = 1 };
static const char SLOT_RETURN[] = "DELETE FROM ing_rate_permit WHERE id = $1";

static bool slot_return(struct store *store, int64_t id, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), SLOT_RETURN);
    set_i64(&q, RETURN_ID, id);
    return query_run(&q, NULL, err) || error_wrap(err, "return a slot");
}

const struct store_rate_ops POSTGRES_RATE = {
    .clock = rate_clock,
    .load = rate_load,
    .peek = rate_peek,
    .save = rate_save,
    .quota_load = quota_load,
    .quota_add = quota_add,
    .slot_take = slot_take,
    .slot_return = slot_return,
};
