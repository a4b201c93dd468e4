/* What is planted for patra why. */
#include "why_rig.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/instant.h"
#include "core/lane.h"
#include "port/store_offset.h"
#include "port/store_quarantine.h"
#include "port/store_record.h"
#include "port/store_signal.h"
#include "port/store_sink.h"
#include "port/store_stream.h"
#include "port/store_subscription.h"
#include "rows.h"
#include "spec/bus.h"
#include "spec/import.h"
#include "spec/projection.h"

#define HOUR_AGO (NOW_US - US_PER_HOUR)

const char *why_dsn;
int64_t why_number;

const struct why_write WHY_FIRST = { "RecordCreated", "one", NULL };
const struct why_write WHY_SECOND = { "RecordUpdated", "two", NULL };

struct store *why_store(void)
{
    struct store *store;

    why_dsn = contract_ready_database();
    store = contract_open(why_dsn);
    planning_apply(store, &(struct planning_source){ .window = "align: day, max: 1d, lag: 1h" });
    return store;
}

void why_sql(const char *format, ...)
{
    char sql[1024];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(sql, sizeof(sql), format, args);
    va_end(args);
    contract_sql(why_dsn, sql);
}

/* ---- windows ---- */

static int64_t trigger(struct store *store, const char *operation)
{
    struct plan_request request = planning_request(operation);
    struct task_list tasks;

    request.from = maybe("2025-12-01");
    request.to = maybe("2025-12-03");
    (void)planning_trigger(store, &request);
    tasks = planning_tasks(store);
    for (size_t i = 0; i < tasks.count; i++) {
        if (tasks.items[i].window.from_us == at("2025-12-01"))
            return tasks.items[i].id;
    }
    REQUIRE(false, "a task for the first day");
    return 0;
}

int64_t why_backfill(struct store *store)
{
    return trigger(store, "backfill");
}

int64_t why_harvest(struct store *store)
{
    return trigger(store, "harvest");
}

/* ---- rows of the id ---- */

void why_put(struct store *store, const struct why_write *write)
{
    struct arena *arena = contract_arena();
    const struct record_key key = { STR("demo"), STR("works"), STR(WHY_ID) };
    const struct record_context context = { .source = key.source,
                                            .endpoint = key.endpoint,
                                            .expr_hash = STR("expr"),
                                            .observed_us = HOUR_AGO,
                                            .now_us = HOUR_AGO + US_PER_SECOND };
    struct stored_record stored = { 0 };
    struct record_change change;
    struct error err = { 0 };
    bool found, written;

    REQUIRE_OK(store_record_get(store, arena, &key, &stored, &found, &err), err);
    change.record =
        (struct record_write){ .id = stored.id,
                               .version = stored.version + 1,
                               .provider_id = key.provider_id,
                               .has_updated = true,
                               .updated_us = at(WHY_DATE),
                               .provider_version = STR(""),
                               .is_deleted = str_eq(str_of(write->type), STR("RecordDeleted")),
                               .observed_us = HOUR_AGO,
                               .content_hash = STR(HASH_B),
                               .payload = STR("{}"),
                               .fields = STR("") };
    change.event = (struct outbox_event){
        .event_id = arena_printf(arena, "%08x-0000-7000-8000-000000000000",
                                 (unsigned)change.record.version),
        .event_type = str_of(write->type),
        .version = change.record.version,
        .schema_version = 1,
        .lane = lane_of(STR("demo/works"), key.provider_id),
        .occurred_us = context.now_us,
        .body = arena_printf(arena,
                             "{\"updatedAt\":\"" WHY_DATE "\",%s%s\"fields\":{\"title\":\"%s\","
                             "\"year\":2025}}",
                             write->more != NULL ? write->more : "", write->more != NULL ? "," : "",
                             write->title),
    };
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_record_write(store, &context, &change, 1, &written, &err), err);
    REQUIRE(written, "the record");
    REQUIRE_OK(store_commit(store, &err), err);
}

void why_signal(struct store *store, const char *reason, int64_t http_status)
{
    const struct signal signal = { .source = STR("demo"),
                                   .endpoint = STR("works"),
                                   .provider_id = STR(WHY_ID),
                                   .reason = str_of(reason),
                                   .http_status = http_status,
                                   .detail = http_status > 0 ? STR("status 403") : STR(""),
                                   .created_by = STR("executor"),
                                   .created_us = HOUR_AGO };
    struct error err = { 0 };
    int64_t added;

    REQUIRE_OK(store_signal_add(store, &signal, 1, &added, &err), err);
    REQUIRE(added == 1, "the signal");
}

int64_t why_quarantined(struct store *store, int64_t observed_us)
{
    const struct quarantined bad = { .source = STR("demo"),
                                     .endpoint = STR("works"),
                                     .provider_id = STR(WHY_ID),
                                     .reason = STR("date.syntax"),
                                     .detail = STR("$.updated: soon"),
                                     .lineage = { 1, 2, 3, 4, 5, 6 },
                                     .observed_us = observed_us,
                                     .created_us = observed_us,
                                     .payload = STR("{}") };
    struct quarantined_list list;
    struct error err = { 0 };
    int64_t added;

    REQUIRE_OK(store_quarantine_add(store, &bad, 1, &added, &err), err);
    REQUIRE_OK(store_quarantine_list(store, contract_arena(),
                                     &(struct quarantine_filter){ .limit = 10 }, &list, &err),
               err);
    return list.items[list.count - 1].id;
}

/* ---- who reads it ---- */

void why_sequence(struct store *store)
{
    struct arena *arena = contract_arena();
    struct stream_entry entries[16];
    struct outbox_ref_list refs;
    struct stream_lease lease;
    struct error err = { 0 };
    bool held;

    REQUIRE_OK(store_stream_claim(store, &(struct stream_claim){ STR("test"), NOW_US, NOW_US + 1 },
                                  &lease, &held, &err),
               err);
    REQUIRE_OK(store_stream_scan(store, arena,
                                 &(struct stream_scan){ .cursor_id = lease.cursor_id, .limit = 16 },
                                 &refs, &err),
               err);
    REQUIRE(refs.count > 0, "events");
    for (size_t i = 0; i < refs.count; i++)
        entries[i] = (struct stream_entry){ refs.items[i], ++lease.last_pos[refs.items[i].lane] };
    REQUIRE_OK(
        store_stream_append(store,
                            &(struct stream_append){ .epoch = lease.epoch,
                                                     .now_us = NOW_US,
                                                     .until_us = NOW_US + 1,
                                                     .cursor_id = refs.items[refs.count - 1].id,
                                                     .horizon_id = refs.items[refs.count - 1].id,
                                                     .entries = entries,
                                                     .count = refs.count },
                            &held, &err),
        err);
    REQUIRE(held, "appended");
    REQUIRE_OK(store_stream_release(store, lease.epoch, &err), err);
}

void why_relay(struct store *store, const char *events)
{
    struct arena *arena = contract_arena();
    const struct str file = arena_printf(
        arena, "bus: hook\ntype: webhook\nurl: http://127.0.0.1:9/\nallow_plain: true\n%s", events);
    struct subscription_applied applied;
    struct fault_list faults;
    struct bus_spec spec;
    struct bus_text text;
    struct error err = { 0 };

    fault_list_init(&faults, arena);
    if (!bus_read(arena, file, &faults, &spec))
        REQUIRE(fault_list_ok(&faults, &err), err.text);
    REQUIRE_OK(bus_compile(arena, &spec, &text, &err), err);
    REQUIRE_OK(store_subscription_apply(
                   store,
                   &(struct subscription_apply){ .name = STR("hook"),
                                                 .kind = SUBSCRIPTION_RELAY,
                                                 .spec = text.json,
                                                 .spec_hash = str_of(text.hash),
                                                 .policy = POLICY_WAIT,
                                                 .from_latest = spec.start == BUS_START_LATEST,
                                                 .applied_by = STR("ada"),
                                                 .now_us = NOW_US + US_PER_HOUR },
                   &applied, &err),
               err);
}

void why_projection(struct store *store, const char *more, const char *from)
{
    struct arena *arena = contract_arena();
    const struct str file =
        arena_printf(arena,
                     "projection: shelf\n%s"
                     "tables:\n  shelf:\n    key: { type: none, id: id }\n"
                     "    columns: { title: { path: $.fields.title } }\n    from: [%s]\n",
                     more, from);
    struct subscription_applied applied;
    struct fault_list faults;
    struct projection_spec spec;
    struct projection_text text;
    struct sink_plan plan;
    struct error err = { 0 };

    why_sql("DROP TABLE IF EXISTS shelf"); /* the database may have been another test's */
    fault_list_init(&faults, arena);
    if (!projection_read(arena, file, &faults, &spec))
        REQUIRE(fault_list_ok(&faults, &err), err.text);
    REQUIRE_OK(projection_compile(arena, &spec, &text, &err), err);
    if (str_eq(spec.database, PROJECTION_OWN_DATABASE))
        REQUIRE_OK(store_sink_set_up(store, arena,
                                     &(struct sink_set_up){ .spec = &spec,
                                                            .json = text.json,
                                                            .hash = str_of(text.hash),
                                                            .applied_by = STR("ada"),
                                                            .now_us = NOW_US },
                                     &plan, &err),
                   err);
    REQUIRE_OK(
        store_subscription_apply(store,
                                 &(struct subscription_apply){ .name = STR("shelf"),
                                                               .kind = SUBSCRIPTION_PROJECTION,
                                                               .spec = text.json,
                                                               .spec_hash = str_of(text.hash),
                                                               .policy = POLICY_WAIT,
                                                               .applied_by = STR("ada"),
                                                               .now_us = NOW_US + US_PER_HOUR },
                                 &applied, &err),
        err);
}

void why_import(struct store *store, const char *prefix)
{
    struct arena *arena = contract_arena();
    const struct str file = arena_printf(
        arena, "outbox: shop\ndatabase: env:SHOP\ntable: app_outbox\ntype_prefix: \"%s\"\n",
        prefix);
    struct subscription_applied applied;
    struct fault_list faults;
    struct import_spec spec;
    struct import_text text;
    struct error err = { 0 };

    fault_list_init(&faults, arena);
    if (!import_read(arena, file, &faults, &spec))
        REQUIRE(fault_list_ok(&faults, &err), err.text);
    REQUIRE_OK(import_compile(arena, &spec, &text, &err), err);
    REQUIRE_OK(
        store_subscription_apply(store,
                                 &(struct subscription_apply){ .name = STR("shop"),
                                                               .kind = SUBSCRIPTION_IMPORT,
                                                               .spec = text.json,
                                                               .spec_hash = str_of(text.hash),
                                                               .policy = POLICY_WAIT,
                                                               .applied_by = STR("ada"),
                                                               .now_us = NOW_US },
                                 &applied, &err),
        err);
}

void why_reads(struct store *store, const char *name)
{
    const struct offset_key key = { SUBSCRIPTION_GROUP, str_of(name) };
    struct offset_lane_list lanes;
    struct offset_state_list states;
    struct error err = { 0 };

    REQUIRE_OK(store_offset_states(store, contract_arena(), &key, &states, &err), err);
    REQUIRE_OK(store_offset_claim(store, contract_arena(),
                                  &(struct offset_claim){ .key = key,
                                                          .owner = STR("r"),
                                                          .now_us = NOW_US,
                                                          .until_us = NOW_US + 1,
                                                          .limit = 64 },
                                  &lanes, &err),
               err);
    for (size_t i = 0; i < lanes.count; i++) {
        const struct offset_state *state = &states.items[lanes.items[i].lane];
        const struct offset_move move = { .lane = state->lane,
                                          .epoch = lanes.items[i].epoch,
                                          .pos = state->last_pos,
                                          .message_id = STR("m"),
                                          .published_us = NOW_US };
        bool held;

        if (state->last_pos == state->pos)
            continue;
        REQUIRE_OK(store_offset_save(store,
                                     &(struct offset_save){ .key = key,
                                                            .owner = STR("r"),
                                                            .now_us = NOW_US,
                                                            .until_us = NOW_US + 1,
                                                            .moves = &move,
                                                            .count = 1 },
                                     &held, &err),
                   err);
        REQUIRE(held, "read");
    }
    REQUIRE_OK(store_offset_leave(store, &key, STR("r"), &err), err);
}

/* ---- asking ---- */

struct view_why why_ask(struct store *store, const char *source, const char *id, const char *date)
{
    const struct view_reader reader = { .store = store,
                                        .arena = contract_arena(),
                                        .now_us = NOW_US };
    const struct view_why_query query = {
        .key = { .source = str_of(source), .provider_id = str_of(id) },
        .has_date = date != NULL,
        .date_us = date != NULL ? at(date) : 0,
    };
    struct view_why why;
    struct error err = { 0 };

    REQUIRE_OK(view_why(&reader, &query, &why, &err), err);
    return why;
}

/* ---- what several tests plant ---- */

void why_plant_backfill(struct store *store)
{
    why_number = why_backfill(store);
}

void why_plant_covered(struct store *store)
{
    why_plant_backfill(store);
    planning_end_all(store, TASK_SUCCEEDED);
}

void why_plant_stored(struct store *store)
{
    why_put(store, &WHY_FIRST);
    why_put(store, &WHY_SECOND);
}

void why_plant_sequenced(struct store *store)
{
    why_plant_stored(store);
    why_sequence(store);
}

/* ---- checking ---- */

/* The command with the number of the planted row, or of the lane. */
static struct str expected(const char *command)
{
    const struct str text = str_of(command);
    const size_t mark = str_find_char(text, '#');

    if (mark == text.len)
        return text;
    return arena_printf(contract_arena(), "%.*s%lld%.*s", (int)mark, text.data,
                        (long long)why_number, (int)(text.len - mark - 1), text.data + mark + 1);
}

void why_check(const char *source, const char *id, const struct why_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct store *store = why_store();
        const struct why_finding none = { 0 };
        const struct why_finding *first;
        struct view_why why;

        cases[i].plant(store);
        why = why_ask(store, source, id, cases[i].date);
        first = why.findings.count > 0 ? &why.findings.items[0] : &none;
        CHECK_STR(why.findings.count > 0 ? why_step_name(first->step) : STR(""),
                  str_of(cases[i].step), cases[i].label);
        CHECK_STR(first->reason, str_of(cases[i].reason), cases[i].label);
        CHECK_STR(first->command, expected(cases[i].command), cases[i].label);
        store_close(store);
    }
    contract_end();
}
