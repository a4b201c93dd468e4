/* patra audit: compares the tables of projections with the records, and repairs them. */
#include "cmd/audit.h"

#include <inttypes.h>

#include "adapter/sink_open.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cmd/projection/projection.h"
#include "engine/audit/audit.h"
#include "engine/consume/projection.h"

/* How many differences are printed for people. */
enum { SHOWN_MAX = 100 };

struct audited {
    struct str name;
    const struct projection_spec *spec;
    struct audit_result result;
    int64_t repaired;
};

/* ---- one projection ---- */

static bool audit_within(const struct audit_request *request, const struct projection *projection,
                         struct arena *arena, bool repairs, struct audited *audited,
                         struct error *err)
{
    if (!audit_projection(request, arena, &audited->result, err) ||
        (repairs &&
         !audit_repair(request, projection->projector, arena, &audited->result.differences, err)))
        return false;
    for (size_t i = 0; i < audited->result.differences.count; i++)
        audited->repaired += audited->result.differences.items[i].is_repaired;
    return true;
}

/* The sink is a session of its own, also on the store: it has statements for one spec. */
static bool open_sink(struct session *session, const struct projection_spec *spec,
                      struct store **sink, struct error *err)
{
    return str_eq(spec->database, PROJECTION_OWN_DATABASE)
               ? store_another(session->store, sink, err)
               : projection_sink_open(session, spec, sink, err);
}

static bool audit_one(struct session *session, const struct subscription *row,
                      const struct projection *projection, bool repairs, struct audited *audited,
                      struct error *err)
{
    struct audit_request request = { .store = session->store,
                                     .spec = &projection->spec,
                                     .key = { SUBSCRIPTION_GROUP, row->name } };
    struct projection_tables tables;
    bool ok;

    if (!open_sink(session, &projection->spec, &request.sink, err))
        return error_wrap(err, "projection %.*s", STR_ARG(row->name));
    request.offsets = request.sink;
    ok = projection_tables_open(&tables, projection, request.sink, row->spec_hash, err);
    if (ok) {
        request.tables = tables.tables;
        ok = audit_within(&request, projection, &session->arena, repairs, audited, err);
    }
    store_close(request.sink);
    return ok;
}

/* ---- printing ---- */

static bool print_differences(struct session *session, const struct audited *audited, FILE *out,
                              struct error *err)
{
    static const char *const heads[] = { "TABLE", "DIFFERENCE", "SOURCE", "TABLE HAS", "KEY" };
    const struct audit_difference_list *list = &audited->result.differences;
    struct columns columns;

    if (list->count == 0)
        return true;
    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list->count && i < SHOWN_MAX; i++) {
        const struct audit_difference *difference = &list->items[i];

        columns_cell(&columns, audited->spec->tables[difference->table].name);
        columns_cell(&columns, audit_kind_name(difference->kind));
        columns_i64(&columns, difference->wanted);
        columns_i64(&columns, difference->found);
        columns_cell(&columns, arena_printf(&session->arena, "%.*s %.*s",
                                            STR_ARG(difference->key.aggregate_type),
                                            STR_ARG(difference->key.aggregate_id)));
        if (difference->is_event_gone)
            columns_note(&columns, STR("its event was removed: patra projection rebuild"));
        columns_note(&columns, difference->refused);
    }
    if (!columns_print(&columns, out, err))
        return false;
    if (list->count > SHOWN_MAX)
        fprintf(out, "... and %zu more: --json shows all\n", list->count - SHOWN_MAX);
    return true;
}

static bool print_audited(struct session *session, const struct audited *audited, bool repairs,
                          FILE *out, struct error *err)
{
    const struct audit_result *result = &audited->result;
    struct buf keys;

    buf_init(&keys, &session->arena, 64);
    text_count(&keys, result->keys);
    fprintf(out, "%.*s: %.*s keys, %zu%s differ", STR_ARG(audited->name), STR_ARG(buf_str(&keys)),
            result->differences.count, result->is_full ? " or more" : "");
    if (repairs)
        fprintf(out, ", %" PRId64 " repaired", audited->repaired);
    fprintf(out, ", %" PRId64 " not applied yet", result->behind);
    if (result->tables_left_out > 0)
        fprintf(out, "; %" PRId64 " table%s cannot be compared with records",
                result->tables_left_out, result->tables_left_out == 1 ? "" : "s");
    fprintf(out, "\n");
    return print_differences(session, audited, out, err);
}

static void write_difference(struct json_writer *w, const struct audited *audited,
                             const struct audit_difference *difference)
{
    json_write_object(w);
    json_write_member_str(w, STR("table"), audited->spec->tables[difference->table].name);
    json_write_member_str(w, STR("aggregateType"), difference->key.aggregate_type);
    json_write_member_str(w, STR("aggregateId"), difference->key.aggregate_id);
    json_write_member_str(w, STR("difference"), audit_kind_name(difference->kind));
    json_write_member_i64(w, STR("version"), difference->wanted);
    json_write_member_i64(w, STR("tableVersion"), difference->found);
    json_write_member_bool(w, STR("repaired"), difference->is_repaired);
    json_write_member_bool(w, STR("eventGone"), difference->is_event_gone);
    if (difference->refused.len > 0)
        json_write_member_str(w, STR("error"), difference->refused);
    json_write_end(w);
}

static void write_audited(struct json_writer *w, const struct audited *audited)
{
    const struct audit_result *result = &audited->result;

    json_write_object(w);
    json_write_member_str(w, STR("projection"), audited->name);
    json_write_member_i64(w, STR("keys"), result->keys);
    json_write_member_i64(w, STR("behind"), result->behind);
    json_write_member_i64(w, STR("bucketsThatDiffer"), result->buckets);
    json_write_member_i64(w, STR("tablesLeftOut"), result->tables_left_out);
    json_write_member_i64(w, STR("repaired"), audited->repaired);
    json_write_member_bool(w, STR("full"), result->is_full);
    json_write_name(w, STR("differences"));
    json_write_array(w);
    for (size_t i = 0; i < result->differences.count; i++)
        write_difference(w, audited, &result->differences.items[i]);
    json_write_end(w);
    json_write_end(w);
}

static bool show_audited(const struct invocation *invocation, struct session *session,
                         const struct audited *audited, struct json_writer *w, enum exit_code *code,
                         struct error *err)
{
    if ((int64_t)audited->result.differences.count > audited->repaired)
        *code = EXIT_FOUND;
    if (!invocation_flag(invocation, "json"))
        return print_audited(session, audited, invocation_flag(invocation, "repair"),
                             invocation->out, err);
    write_audited(w, audited);
    return true;
}

/* ---- one that a bus feeds ---- */

/* Its file is remembered where its tables are. */
static bool find_fed(struct session *session, struct store *sink, struct str name,
                     struct sink_projection *found_projection, struct error *err)
{
    bool found;

    if (!store_sink_find(sink, &session->arena, name, found_projection, &found, err))
        return false;
    return found || error_set(err, ERROR_REQUEST, "projection.unknown",
                              "%.*s has no tables in this database", STR_ARG(name));
}

static bool find_relay(struct session *session, struct str bus, struct error *err)
{
    struct subscription relay;
    bool found;

    if (!store_subscription_find(session->store, &session->arena, bus, &relay, &found, err))
        return false;
    return (found && relay.kind == SUBSCRIPTION_RELAY) ||
           error_set(err, ERROR_REQUEST, "bus.unknown", "there is no bus %.*s", STR_ARG(bus));
}

static bool audit_fed_within(const struct invocation *invocation, struct session *session,
                             struct store *sink, struct json_writer *w, enum exit_code *code,
                             struct error *err)
{
    struct audit_request request = { .store = session->store,
                                     .sink = sink,
                                     .offsets = session->store,
                                     .key = { SUBSCRIPTION_GROUP,
                                              str_of(invocation_value(invocation, "bus")) } };
    struct audited audited = { .name = str_of(invocation->operands[0]) };
    struct projection_tables tables;
    struct sink_projection stored;
    struct projection projection;
    bool ok;

    if (!find_relay(session, request.key.subscription, err) ||
        !find_fed(session, sink, audited.name, &stored, err) ||
        !projection_open(&projection, stored.json, err))
        return false;
    audited.spec = request.spec = &projection.spec;
    ok = projection_tables_open(&tables, &projection, sink, stored.hash, err);
    if (ok) {
        request.tables = tables.tables;
        ok = audit_within(&request, &projection, &session->arena,
                          invocation_flag(invocation, "repair"), &audited, err) &&
             show_audited(invocation, session, &audited, w, code, err);
    }
    projection_close(&projection);
    return ok;
}

static bool audit_fed(const struct invocation *invocation, struct session *session,
                      struct json_writer *w, enum exit_code *code, struct error *err)
{
    const char *address = invocation_value(invocation, "sink");
    struct store *sink;
    bool ok;

    if (address == NULL || invocation_value(invocation, "bus") == NULL ||
        invocation->operand_count == 0)
        return command_misused(err, "--bus, --sink and the name of a projection go together");
    if (!sink_open(NULL, str_of(address), &session->secrets.source, clock_now_us(&session->clock),
                   &sink, err))
        return false;
    ok = audit_fed_within(invocation, session, sink, w, code, err);
    store_close(sink);
    return ok;
}

/* ---- all of them ---- */

static bool audit_row(const struct invocation *invocation, struct session *session,
                      const struct subscription *row, struct json_writer *w, enum exit_code *code,
                      struct error *err)
{
    const bool repairs = invocation_flag(invocation, "repair");
    struct audited audited = { .name = row->name };
    struct projection projection;
    bool ok;

    if (!projection_open(&projection, row->spec, err))
        return error_wrap(err, "projection %.*s", STR_ARG(row->name));
    audited.spec = &projection.spec;
    ok = audit_one(session, row, &projection, repairs, &audited, err);
    ok = ok && show_audited(invocation, session, &audited, w, code, err);
    projection_close(&projection);
    return ok;
}

static bool audit_named(const struct invocation *invocation, struct session *session,
                        struct json_writer *w, enum exit_code *code, struct error *err)
{
    const struct str name = str_of(invocation->operand_count > 0 ? invocation->operands[0] : NULL);
    struct projection_spec spec;
    struct subscription_list all;
    struct subscription row;

    if (invocation_value(invocation, "sink") != NULL || invocation_value(invocation, "bus") != NULL)
        return audit_fed(invocation, session, w, code, err);
    if (name.len > 0)
        return projection_find(session, name, &row, &spec, err) &&
               audit_row(invocation, session, &row, w, code, err);
    if (!store_subscription_list(session->store, &session->arena, &all, err))
        return false;
    for (size_t i = 0; i < all.count; i++) {
        if (all.items[i].kind == SUBSCRIPTION_PROJECTION &&
            !audit_row(invocation, session, &all.items[i], w, code, err))
            return false;
    }
    return true;
}

static bool audit(const struct invocation *invocation, struct session *session,
                  enum exit_code *code, struct error *err)
{
    struct output output;
    struct json_writer *w = output_begin(&output, &session->arena);

    json_write_array(w);
    if (!audit_named(invocation, session, w, code, err))
        return false;
    json_write_end(w);
    return !invocation_flag(invocation, "json") || output_end(&output, invocation->out, err);
}

static enum exit_code cmd_audit(const struct invocation *invocation)
{
    return session_run(invocation, audit);
}

const struct command COMMAND_AUDIT = {
    .name = "audit",
    .summary = "compare the tables of projections with the records",
    .operands = "[PROJECTION]",
    .operands_max = 1,
    .description =
        "Compares every key and version in the tables of a projection, or of all, with the\n"
        "records of the store, and names what differs: missing (no row), stale (an older\n"
        "version), extra (a key or version that the store does not have, or a row that is gone\n"
        "without a reason), revived (a row of a deleted record). What is under way or parked is\n"
        "not a difference, and is counted. With --repair the newest event of each key that\n"
        "differs is applied again. Consumers may run meanwhile. The exit code is 1 if something\n"
        "differs and was not repaired. See docs/projections.md.\n"
        "\n"
        "With --bus and --sink, the tables are those that patra consume --bus --sink fills: what\n"
        "the relay has handed to the bus, and the tables do not have, was lost by the bus, or is\n"
        "not consumed yet.",
    .options = { { "bus", "NAME", "Of a projection that is consumed from a bus: the bus ..." },
                 { "sink", "DSN", "... and the database of its tables." },
                 { "repair", NULL, "Apply the newest events of what differs again." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_audit,
};
