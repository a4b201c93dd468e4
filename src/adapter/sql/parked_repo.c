/* Keys that wait, and events that were given up. */
#include "adapter/sql/event_rows.h"
#include "adapter/sql/record_names.h"
#include "adapter/sql/session.h"
#include "port/store_parked.h"

#define OF_KEY "consumer_group = :group AND subscription = :name"
#define OF_AGGREGATE OF_KEY " AND aggregate_type = :type AND aggregate_id = :id"

static void bind_key(struct statement *st, const struct offset_key *key)
{
    bind_text(st, ":group", key->group);
    bind_text(st, ":name", key->subscription);
}

static void bind_aggregate(struct statement *st, const struct offset_key *key,
                           const struct parked *parked)
{
    bind_key(st, key);
    bind_text(st, ":type", parked->aggregate_type);
    bind_text(st, ":id", parked->aggregate_id);
}

/* ---- reading ---- */

static const char LIST[] =
    "SELECT aggregate_type, aggregate_id, coalesce(record_id, 0), lane, head_version, seen_version,"
    " attempts_begun, attempts_ended, policy_code, next_retry_at, last_error, parked_at"
    " FROM ing_parked WHERE " OF_KEY " AND :id IN ('', aggregate_id)"
    " ORDER BY lane, aggregate_type, aggregate_id LIMIT :limit";

static bool parked_list(struct store *store, struct arena *arena, const struct parked_query *query,
                        struct parked_list *list, struct error *err)
{
    struct statement *st = statement_of(store, LIST);
    struct rows *rows = &st->rows;
    struct parked *parked;

    *list = (struct parked_list){ 0 };
    bind_key(st, &query->key);
    bind_text(st, ":id", query->aggregate_id);
    bind_i64(st, ":limit", query->limit);
    while ((parked = ROWS_NEXT(rows, arena, list)) != NULL) {
        parked->aggregate_type = rows_text(rows, arena);
        parked->aggregate_id = rows_text(rows, arena);
        parked->record_id = rows_i64(rows);
        parked->lane = rows_i64(rows);
        parked->head_version = rows_i64(rows);
        parked->seen_version = rows_i64(rows);
        parked->attempts_begun = rows_i64(rows);
        parked->attempts_ended = rows_i64(rows);
        parked->policy = (enum subscription_policy)rows_code(rows, &SUBSCRIPTION_POLICY_CODES);
        parked->next_retry_us = rows_i64(rows);
        parked->last_error = rows_text(rows, arena);
        parked->parked_us = rows_i64(rows);
    }
    return rows_finish(rows, err) ||
           error_wrap(err, "list parked keys of %.*s", STR_ARG(query->key.subscription));
}

static const char COUNT[] = "SELECT count(*) FROM ing_parked WHERE " OF_KEY;

static bool parked_count(struct store *store, const struct offset_key *key, int64_t *count,
                         struct error *err)
{
    struct statement *st = statement_of(store, COUNT);

    *count = 0;
    bind_key(st, key);
    return rows_only_i64(&st->rows, count, err) ||
           error_wrap(err, "count parked keys of %.*s", STR_ARG(key->subscription));
}

static const char BEHIND[] =
    "SELECT coalesce(max(seen_version - head_version + 1), 0) FROM ing_parked WHERE " OF_KEY;

static bool parked_behind(struct store *store, const struct offset_key *key, int64_t *versions,
                          struct error *err)
{
    struct statement *st = statement_of(store, BEHIND);

    *versions = 0;
    bind_key(st, key);
    return rows_only_i64(&st->rows, versions, err) ||
           error_wrap(err, "see how far the parked keys of %.*s are behind",
                      STR_ARG(key->subscription));
}

#define EVENT_SELECT                                                  \
    "SELECT o.body, coalesce(o.record_id, 0), o.lane, " EVENT_COLUMNS \
    " FROM ing_outbox AS o " EVENT_JOINS
#define VERSIONS " AND o.version BETWEEN :from AND :to ORDER BY o.version LIMIT :limit"

static const char EVENTS[] = EVENT_SELECT " WHERE o.record_id = :record" VERSIONS;
static const char FOREIGN_EVENTS[] = EVENT_SELECT
    " WHERE o.record_id IS NULL AND o.aggregate_id = :id AND o.aggregate_type = :type" VERSIONS;

static struct statement *events_statement(struct store *store, const struct parked *parked)
{
    struct statement *st;

    if (parked->record_id != 0) {
        st = statement_of(store, EVENTS);
        bind_i64(st, ":record", parked->record_id);
        return st;
    }
    st = statement_of(store, FOREIGN_EVENTS);
    bind_text(st, ":id", parked->aggregate_id);
    bind_text(st, ":type", parked->aggregate_type);
    return st;
}

static bool parked_events(struct store *store, struct arena *arena,
                          const struct parked_events *events, struct stream_event_list *list,
                          struct error *err)
{
    struct statement *st = events_statement(store, events->parked);
    struct stream_event *event;

    *list = (struct stream_event_list){ 0 };
    bind_i64(st, ":from", events->from_version);
    bind_i64(st, ":to", events->to_version);
    bind_i64(st, ":limit", events->limit);
    while ((event = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        event->stored.event.body = rows_text(&st->rows, arena);
        event->record_id = rows_i64(&st->rows);
        event->lane = rows_i64(&st->rows);
        event_rows_read(&st->rows, arena, &event->stored);
    }
    return rows_finish(&st->rows, err) ||
           error_wrap(err, "read events of %.*s", STR_ARG(events->parked->aggregate_id));
}

/* ---- what the owner of the lane does ---- */

static const char PUT[] =
    "INSERT INTO ing_parked (consumer_group, subscription, aggregate_type, aggregate_id, record_id,"
    " lane, head_version, seen_version, attempts_begun, attempts_ended, policy_code, next_retry_at,"
    " last_error, parked_at) VALUES (:group, :name, :type, :id, :record, :lane, :head, :seen,"
    " :begun, :ended, :policy, :next, :error, :now)"
    " ON CONFLICT (consumer_group, subscription, aggregate_type, aggregate_id) DO UPDATE SET"
    " seen_version = {greatest}(ing_parked.seen_version, excluded.seen_version),"
    " head_version = CASE WHEN excluded.head_version < ing_parked.head_version"
    "  THEN excluded.head_version ELSE ing_parked.head_version END";

static bool parked_put(struct store *store, const struct offset_key *key,
                       const struct parked *parked, struct error *err)
{
    struct statement *st = statement_of(store, PUT);
    int64_t changes;

    bind_aggregate(st, key, parked);
    bind_id(st, ":record", parked->record_id);
    bind_i64(st, ":lane", parked->lane);
    bind_i64(st, ":head", parked->head_version);
    bind_i64(st, ":seen", parked->seen_version);
    bind_i64(st, ":begun", parked->attempts_begun);
    bind_i64(st, ":ended", parked->attempts_ended);
    bind_code(st, ":policy", &SUBSCRIPTION_POLICY_CODES, (int)parked->policy);
    bind_instant(st, ":next", parked->next_retry_us);
    bind_text(st, ":error", parked->last_error);
    bind_instant(st, ":now", parked->parked_us);
    return statement_run(st, &changes, err) ||
           error_wrap(err, "park %.*s", STR_ARG(parked->aggregate_id));
}

static const char PASS[] =
    "UPDATE ing_parked AS t SET seen_version = {greatest}(t.seen_version, @seen),"
    " head_version = CASE WHEN @first < t.head_version THEN @first ELSE t.head_version END {rows}"
    " WHERE t.consumer_group = :group AND t.subscription = :name AND t.aggregate_type = @type"
    " AND t.aggregate_id = @id";

static bool parked_pass(struct store *store, const struct offset_key *key,
                        const struct parked_pass *passes, size_t count, bool *all,
                        struct error *err)
{
    struct statement *st = statement_of(store, PASS);
    int64_t changes = 0;

    *all = true;
    if (count == 0)
        return true;
    bind_key(st, key);
    for (size_t i = 0; i < count; i++) {
        cell_i64(st, "@seen", passes[i].seen_version);
        cell_i64(st, "@first", passes[i].first_version);
        cell_text(st, "@type", passes[i].aggregate_type);
        cell_text(st, "@id", passes[i].aggregate_id);
    }
    if (!statement_run(st, &changes, err))
        return error_wrap(err, "pass over events of parked keys");
    *all = changes == (int64_t)count;
    return true;
}

static const char BEGIN[] = "UPDATE ing_parked SET attempts_begun = attempts_begun + 1, "
                            "next_retry_at = :next WHERE " OF_AGGREGATE " AND head_version = :head";

static bool parked_begin(struct store *store, const struct offset_key *key,
                         const struct parked *parked, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, BEGIN);

    bind_instant(st, ":next", parked->next_retry_us);
    bind_aggregate(st, key, parked);
    bind_i64(st, ":head", parked->head_version);
    return statement_changed(st, found, err) ||
           error_wrap(err, "begin to deliver %.*s again", STR_ARG(parked->aggregate_id));
}

static const char END[] =
    "UPDATE ing_parked SET attempts_begun = CASE WHEN head_version = :head THEN attempts_begun"
    " ELSE 0 END, attempts_ended = CASE WHEN head_version = :head THEN attempts_begun ELSE 0 END,"
    " head_version = :head,"
    " next_retry_at = :next, last_error = :error WHERE " OF_AGGREGATE " AND seen_version >= :head"
    " AND head_version <= :head";

static bool parked_end(struct store *store, const struct offset_key *key,
                       const struct parked *parked, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, END);

    bind_i64(st, ":head", parked->head_version);
    bind_instant(st, ":next", parked->next_retry_us);
    bind_text(st, ":error", parked->last_error);
    bind_aggregate(st, key, parked);
    return statement_changed(st, found, err) ||
           error_wrap(err, "note the attempt at %.*s", STR_ARG(parked->aggregate_id));
}

static const char REMOVE[] =
    "DELETE FROM ing_parked WHERE " OF_AGGREGATE " AND seen_version = :seen";

static bool parked_remove(struct store *store, const struct offset_key *key,
                          const struct parked *parked, bool *removed, struct error *err)
{
    struct statement *st = statement_of(store, REMOVE);

    bind_aggregate(st, key, parked);
    bind_i64(st, ":seen", parked->seen_version);
    return statement_changed(st, removed, err) ||
           error_wrap(err, "take %.*s back", STR_ARG(parked->aggregate_id));
}

/* ---- what people do ---- */

static const char RETRY[] =
    "UPDATE ing_parked SET next_retry_at = :now, attempts_ended = attempts_begun WHERE " OF_KEY
    " AND :id IN ('', aggregate_id)";

static bool parked_retry(struct store *store, const struct parked_query *query, int64_t now_us,
                         int64_t *count, struct error *err)
{
    struct statement *st = statement_of(store, RETRY);

    bind_instant(st, ":now", now_us);
    bind_key(st, &query->key);
    bind_text(st, ":id", query->aggregate_id);
    return statement_run(st, count, err) ||
           error_wrap(err, "let parked keys of %.*s be tried", STR_ARG(query->key.subscription));
}

static const char BURY[] =
    "INSERT INTO ing_dead_letter (consumer_group, subscription, event_id, aggregate_type,"
    " aggregate_id, version, reason, attempts, envelope, dead_at) {insert :group, :name, @event,"
    " :type, :id, @version, :reason, :attempts, @envelope, :now}"
    " ON CONFLICT (consumer_group, subscription, event_id) DO UPDATE SET reason = excluded.reason,"
    " attempts = excluded.attempts, dead_at = excluded.dead_at, redriven_at = NULL,"
    " redriven_by = ''";

static bool parked_bury(struct store *store, const struct offset_key *key,
                        const struct dead_letter *letter, struct error *err)
{
    struct statement *st = statement_of(store, BURY);
    int64_t changes;

    bind_key(st, key);
    bind_text(st, ":type", letter->aggregate_type);
    bind_text(st, ":id", letter->aggregate_id);
    bind_text(st, ":reason", letter->reason);
    bind_i64(st, ":attempts", letter->attempts);
    bind_instant(st, ":now", letter->dead_us);
    cell_uuid(st, "@event", letter->event_id);
    cell_i64(st, "@version", letter->version);
    cell_bytes(st, "@envelope", letter->envelope);
    return statement_run(st, &changes, err) ||
           error_wrap(err, "keep version %lld of %.*s as a dead letter", (long long)letter->version,
                      STR_ARG(letter->aggregate_id));
}

/* ---- dead letters ---- */

static const char LETTERS[] =
    "SELECT id, event_id, aggregate_type, aggregate_id, version, reason, attempts, envelope,"
    " dead_at, redriven_at, redriven_by FROM ing_dead_letter WHERE " OF_KEY
    " AND :id IN ('', aggregate_id) AND (:redriven OR redriven_at IS NULL) AND id > :after"
    " ORDER BY id LIMIT :limit";

static bool parked_letters(struct store *store, struct arena *arena,
                           const struct letter_query *query, struct letter_list *list,
                           struct error *err)
{
    struct statement *st = statement_of(store, LETTERS);
    struct rows *rows = &st->rows;
    struct letter *letter;

    *list = (struct letter_list){ 0 };
    bind_key(st, &query->key);
    bind_text(st, ":id", query->aggregate_id);
    bind_bool(st, ":redriven", query->has_redriven);
    bind_i64(st, ":after", query->after_id);
    bind_i64(st, ":limit", query->limit);
    while ((letter = ROWS_NEXT(rows, arena, list)) != NULL) {
        letter->id = rows_i64(rows);
        letter->dead.event_id = rows_text(rows, arena);
        letter->dead.aggregate_type = rows_text(rows, arena);
        letter->dead.aggregate_id = rows_text(rows, arena);
        letter->dead.version = rows_i64(rows);
        letter->dead.reason = rows_text(rows, arena);
        letter->dead.attempts = rows_i64(rows);
        letter->dead.envelope = rows_text(rows, arena);
        letter->dead.dead_us = rows_i64(rows);
        letter->is_redriven = !rows_is_null(rows);
        letter->redriven_us = rows_i64(rows);
        letter->redriven_by = rows_text(rows, arena);
    }
    return rows_finish(rows, err) ||
           error_wrap(err, "list dead letters of %.*s", STR_ARG(query->key.subscription));
}

static const char LETTER_COUNT[] =
    "SELECT count(*) FROM ing_dead_letter WHERE " OF_KEY " AND redriven_at IS NULL";

static bool parked_letter_count(struct store *store, const struct offset_key *key, int64_t *count,
                                struct error *err)
{
    struct statement *st = statement_of(store, LETTER_COUNT);

    *count = 0;
    bind_key(st, key);
    return rows_only_i64(&st->rows, count, err) ||
           error_wrap(err, "count dead letters of %.*s", STR_ARG(key->subscription));
}

static const char LETTER_EVENT[] =
    "SELECT o.record_id, o.lane FROM ing_record_state AS r"
    " JOIN ing_outbox AS o ON o.record_id = r.id"
    " WHERE r.provider_id = :id AND r.endpoint_id = " ENDPOINT_ID(
        ":source", ":endpoint") " AND o.version = :version"
                                " UNION ALL SELECT 0, o.lane FROM ing_outbox AS o WHERE "
                                "o.record_id IS NULL AND o.aggregate_id "
                                "= :id"
                                " AND o.aggregate_type = :type AND o.version = :version";

static bool parked_letter_event(struct store *store, struct redrive *redrive, bool *found,
                                struct error *err)
{
    const struct dead_letter *letter = &redrive->letter->dead;
    struct statement *st = statement_of(store, LETTER_EVENT);
    struct str endpoint = letter->aggregate_type;
    const struct str source = str_cut(&endpoint, '/');

    *found = false;
    bind_text(st, ":id", letter->aggregate_id);
    bind_text(st, ":endpoint", endpoint);
    bind_text(st, ":source", source);
    bind_text(st, ":type", letter->aggregate_type);
    bind_i64(st, ":version", letter->version);
    while (rows_next(&st->rows)) {
        redrive->record_id = rows_i64(&st->rows);
        redrive->lane = rows_i64(&st->rows);
        *found = true;
    }
    return rows_finish(&st->rows, err) ||
           error_wrap(err, "find version %lld of %.*s", (long long)letter->version,
                      STR_ARG(letter->aggregate_id));
}

static const char REDRIVEN[] = "UPDATE ing_dead_letter SET redriven_at = :now, redriven_by = :by"
                               " WHERE id = :letter AND redriven_at IS NULL";
static const char REPARK[] =
    "INSERT INTO ing_parked (consumer_group, subscription, aggregate_type, aggregate_id, record_id,"
    " lane, head_version, seen_version, attempts_begun, attempts_ended, policy_code, next_retry_at,"
    " last_error, parked_at) VALUES (:group, :name, :type, :id, :record, :lane, :version, :version,"
    " 0, 0, 'WAIT', :now, :error, :now)"
    " ON CONFLICT (consumer_group, subscription, aggregate_type, aggregate_id) DO UPDATE SET"
    " head_version = CASE WHEN excluded.head_version < ing_parked.head_version"
    "  THEN excluded.head_version ELSE ing_parked.head_version END,"
    " seen_version = {greatest}(ing_parked.seen_version, excluded.seen_version),"
    " attempts_begun = 0, attempts_ended = 0, policy_code = 'WAIT',"
    " next_retry_at = excluded.next_retry_at";

static bool repark(struct store *store, const struct redrive *redrive, struct error *err)
{
    const struct dead_letter *dead = &redrive->letter->dead;
    struct statement *st = statement_of(store, REPARK);
    int64_t changes;

    bind_key(st, &redrive->key);
    bind_text(st, ":type", dead->aggregate_type);
    bind_text(st, ":id", dead->aggregate_id);
    bind_id(st, ":record", redrive->record_id);
    bind_i64(st, ":lane", redrive->lane);
    bind_i64(st, ":version", dead->version);
    bind_instant(st, ":now", redrive->now_us);
    bind_text(st, ":error", dead->reason);
    return statement_run(st, &changes, err);
}

static bool parked_redrive(struct store *store, const struct redrive *redrive, bool *done,
                           struct error *err)
{
    struct statement *st = statement_of(store, REDRIVEN);

    bind_instant(st, ":now", redrive->now_us);
    bind_text(st, ":by", redrive->by);
    bind_i64(st, ":letter", redrive->letter->id);
    return (statement_changed(st, done, err) && (!*done || repark(store, redrive, err))) ||
           error_wrap(err, "redrive version %lld of %.*s", (long long)redrive->letter->dead.version,
                      STR_ARG(redrive->letter->dead.aggregate_id));
}

const struct store_parked_ops SQL_PARKED = {
    .list = parked_list,
    .count = parked_count,
    .behind = parked_behind,
    .put = parked_put,
    .pass = parked_pass,
    .begin = parked_begin,
    .end = parked_end,
    .remove = parked_remove,
    .retry = parked_retry,
    .events = parked_events,
    .bury = parked_bury,
    .letters = parked_letters,
    .letter_count = parked_letter_count,
    .letter_event = parked_letter_event,
    .redrive = parked_redrive,
};
