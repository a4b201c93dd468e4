#include <inttypes.h>

#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"
#include "port/store_signal.h"

/* All of them arrays. */
enum {
    ADD_SOURCE = 1,
    ADD_ENDPOINT,
    ADD_PROVIDER_ID,
    ADD_REASON,
    ADD_CREATED_BY,
    ADD_CREATED,
    ADD_END,
};
/* In the order of the keys: two who add the same signals meet one by one, not crosswise. */
static const char ADD[] =
    "INSERT INTO ing_signal (provenance_code, endpoint_name, provider_id, reason, created_by,"
    " created_at)"
    " SELECT r.* FROM unnest($1, $2, $3, $4, $5, $6)"
    "     AS r (source, endpoint, provider_id, reason, created_by, created)"
    "  ORDER BY source, endpoint, provider_id"
    " ON CONFLICT DO NOTHING";

static bool signal_add(struct store *store, const struct signal *signals, size_t count,
                       int64_t *added, struct error *err)
{
    struct postgres_store *postgres = postgres_store_of(store);
    struct array arrays[ADD_END];
    struct query q;

    for (int i = 1; i < ADD_END; i++)
        array_init(&arrays[i], &postgres->scratch, i == ADD_CREATED ? ARRAY_TIME : ARRAY_TEXT);
    for (size_t i = 0; i < count; i++) {
        array_add_text(&arrays[ADD_SOURCE], signals[i].source);
        array_add_text(&arrays[ADD_ENDPOINT], signals[i].endpoint);
        array_add_text(&arrays[ADD_PROVIDER_ID], signals[i].provider_id);
        array_add_text(&arrays[ADD_REASON], signals[i].reason);
        array_add_text(&arrays[ADD_CREATED_BY], signals[i].created_by);
        array_add_i64(&arrays[ADD_CREATED], signals[i].created_us);
    }
    query_init(&q, postgres, ADD);
    for (int i = 1; i < ADD_END; i++)
        set_array(&q, i, &arrays[i]);
    return query_run(&q, added, err) || error_wrap(err, "add %zu signals", count);
}

enum { LIST_SOURCE = 1, LIST_ENDPOINT, LIST_REASON, LIST_AFTER, LIST_LIMIT };
static const char LIST[] =
    "SELECT " SIGNAL_COLUMNS " FROM ing_signal"
    " WHERE consumed_at IS NULL AND $1 IN ('', provenance_code) AND $2 IN ('', endpoint_name)"
    "   AND $3 IN ('', reason) AND id > $4 ORDER BY id LIMIT $5";

static bool signal_list(struct store *store, struct arena *arena,
                        const struct signal_filter *filter, struct signal_list *list,
                        struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), LIST);
    set_text(&q, LIST_SOURCE, filter->source);
    set_text(&q, LIST_ENDPOINT, filter->endpoint);
    set_text(&q, LIST_REASON, filter->reason);
    set_i64(&q, LIST_AFTER, filter->after_id);
    set_i64(&q, LIST_LIMIT, filter->limit);
    return read_signals(&q.rows, arena, list, err) || error_wrap(err, "list signals");
}

enum { CONSUME_PLAN = 1, CONSUME_NOW, CONSUME_IDS };
static const char CONSUME[] = "UPDATE ing_signal SET plan_id = $1, consumed_at = $2"
                              " WHERE id = ANY ($3) AND consumed_at IS NULL";

static bool signal_consume(struct store *store, const int64_t *ids, size_t count, int64_t plan_id,
                           int64_t now_us, int64_t *consumed, struct error *err)
{
    struct postgres_store *postgres = postgres_store_of(store);
    struct array array;
    struct query q;

    array_init(&array, &postgres->scratch, ARRAY_I64);
    for (size_t i = 0; i < count; i++)
        array_add_i64(&array, ids[i]);
    query_init(&q, postgres, CONSUME);
    set_i64(&q, CONSUME_PLAN, plan_id);
    set_time(&q, CONSUME_NOW, now_us);
    set_array(&q, CONSUME_IDS, &array);
    return query_run(&q, consumed, err) || error_wrap(err, "consume %zu signals", count);
}

enum { CLOSE_SOURCE = 1, CLOSE_ENDPOINT, CLOSE_PROVIDER_ID, CLOSE_REASON, CLOSE_NOW, CLOSE_BY };
static const char CLOSE[] =
    "UPDATE ing_signal SET consumed_at = $5, closed_by = $6 WHERE provenance_code = $1"
    "   AND endpoint_name = $2 AND provider_id = $3 AND reason = $4 AND consumed_at IS NULL";

static bool signal_close(struct store *store, const struct signal *signal, struct str by,
                         int64_t now_us, bool *closed, struct error *err)
{
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), CLOSE);
    set_text(&q, CLOSE_SOURCE, signal->source);
    set_text(&q, CLOSE_ENDPOINT, signal->endpoint);
    set_text(&q, CLOSE_PROVIDER_ID, signal->provider_id);
    set_text(&q, CLOSE_REASON, signal->reason);
    set_time(&q, CLOSE_NOW, now_us);
    set_text(&q, CLOSE_BY, by);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "close the signal for %.*s", STR_ARG(signal->provider_id));
    *closed = changes == 1;
    return true;
}

enum { DROP_ID = 1, DROP_NOW, DROP_BY };
static const char DROP[] = "UPDATE ing_signal SET consumed_at = $2, closed_by = $3"
                           " WHERE id = $1 AND consumed_at IS NULL";

static bool signal_drop(struct store *store, int64_t id, struct str by, int64_t now_us,
                        bool *dropped, struct error *err)
{
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), DROP);
    set_i64(&q, DROP_ID, id);
    set_time(&q, DROP_NOW, now_us);
    set_text(&q, DROP_BY, by);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "drop signal %" PRId64, id);
    *dropped = changes == 1;
    return true;
}

enum { REPEAT_PLAN = 1, REPEAT_NOW, REPEAT_IDS };
static const char REPEAT[] =
    "INSERT INTO ing_signal (provenance_code, endpoint_name, provider_id, reason, created_by,"
    " created_at)"
    " SELECT provenance_code, endpoint_name, provider_id, reason, created_by, $2"
    "   FROM ing_signal WHERE plan_id = $1 AND provider_id = ANY ($3)"
    "  ORDER BY provenance_code, endpoint_name, provider_id"
    " ON CONFLICT DO NOTHING";

static bool signal_repeat(struct store *store, int64_t plan_id, const struct str *provider_ids,
                          size_t count, int64_t now_us, int64_t *added, struct error *err)
{
    struct postgres_store *postgres = postgres_store_of(store);
    struct array array;
    struct query q;

    array_init(&array, &postgres->scratch, ARRAY_TEXT);
    for (size_t i = 0; i < count; i++)
        array_add_text(&array, provider_ids[i]);
    query_init(&q, postgres, REPEAT);
    set_i64(&q, REPEAT_PLAN, plan_id);
    set_time(&q, REPEAT_NOW, now_us);
    set_array(&q, REPEAT_IDS, &array);
    return query_run(&q, added, err) ||
           error_wrap(err, "repeat the signals of plan %" PRId64, plan_id);
}

enum {
    RESLICE_TASK = 1,
    RESLICE_SLICE,
    RESLICE_REASON,
    RESLICE_REMAINING, /* two places */
    RESLICE_DETAIL = RESLICE_REMAINING + 2,
    RESLICE_CREATED,
};
static const char RESLICE_ADD[] =
    "INSERT INTO ing_reslice_request (task_id, slice_id, reason_code, remaining_from,"
    " remaining_to, detail, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)"
    " ON CONFLICT (task_id) DO NOTHING";

static bool reslice_add(struct store *store, const struct reslice_ticket *ticket, bool *added,
                        struct error *err)
{
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), RESLICE_ADD);
    set_i64(&q, RESLICE_TASK, ticket->task_id);
    set_i64(&q, RESLICE_SLICE, ticket->slice_id);
    set_code(&q, RESLICE_REASON, &RESLICE_REASON_CODES, (int)ticket->reason);
    set_window(&q, RESLICE_REMAINING, ticket->remaining);
    set_json(&q, RESLICE_DETAIL, ticket->detail);
    set_time(&q, RESLICE_CREATED, ticket->created_us);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "ask to cut slice %" PRId64 " again", ticket->slice_id);
    *added = changes == 1;
    return true;
}

enum { CLAIM_OWNER = 1, CLAIM_NOW, CLAIM_LIMIT };
static const char RESLICE_CLAIM[] =
    "UPDATE ing_reslice_request SET claimed_by = $1, claimed_at = $2"
    " WHERE id IN (SELECT id FROM ing_reslice_request WHERE claimed_at IS NULL"
    "               ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED)"
    " RETURNING " TICKET_COLUMNS;

static bool reslice_claim(struct store *store, struct arena *arena, struct str owner,
                          int64_t now_us, int64_t limit, struct reslice_ticket_list *list,
                          struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), RESLICE_CLAIM);
    set_text(&q, CLAIM_OWNER, owner);
    set_time(&q, CLAIM_NOW, now_us);
    set_i64(&q, CLAIM_LIMIT, limit);
    return read_tickets(&q.rows, arena, list, err) || error_wrap(err, "claim re-slice requests");
}

const struct store_signal_ops POSTGRES_SIGNAL = {
    .add = signal_add,
    .list = signal_list,
    .consume = signal_consume,
    .close = signal_close,
    .drop = signal_drop,
    .repeat = signal_repeat,
    .reslice_add = reslice_add,
    .reslice_claim = reslice_claim,
};
