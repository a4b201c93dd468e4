/* Records and their changes, as people and exports read them. */
#include "adapter/sql/key_digest.h"
#include "adapter/sql/payload.h"
#include "adapter/sql/record_names.h"
#include "port/store_record_read.h"

#define PLAIN_COLUMNS                                                  \
    "id, provider_id, updated_at, provider_version, version, deleted," \
    " " EXPR_HASH("expr_id") " AS expr_hash, observed_at, created_at"

/* When the version that a record has was stored. */
#define CHANGED_AT                                                                         \
    "(SELECT o.occurred_at FROM ing_outbox AS o WHERE o.record_id = r.id AND o.version = " \
    "r.version)"

/* Reads PLAIN_COLUMNS. */
static void read_plain(struct rows *rows, struct arena *arena, struct str endpoint,
                       struct record_entry *entry)
{
    entry->id = rows_i64(rows);
    entry->endpoint = endpoint;
    entry->provider_id = rows_text(rows, arena);
    entry->has_updated = !rows_is_null(rows);
    entry->updated_us = rows_i64(rows);
    entry->provider_version = rows_text(rows, arena);
    entry->version = rows_i64(rows);
    entry->is_deleted = rows_bool(rows);
    entry->expr_hash = rows_text(rows, arena);
    entry->observed_us = rows_i64(rows);
    entry->created_us = rows_i64(rows);
}

/* ---- pages ---- */

/* Pages are read by the index that has their order. Before its first statistics PostgreSQL would
 * sort all that is left of a table for every page. */
static const char IN_ORDER[] = "{in-order}";
/* Of events and their records, row by row: a merge would pass all records that have no event any
 * more, and the planner does not know that these are the first millions. */
static const char BY_EVENTS[] = "{row-by-row}";

/* A page is one statement, in a transaction of its own where there is none, so that a setting of
 * the planner holds for it alone. */
static bool page_begin(struct store *store, const char *setting, bool *owns_transaction,
                       struct error *err)
{
    struct statement *st;

    *owns_transaction = store->state == STORE_IDLE;
    if (*owns_transaction && !store_begin_read(store, err))
        return false;
    st = statement_of(store, setting);
    (void)rows_next(&st->rows);
    if (rows_finish(&st->rows, err))
        return true;
    return store_end_if_owned(store, *owns_transaction, false, err);
}

/* ---- walks ---- */

/* Conditions that cost nothing where they are not asked for: OR is evaluated from the left. */
#define WALK(condition)                                                                    \
    "SELECT " PLAIN_COLUMNS ","                                                            \
    " CASE WHEN :with_changed THEN " CHANGED_AT " END AS changed_at,"                      \
    " {bytes}(payload) AS bytes, dictionary_id,"                                           \
    " CASE WHEN :with_payload OR dictionary_id IS NOT NULL THEN payload END AS payload"    \
    " FROM ing_record_state AS r JOIN ing_record_content ON record_id = r.id"              \
    " WHERE endpoint_id = " ENDPOINT_ID(                                                   \
        ":source", ":endpoint") " AND id > :after_id AND record_id > :after_id"            \
                                " AND " condition                                          \
                                " AND version >= :version_from AND version <= :version_to" \
                                " AND (NOT :by_change OR (coalesce(" CHANGED_AT            \
                                ", :never) >= :changed_from"                               \
                                "  AND coalesce(" CHANGED_AT ", :never) < :changed_to))"   \
                                " ORDER BY id LIMIT :limit"

static const char LIVE[] = WALK("NOT deleted");
static const char DELETED[] = WALK("deleted");
/* Each half by its own index; one statement, so that a record that changes sides is in one. */
static const char ALL[] = "SELECT * FROM (" WALK(
    "NOT deleted") ") AS live UNION ALL"
                   " SELECT * FROM (" WALK("deleted") ") AS gone"
                                                      " ORDER BY id LIMIT :limit";

/* By the events, where only records are wanted whose present version has one: the outbox has those
 * of some days, the table of records those of all years. From the events to the records, never the
 * other way: SQLite keeps the order of a CROSS JOIN, PostgreSQL has no index for the sum. */
#define CHANGED(condition)                                                                   \
    "SELECT " PLAIN_COLUMNS ", occurred_at AS changed_at, {bytes}(payload) AS bytes,"        \
    " dictionary_id,"                                                                        \
    " CASE WHEN :with_payload OR dictionary_id IS NOT NULL THEN payload END AS payload"      \
    " FROM (SELECT record_id AS place, record_id + 0 AS event_of, version AS event_version," \
    "  occurred_at FROM ing_outbox WHERE record_id > :after_id"                              \
    "  AND occurred_at >= :changed_from AND occurred_at < :changed_to) AS o"                 \
    " CROSS JOIN ing_record_state AS r CROSS JOIN ing_record_content"                        \
    " WHERE r.id = event_of AND version = event_version AND record_id = event_of"            \
    " AND endpoint_id = " ENDPOINT_ID(                                                       \
        ":source", ":endpoint") " AND " condition                                            \
                                " AND version >= :version_from AND version <= :version_to"   \
                                " ORDER BY place LIMIT :limit"

static const char LIVE_CHANGED[] = CHANGED("NOT deleted");
static const char DELETED_CHANGED[] = CHANGED("deleted");
static const char ALL_CHANGED[] = CHANGED("TRUE");

/* All records that are not deleted, with their payloads, and nothing that a plain copy of them does
 * not need: an export of millions is a third faster by it. */
static const char PLAIN[] =
    "SELECT id, provider_id, updated_at, provider_version, version, created_at, " PAYLOAD_COLUMNS
    " FROM ing_record_state AS r JOIN ing_record_content ON record_id = r.id"
    " WHERE endpoint_id = " ENDPOINT_ID(
        ":source",
        ":endpoint") " AND id > :after_id"
                     " AND record_id > :after_id AND NOT deleted ORDER BY id LIMIT :limit";

static bool is_plain(const struct record_walk *walk)
{
    return walk->taker != NULL && walk->states == RECORDS_LIVE && walk->with_payload &&
           !walk->with_changed && !walk->by_change && walk->version_from <= 1 &&
           walk->version_to == 0;
}

static struct statement *plain_statement(struct store *store, const struct record_walk *walk,
                                         struct record_place after, int64_t limit)
{
    struct statement *st = statement_of(store, PLAIN);

    bind_text(st, ":source", walk->source);
    bind_text(st, ":endpoint", after.endpoint);
    bind_i64(st, ":after_id", after.id);
    bind_i64(st, ":limit", limit);
    return st;
}

/* A record whose event was removed changed before every instant but the first. */
static bool is_by_event(const struct record_walk *walk)
{
    return walk->by_change && walk->changed_from_us > 0;
}

static struct statement *walk_statement(struct store *store, const struct record_walk *walk,
                                        struct record_place after, int64_t limit)
{
    static const char *const texts[][2] = { [RECORDS_LIVE] = { LIVE, LIVE_CHANGED },
                                            [RECORDS_DELETED] = { DELETED, DELETED_CHANGED },
                                            [RECORDS_ALL] = { ALL, ALL_CHANGED } };
    struct statement *st = statement_of(store, texts[walk->states][is_by_event(walk)]);

    if (!is_by_event(walk)) {
        bind_bool(st, ":with_changed", walk->with_changed);
        bind_bool(st, ":by_change", walk->by_change);
        bind_instant(st, ":never", 0);
    }
    bind_bool(st, ":with_payload", walk->with_payload);
    bind_text(st, ":source", walk->source);
    bind_text(st, ":endpoint", after.endpoint);
    bind_i64(st, ":after_id", after.id);
    bind_i64(st, ":version_from", walk->version_from);
    bind_i64(st, ":version_to", walk->version_to > 0 ? walk->version_to : INT64_MAX);
    bind_instant(st, ":changed_from", walk->changed_from_us);
    bind_instant(st, ":changed_to", walk->changed_to_us);
    bind_i64(st, ":limit", limit);
    return st;
}

/* Reads PLAIN, but for the payload. */
static void read_plainest(struct rows *rows, struct arena *arena, struct str endpoint,
                          struct record_entry *entry)
{
    *entry = (struct record_entry){ .id = rows_i64(rows), .endpoint = endpoint };
    entry->provider_id = rows_text(rows, arena);
    entry->has_updated = !rows_is_null(rows);
    entry->updated_us = rows_i64(rows);
    entry->provider_version = rows_text(rows, arena);
    entry->version = rows_i64(rows);
    entry->created_us = rows_i64(rows);
}

/* The payload, which need not be copied. A taker that fails ends the rows. */
static bool hand_over(struct statement *st, struct record_taker *taker, struct record_entry *entry,
                      struct error *err)
{
    struct error ignored;
    bool ok;

    entry->payload = payload_view(st, entry->provider_id);
    entry->bytes = (int64_t)entry->payload.len;
    ok = st->rows.full != NULL || st->failed || /* rows_finish() says so */
         taker->take(taker, entry, err);
    entry->payload = (struct str){ NULL, 0 };
    if (!ok)
        (void)!rows_finish(&st->rows, &ignored);
    return ok;
}

/* One that is packed is read in any case, to say how large it is. */
static void read_payload(struct statement *st, struct arena *arena, bool with_payload,
                         struct record_entry *entry)
{
    const bool is_packed = !rows_is_null(&st->rows);

    entry->payload = with_payload ? payload_text(st, arena, entry->provider_id)
                                  : payload_view(st, entry->provider_id);
    if (is_packed)
        entry->bytes = (int64_t)entry->payload.len;
    if (!with_payload)
        entry->payload = STR("");
}

/* Adds records of one endpoint. *is_full: the page ends here; there may be more of them. */
static bool read_endpoint(struct statement *st, struct arena *arena, const struct record_walk *walk,
                          struct str endpoint, int64_t *bytes, struct record_entry_list *list,
                          bool *is_full, struct error *err)
{
    struct record_entry *entry = NULL;

    *is_full = false;
    while (!*is_full && (entry = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        if (is_plain(walk))
            read_plainest(&st->rows, arena, endpoint, entry);
        else {
            read_plain(&st->rows, arena, endpoint, entry);
            entry->changed_us = rows_i64(&st->rows);
            entry->bytes = rows_i64(&st->rows);
        }
        if (walk->taker == NULL)
            read_payload(st, arena, walk->with_payload, entry);
        else if (!hand_over(st, walk->taker, entry, err))
            return false;
        *bytes += entry->bytes;
        *is_full = (int64_t)list->count == walk->limit ||
                   (walk->bytes_max > 0 && *bytes >= walk->bytes_max);
    }
    return rows_finish(&st->rows, err);
}

/* One endpoint at a time: SQLite seeks by equal columns and one range, not by a pair of columns. */
static const char NEXT_ENDPOINT[] = "SELECT min(endpoint_name) FROM ing_record_endpoint"
                                    " WHERE provenance_code = :source AND endpoint_name > :after";

/* '' after the last. */
static bool next_endpoint(struct store *store, struct arena *arena, const struct record_walk *walk,
                          struct str *endpoint, struct error *err)
{
    struct statement *st = statement_of(store, NEXT_ENDPOINT);

    if (walk->endpoint.len > 0) {
        *endpoint = endpoint->len == 0 ? walk->endpoint : STR("");
        return true;
    }
    bind_text(st, ":source", walk->source);
    bind_text(st, ":after", *endpoint);
    *endpoint = rows_next(&st->rows) ? rows_text(&st->rows, arena) : STR("");
    return rows_finish(&st->rows, err);
}

static bool read_walk(struct store *store, struct arena *arena, const struct record_walk *walk,
                      struct record_entry_list *list, struct error *err)
{
    struct record_place at = walk->after;
    bool is_full = false;
    int64_t bytes = 0;

    *list = (struct record_entry_list){ 0 };
    if (at.id == 0 && !next_endpoint(store, arena, walk, &at.endpoint, err))
        return false;
    while (!is_full && at.endpoint.len > 0) {
        struct statement *st = (is_plain(walk) ? plain_statement : walk_statement)(
            store, walk, at, walk->limit - (int64_t)list->count);

        if (!read_endpoint(st, arena, walk, at.endpoint, &bytes, list, &is_full, err) ||
            (!is_full && !next_endpoint(store, arena, walk, &at.endpoint, err)))
            return false;
        at.id = 0;
    }
    list->is_end = !is_full;
    return true;
}

static bool record_walk(struct store *store, struct arena *arena, const struct record_walk *walk,
                        struct record_entry_list *list, struct error *err)
{
    bool owns;

    return (page_begin(store, is_by_event(walk) ? BY_EVENTS : IN_ORDER, &owns, err) &&
            store_end_if_owned(store, owns, read_walk(store, arena, walk, list, err), err)) ||
           error_wrap(err, "records of %.*s", STR_ARG(walk->source));
}

static const char ENDPOINTS[] =
    "SELECT r.id, e.endpoint_name FROM ing_record_state AS r"
    " JOIN ing_record_endpoint AS e ON e.id = r.endpoint_id"
    " WHERE r.provider_id = :provider_id AND e.provenance_code = :source"
    " ORDER BY e.endpoint_name";

static bool record_endpoints(struct store *store, struct arena *arena, struct str source,
                             struct str provider_id, struct record_entry_list *list,
                             struct error *err)
{
    struct statement *st = statement_of(store, ENDPOINTS);
    struct record_entry *entry;

    *list = (struct record_entry_list){ .is_end = true };
    bind_text(st, ":provider_id", provider_id);
    bind_text(st, ":source", source);
    while ((entry = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        entry->id = rows_i64(&st->rows);
        entry->endpoint = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "look for a record");
}

/* ---- changes ---- */

static const char CHANGES[] =
    "SELECT o.id, e.endpoint_name, r.provider_id, o.version, o.occurred_at"
    " FROM ing_outbox AS o JOIN ing_record_state AS r ON r.id = o.record_id"
    " JOIN ing_record_endpoint AS e ON e.id = r.endpoint_id"
    " WHERE o.id > :after AND o.id <= :upto AND e.provenance_code = :source"
    " AND (:endpoint = '' OR e.endpoint_name = :endpoint) ORDER BY o.id LIMIT :limit";

static bool read_changes(struct store *store, struct arena *arena,
                         const struct record_change_walk *walk, struct record_changed_list *list,
                         struct error *err)
{
    struct statement *st = statement_of(store, CHANGES);
    struct record_changed *change;

    *list = (struct record_changed_list){ 0 };
    bind_i64(st, ":after", walk->after);
    bind_i64(st, ":upto", walk->upto);
    bind_text(st, ":source", walk->source);
    bind_text(st, ":endpoint", walk->endpoint);
    bind_i64(st, ":limit", walk->limit);
    while ((change = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        change->event = rows_i64(&st->rows);
        change->endpoint = rows_text(&st->rows, arena);
        change->provider_id = rows_text(&st->rows, arena);
        change->version = rows_i64(&st->rows);
        change->changed_us = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err);
}

static bool record_changes(struct store *store, struct arena *arena,
                           const struct record_change_walk *walk, struct record_changed_list *list,
                           struct error *err)
{
    bool owns;

    return (page_begin(store, BY_EVENTS, &owns, err) &&
            store_end_if_owned(store, owns, read_changes(store, arena, walk, list, err), err)) ||
           error_wrap(err, "changes of %.*s", STR_ARG(walk->source));
}

static const char AS_OF[] =
    "SELECT @place, " PLAIN_COLUMNS
    ", (SELECT dictionary_id FROM ing_record_content WHERE record_id = t.id),"
    " (SELECT payload FROM ing_record_content WHERE record_id = t.id)"
    " FROM {find ing_record_state: endpoint_id = " ENDPOINT_ID(
        ":source", "@endpoint") " AND provider_id = @wanted AND version = @as_of}";

static bool record_as_of(struct store *store, struct arena *arena, struct str source,
                         const struct record_changed_list *changes, struct record_entry *entries,
                         struct error *err)
{
    struct statement *st = statement_of(store, AS_OF);

    bind_text(st, ":source", source);
    for (size_t i = 0; i < changes->count; i++) {
        const struct record_changed *change = &changes->items[i];

        entries[i] = (struct record_entry){ 0 };
        cell_text(st, "@endpoint", change->endpoint);
        cell_text(st, "@wanted", change->provider_id);
        cell_i64(st, "@as_of", change->version);
    }
    while (rows_next(&st->rows)) {
        const size_t place = (size_t)rows_i64(&st->rows) - 1;
        struct record_entry *entry = &entries[place];

        read_plain(&st->rows, arena, changes->items[place].endpoint, entry);
        entry->payload = payload_text(st, arena, entry->provider_id);
        entry->bytes = (int64_t)entry->payload.len;
        entry->changed_us = changes->items[place].changed_us;
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "read changed records");
}

/* ---- how many ---- */

#define COUNTS(condition)                                                                  \
    "SELECT e.provenance_code, e.endpoint_name, CAST(coalesce(sum(t.live), 0) AS bigint)," \
    " CAST(coalesce(sum(t.deleted), 0) AS bigint) FROM ing_record_endpoint AS e"           \
    " LEFT JOIN ing_record_tally AS t ON t.endpoint_id = e.id" condition                   \
    " GROUP BY e.provenance_code, e.endpoint_name ORDER BY e.provenance_code, e.endpoint_name"

static const char COUNT_ALL[] = COUNTS("");
static const char COUNT_OF[] = COUNTS(" WHERE e.provenance_code = :source");

static bool record_counts(struct store *store, struct arena *arena, struct str source,
                          struct record_count_list *list, struct error *err)
{
    struct statement *st = statement_of(store, source.len > 0 ? COUNT_OF : COUNT_ALL);
    struct record_count *count;

    *list = (struct record_count_list){ 0 };
    if (source.len > 0)
        bind_text(st, ":source", source);
    while ((count = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        count->source = rows_text(&st->rows, arena);
        count->endpoint = rows_text(&st->rows, arena);
        count->live = rows_i64(&st->rows);
        count->deleted = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "count records");
}

static const char COUNT_LIVE[] =
    "SELECT CAST(coalesce(sum(t.live), 0) AS bigint) FROM ing_record_tally AS t"
    " JOIN ing_record_endpoint AS e ON e.id = t.endpoint_id WHERE e.provenance_code = :source";

static bool record_count_live(struct store *store, struct str source, int64_t *count,
                              struct error *err)
{
    struct statement *st = statement_of(store, COUNT_LIVE);

    bind_text(st, ":source", source);
    return rows_only_i64(&st->rows, count, err) || error_wrap(err, "count records");
}

/* ---- the session ---- */

static const char READ_ONCE[] = "{read-once}";

static bool record_read_once(struct store *store, struct error *err)
{
    struct statement *st = statement_of(store, READ_ONCE);

    while (rows_next(&st->rows))
        rows_skip(&st->rows, 1);
    return rows_finish(&st->rows, err);
}

/* ---- which store ---- */

static const char IDENTITY[] = "SELECT store_id FROM sys_store";

static bool record_identity(struct store *store, struct arena *arena, struct str *id,
                            struct error *err)
{
    struct statement *st = statement_of(store, IDENTITY);
    const bool found = rows_next(&st->rows);

    *id = found ? rows_text(&st->rows, arena) : STR("");
    if (!rows_finish(&st->rows, err))
        return error_wrap(err, "which store this is");
    return found || error_set(err, ERROR_FATAL, "store.corrupt", "sys_store has no row");
}

/* ---- ids and versions ---- */

#define STATES                                                 \
    "(SELECT r.provider_id, r.version, r.deleted, " KEY_STATE( \
        "CAST(:type AS text)", "r.provider_id", "r.version",   \
        "r.deleted") " AS state FROM ing_record_state AS r"    \
                     " WHERE r.endpoint_id = " ENDPOINT_ID(":source", ":endpoint") ") AS u"

static const char DIGEST[] =
    KEY_DIGESTS "(SELECT CAST(:type AS text) AS type, {key-hash} AS h FROM " STATES
                " {once}) AS k" KEY_DIGESTS_BY;
static const char PICK[] =
    "SELECT u.provider_id, u.version, u.deleted FROM " STATES " WHERE " KEY_IS_PICKED;

static void bind_type(struct statement *st, const struct record_type *type)
{
    bind_text(st, ":source", type->source);
    bind_text(st, ":endpoint", type->endpoint);
    bind_text(st, ":type", type->aggregate_type);
}

static bool record_digest(struct store *store, struct arena *arena, const struct record_type *type,
                          const struct key_buckets *buckets, struct key_digest_list *list,
                          struct error *err)
{
    struct statement *st = statement_of(store, DIGEST);

    bind_type(st, type);
    bind_buckets(st, buckets);
    return key_digests_read(st, arena, list, err) ||
           error_wrap(err, "digest of the records of %.*s", STR_ARG(type->source));
}

static bool record_pick(struct store *store, struct arena *arena, const struct record_type *type,
                        const struct key_pick *pick, struct sink_seen_list *list, struct error *err)
{
    struct statement *st = statement_of(store, PICK);

    bind_type(st, type);
    bind_pick(st, pick);
    return key_states_read(st, arena, type->aggregate_type, list, err) ||
           error_wrap(err, "ids of %.*s", STR_ARG(type->source));
}

const struct store_record_read_ops SQL_RECORD_READ = {
    .digest = record_digest,
    .pick = record_pick,
    .walk = record_walk,
    .endpoints = record_endpoints,
    .changes = record_changes,
    .as_of = record_as_of,
    .counts = record_counts,
    .count_live = record_count_live,
    .read_once = record_read_once,
    .identity = record_identity,
};
