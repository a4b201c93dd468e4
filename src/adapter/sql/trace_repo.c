/* The way of one record: store_trace_ops. An order by `id + 0` keeps a table from being read from
 * its end, which looks cheap to a planner and is not where few rows are found. */
#include <inttypes.h>

#include "adapter/sql/read.h"
#include "adapter/sql/session.h"
#include "port/store_trace.h"

/* ---- who was to fetch it ---- */

#define ENDED_TASK                                                                    \
    "SELECT " TASK_COLUMNS ", partial_reason_code,"                                   \
    " EXISTS (SELECT 1 FROM ing_reslice_request AS q WHERE q.task_id = ing_task.id)," \
    " finished_at FROM ing_task"
#define HOLDS_INSTANT                                                \
    " WHERE provenance_code = :source AND endpoint_name = :endpoint" \
    " AND window_to > :at AND window_to IS NOT NULL AND window_from <= :at"

static const char WINDOWS[] = ENDED_TASK HOLDS_INSTANT " ORDER BY id + 0 DESC LIMIT :limit";

static void bind_trace_instant(struct statement *st, const struct trace_instant *query)
{
    bind_text(st, ":source", query->source);
    bind_text(st, ":endpoint", query->endpoint);
    bind_instant(st, ":at", query->at_us);
    bind_i64(st, ":limit", query->limit);
}

static bool trace_windows(struct store *store, struct arena *arena,
                          const struct trace_instant *query, struct ended_task_list *list,
                          struct error *err)
{
    struct statement *st = statement_of(store, WINDOWS);

    bind_trace_instant(st, query);
    return read_ended_tasks(&st->rows, arena, list, err) ||
           error_wrap(err, "list the windows of an instant");
}

static const char PLANS[] =
    "SELECT id, operation_code, window_from, window_to, status_code, expr_proto_hash,"
    " coalesce((SELECT s.dimension_code FROM ing_plan_slice AS s WHERE s.plan_id = ing_plan.id"
    "   ORDER BY s.slice_no LIMIT 1), '') = 'PAGE'"
    " FROM ing_plan" HOLDS_INSTANT " ORDER BY id + 0 DESC LIMIT :limit";

static bool trace_plans(struct store *store, struct arena *arena, const struct trace_instant *query,
                        struct trace_plan_list *list, struct error *err)
{
    struct statement *st = statement_of(store, PLANS);
    struct rows *rows = &st->rows;
    struct trace_plan *plan;

    *list = (struct trace_plan_list){ 0 };
    bind_trace_instant(st, query);
    while ((plan = ROWS_NEXT(rows, arena, list)) != NULL) {
        plan->id = rows_i64(rows);
        plan->operation = (enum operation)rows_code(rows, &OPERATION_CODES);
        plan->window = rows_window(rows);
        plan->status = (enum plan_status)rows_code(rows, &PLAN_STATUS_CODES);
        plan->expr_hash = rows_text(rows, arena);
        plan->is_by_pages = rows_bool(rows);
    }
    return rows_finish(rows, err) || error_wrap(err, "list the plans of an instant");
}

static const char PLANNED[] = "SELECT 1 FROM ing_plan WHERE provenance_code = :source"
                              " AND endpoint_name = :endpoint LIMIT 1";

static bool trace_planned(struct store *store, struct str source, struct str endpoint,
                          bool *is_planned, struct error *err)
{
    struct statement *st = statement_of(store, PLANNED);
    int64_t one = 0;

    bind_text(st, ":source", source);
    bind_text(st, ":endpoint", endpoint);
    if (!rows_only_i64(&st->rows, &one, err))
        return error_wrap(err, "look for a plan of %.*s", STR_ARG(source));
    *is_planned = one == 1;
    return true;
}

static const char LISTED[] =
    ENDED_TASK " WHERE provenance_code = :source"
               " AND id IN (SELECT task_id FROM ing_listed_id WHERE provider_id = :id)"
               " ORDER BY id + 0 DESC LIMIT :limit";

static bool trace_listed(struct store *store, struct arena *arena, struct str source,
                         struct str provider_id, int64_t limit, struct ended_task_list *list,
                         struct error *err)
{
    struct statement *st = statement_of(store, LISTED);

    bind_text(st, ":source", source);
    bind_text(st, ":id", provider_id);
    bind_i64(st, ":limit", limit);
    return read_ended_tasks(&st->rows, arena, list, err) ||
           error_wrap(err, "list the tasks that listed a record");
}

/* ---- who did ---- */

static const char REQUEST[] =
    "SELECT t.schedule_instance_id, b.plan_id, b.slice_id, b.task_id, b.run_id, b.id, b.batch_no,"
    " t.operation_code, t.endpoint_name, t.window_from, t.window_to, r.attempt_no, r.lease_owner,"
    " b.request_digest, b.created_at FROM ing_task_run_batch AS b"
    " JOIN ing_task_run AS r ON r.id = b.run_id JOIN ing_task AS t ON t.id = b.task_id"
    " WHERE b.id = :id";

static bool trace_request(struct store *store, struct arena *arena, int64_t batch_id,
                          struct trace_request *request, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, REQUEST);
    struct rows *rows = &st->rows;

    *request = (struct trace_request){ 0 };
    bind_i64(st, ":id", batch_id);
    *found = rows_next(rows);
    if (*found) {
        request->lineage = rows_lineage(rows);
        request->batch_no = rows_i64(rows);
        request->operation = (enum operation)rows_code(rows, &OPERATION_CODES);
        request->endpoint = rows_text(rows, arena);
        request->window = rows_window(rows);
        request->attempt = rows_i64(rows);
        request->worker = rows_text(rows, arena);
        request->digest = rows_text(rows, arena);
        request->committed_us = rows_i64(rows);
        (void)rows_next(rows);
    }
    return rows_finish(rows, err) || error_wrap(err, "read batch %" PRId64, batch_id);
}

/* ---- its events ---- */

#define EVENTS_OF                                                                             \
    "SELECT o.event_id, o.event_type, o.batch_id, o.version, o.schema_version, o.lane,"       \
    " o.occurred_at, o.body, o.id, s.pos, s.sequenced_at FROM ing_outbox AS o {event-place} " \
    "WHERE "
#define NEWEST_FIRST " ORDER BY o.version DESC LIMIT :limit"

static const char EVENTS[] = EVENTS_OF "o.record_id = :record" NEWEST_FIRST;
static const char FOREIGN[] = EVENTS_OF
    "o.aggregate_id = :id AND o.aggregate_type = :type AND o.record_id IS NULL" NEWEST_FIRST;

static bool read_events(struct rows *rows, struct arena *arena, struct trace_event_list *list,
                        struct error *err)
{
    struct trace_event *event;

    *list = (struct trace_event_list){ 0 };
    while ((event = ROWS_NEXT(rows, arena, list)) != NULL) {
        event->event.event_id = rows_text(rows, arena);
        event->event.event_type = rows_text(rows, arena);
        event->event.batch_id = rows_i64(rows);
        event->event.version = rows_i64(rows);
        event->event.schema_version = rows_i64(rows);
        event->event.lane = rows_i64(rows);
        event->event.occurred_us = rows_i64(rows);
        event->event.body = rows_text(rows, arena);
        event->id = rows_i64(rows);
        event->pos = rows_i64(rows);
        event->sequenced_us = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

static bool trace_events(struct store *store, struct arena *arena, int64_t record_id, int64_t limit,
                         struct trace_event_list *list, struct error *err)
{
    struct statement *st = statement_of(store, EVENTS);

    bind_i64(st, ":record", record_id);
    bind_i64(st, ":limit", limit);
    return read_events(&st->rows, arena, list, err) ||
           error_wrap(err, "list events of record %" PRId64, record_id);
}

static bool trace_foreign(struct store *store, struct arena *arena, struct str aggregate_type,
                          struct str aggregate_id, int64_t limit, struct trace_event_list *list,
                          struct error *err)
{
    struct statement *st = statement_of(store, FOREIGN);

    bind_text(st, ":id", aggregate_id);
    bind_text(st, ":type", aggregate_type);
    bind_i64(st, ":limit", limit);
    return read_events(&st->rows, arena, list, err) ||
           error_wrap(err, "list events of %.*s %.*s", STR_ARG(aggregate_type),
                      STR_ARG(aggregate_id));
}

/* ---- ids ---- */

static const char IDS[] = "SELECT provenance_code, endpoint_name, provider_id FROM ing_record"
                          " WHERE provider_id >= :from ORDER BY provider_id LIMIT :limit";

static bool trace_ids(struct store *store, struct arena *arena, struct str from, int64_t limit,
                      struct trace_id_list *list, struct error *err)
{
    struct statement *st = statement_of(store, IDS);
    struct record_key *key;

    *list = (struct trace_id_list){ 0 };
    bind_text(st, ":from", from);
    bind_i64(st, ":limit", limit);
    while ((key = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        key->source = rows_text(&st->rows, arena);
        key->endpoint = rows_text(&st->rows, arena);
        key->provider_id = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "list ids");
}

static const char SEQUENCER[] = "SELECT cursor_id, horizon_id, lease_owner, leased_until"
                                " FROM ing_stream_head WHERE one = 1";

static bool trace_sequencer(struct store *store, struct arena *arena,
                            struct trace_sequencer *sequencer, struct error *err)
{
    struct statement *st = statement_of(store, SEQUENCER);

    *sequencer = (struct trace_sequencer){ 0 };
    while (rows_next(&st->rows)) {
        sequencer->cursor_id = rows_i64(&st->rows);
        sequencer->horizon_id = rows_i64(&st->rows);
        sequencer->owner = rows_text(&st->rows, arena);
        sequencer->leased_until_us = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "read the head of the stream");
}

/* ---- who has them ---- */

static void bind_trace_key(struct statement *st, const struct trace_key *key)
{
    bind_text(st, ":group", key->offset.group);
    bind_text(st, ":type", key->aggregate_type);
    bind_text(st, ":id", key->aggregate_id);
}

static const char OFFSET[] = "SELECT stream_pos FROM ing_offset WHERE consumer_group = :group"
                             " AND subscription = :name AND lane = :lane";

static bool trace_offset(struct store *store, const struct offset_key *key, int64_t lane,
                         int64_t *pos, struct error *err)
{
    struct statement *st = statement_of(store, OFFSET);

    *pos = 0;
    bind_text(st, ":group", key->group);
    bind_text(st, ":name", key->subscription);
    bind_i64(st, ":lane", lane);
    return rows_only_i64(&st->rows, pos, err) || error_wrap(err, "read an offset");
}

static const char PARKED[] =
    "SELECT head_version, seen_version, attempts_begun, next_retry_at, last_error, parked_at"
    " FROM ing_parked WHERE consumer_group = :group AND subscription = :name"
    " AND aggregate_type = :type AND aggregate_id = :id";

static bool trace_parked(struct store *store, struct arena *arena, const struct trace_key *key,
                         struct trace_parked *parked, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, PARKED);
    struct rows *rows = &st->rows;

    *parked = (struct trace_parked){ 0 };
    bind_trace_key(st, key);
    bind_text(st, ":name", key->offset.subscription);
    *found = rows_next(rows);
    if (*found) {
        parked->head_version = rows_i64(rows);
        parked->seen_version = rows_i64(rows);
        parked->attempts = rows_i64(rows);
        parked->next_retry_us = rows_i64(rows);
        parked->last_error = rows_text(rows, arena);
        parked->parked_us = rows_i64(rows);
        (void)rows_next(rows);
    }
    return rows_finish(rows, err) || error_wrap(err, "look for a parked key");
}

static const char LETTERS[] =
    "SELECT subscription, version, reason, attempts, dead_at, redriven_at FROM ing_dead_letter"
    " WHERE aggregate_id = :id AND aggregate_type = :type AND consumer_group = :group"
    " ORDER BY version DESC, id DESC";

static bool trace_letters(struct store *store, struct arena *arena, const struct trace_key *key,
                          struct trace_letter_list *list, struct error *err)
{
    struct statement *st = statement_of(store, LETTERS);
    struct rows *rows = &st->rows;
    struct trace_letter *letter;

    *list = (struct trace_letter_list){ 0 };
    bind_trace_key(st, key);
    while ((letter = ROWS_NEXT(rows, arena, list)) != NULL) {
        letter->subscription = rows_text(rows, arena);
        letter->version = rows_i64(rows);
        letter->reason = rows_text(rows, arena);
        letter->attempts = rows_i64(rows);
        letter->dead_us = rows_i64(rows);
        letter->redriven_us = rows_i64(rows);
    }
    return rows_finish(rows, err) || error_wrap(err, "list the dead letters of a key");
}

static const char SEEK[] =
    "SELECT new_pos >= :pos, reason, reset_by, reset_at FROM ing_offset_reset"
    " WHERE consumer_group = :group AND subscription = :name AND lane = :lane"
    " AND (new_pos < :pos OR coalesce(old_pos, 0) < :pos) ORDER BY id DESC LIMIT 1";

static bool trace_seek(struct store *store, struct arena *arena, const struct trace_place *place,
                       struct trace_seek *seek, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, SEEK);

    *seek = (struct trace_seek){ 0 };
    bind_text(st, ":group", place->offset.group);
    bind_text(st, ":name", place->offset.subscription);
    bind_i64(st, ":lane", place->lane);
    bind_i64(st, ":pos", place->pos);
    *found = rows_next(&st->rows);
    if (*found) {
        seek->is_past = rows_bool(&st->rows);
        seek->reason = rows_text(&st->rows, arena);
        seek->by = rows_text(&st->rows, arena);
        seek->at_us = rows_i64(&st->rows);
        (void)rows_next(&st->rows);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "look for a seek");
}

const struct store_trace_ops SQL_TRACE = {
    .windows = trace_windows,
    .plans = trace_plans,
    .planned = trace_planned,
    .listed = trace_listed,
    .request = trace_request,
    .events = trace_events,
    .foreign = trace_foreign,
    .ids = trace_ids,
    .sequencer = trace_sequencer,
    .offset = trace_offset,
    .parked = trace_parked,
    .letters = trace_letters,
    .seek = trace_seek,
};
