/* The privileges of each role. */
#include "core/grants.h"

#include <stdint.h>
#include <string.h>

#include "base/attr.h"

static const char *const ROLE_NAMES[] = {
#define GRANT_NAME(id, name) name,
    GRANT_ROLES(GRANT_NAME)
#undef GRANT_NAME
};

const char *grant_role_name(enum grant_role role)
{
    return ROLE_NAMES[role];
}

bool grant_role_find(struct str name, enum grant_role *role)
{
    for (size_t i = 0; i < ARRAY_LEN(ROLE_NAMES); i++) {
        if (str_eq(name, str_of(ROLE_NAMES[i]))) {
            *role = (enum grant_role)i;
            return true;
        }
    }
    return false;
}

/* ---- the table ---- */

#define TABLE(name, planner, executor, publisher, consumer, reader) \
    {                                                               \
        name, false,                                                \
        {                                                           \
            planner, executor, publisher, consumer, reader          \
        }                                                           \
    }
#define SEQUENCE(name, planner, executor, publisher, consumer, reader) \
    {                                                                  \
        name, true,                                                    \
        {                                                              \
            planner, executor, publisher, consumer, reader             \
        }                                                              \
    }
#define _ NULL

/* clang-format off */
const struct grant_row grant_rows[] = {
    /*                                   planner executor publisher consumer reader */
    /* Who opens the store checks its schema. */
    TABLE("schema_migration",            "S",    "S",     "S",      "S",     "S"),
    TABLE("sys_dict_item",               "S",    "S",     "S",      "S",     "S"),
    TABLE("sys_dict_type",               _,      _,       _,        _,       "S"),
    TABLE("sys_clock",                   "SIU",  "SIU",   "S",      "S",     "S"),
    TABLE("sys_store",                   _,      _,       _,        _,       "S"), /* tokens of exports */
    /* Sources. */
    TABLE("reg_provenance",              "S",    "S",     _,        _,       "S"),
    TABLE("reg_prov_endpoint_def",       "S",    "S",     _,        _,       "S"),
    TABLE("reg_prov_operation_cfg",      "S",    "S",     _,        _,       "S"),
    TABLE("reg_prov_window_offset_cfg",  "S",    "S",     _,        _,       "S"),
    TABLE("reg_prov_pagination_cfg",     "S",    "S",     _,        _,       "S"),
    TABLE("reg_prov_http_cfg",           "S",    "S",     _,        _,       "S"),
    TABLE("reg_prov_batching_cfg",       "S",    "S",     _,        _,       "S"),
    TABLE("reg_prov_retry_cfg",          "S",    "S",     _,        _,       "S"),
    TABLE("reg_prov_rate_limit_cfg",     "S",    "S",     _,        _,       "S"),
    TABLE("reg_prov_credential",         "S",    "S",     _,        _,       "S"), /* references only */
    TABLE("reg_prov_expr_capability",    "S",    "S",     _,        _,       "S"),
    TABLE("reg_prov_expr_render_rule",   "S",    "S",     _,        _,       "S"),
    TABLE("reg_prov_api_param_map",      "S",    "S",     _,        _,       "S"),
    TABLE("reg_expr_field_dict",         "S",    "S",     _,        _,       "S"),
    /* Planning and running. */
    TABLE("ing_schedule_instance",       "SI",   "S",     _,        _,       _),
    TABLE("ing_schedule_tick",           "SIU",  _,       _,        _,       "S"),
    TABLE("ing_plan",                    "SIU",  "SIU",   "S",      "S",     "S"),
    TABLE("ing_plan_slice",              "SIU",  "SIU",   _,        _,       "S"),
    TABLE("ing_task",                    "SIU",  "SIU",   _,        _,       "S"),
    TABLE("ing_task_run",                "SU",   "SIU",   _,        _,       "S"),
    TABLE("ing_task_run_batch",          "S",    "SI",    "S",      "S",     "S"),
    TABLE("ing_cursor",                  "SIU",  "SIU",   _,        _,       "S"),
    TABLE("ing_cursor_event",            "SI",   "SI",    _,        _,       "S"),
    TABLE("ing_reslice_request",         "SIU",  "SIU",   _,        _,       "S"),
    TABLE("ing_listed_id",               "S",    "SI",    _,        _,       "S"),
    TABLE("ing_signal",                  "SU",   "SIU",   _,        _,       "S"),
    TABLE("ing_pause",                   "S",    "SI",    _,        _,       "S"),
    TABLE("ing_rate_gate",               "S",    "SIU",   _,        _,       "S"),
    TABLE("ing_rate_quota",              "S",    "SIU",   _,        _,       "S"),
    TABLE("ing_rate_permit",             "SUD",  "SIUD",  _,        _,       _),
    /* Records. */
    TABLE("ing_expr",                    "SI",   "S",     _,        _,       "S"),
    TABLE("ing_record",                  "S",    "S",     "S",      "S",     "S"), /* a view */
    TABLE("ing_record_state",            "S",    "SIU",   "S",      "S",     "S"),
    TABLE("ing_record_endpoint",         "S",    "SI",    "S",      "S",     "S"),
    TABLE("ing_record_expr",             "SI",   "SI",    "S",      "S",     "S"),
    TABLE("ing_record_tally",            "S",    "SI",    "S",      "S",     "S"), /* the owner folds */
    TABLE("ing_record_content",          "S",    "SIU",   _,        _,       "S"),
    TABLE("ing_record_fields",           _,      "SIU",   _,        _,       _), /* readers: the views */
    TABLE("ing_child_fetch",             "S",    "SIU",   _,        _,       _),
    TABLE("ing_quarantine",              "S",    "SIU",   _,        _,       "S"),
    TABLE("ing_archive_dictionary",      "S",    "SI",    _,        _,       "S"),
    TABLE("ing_archive_body",            _,      "SIUD",  _,        _,       "S"),
    TABLE("ing_view",                    _,      _,       _,        _,       "S"), /* and every view, see below */
    SEQUENCE("ing_record_state_id_seq",  _,      "G",     _,        _,       _),
    /* Events: added, read and removed, never changed. */
    TABLE("ing_outbox",                  "S",    "I",     "SID",    "S",     "S"),
    SEQUENCE("ing_outbox_id_seq",        "S",    _,       "S",      _,       "S"),
    TABLE("ing_stream",                  "S",    _,       "SID",    "S",     "S"),
    TABLE("ing_stream_head",             "S",    "S",     "SU",     "S",     "S"),
    TABLE("ing_stream_lane",             "S",    _,       "SU",     "S",     "S"),
    /* Alerts: the planner's process looks at everything, and sends. */
    TABLE("reg_alert_receiver",          "S",    _,       _,        _,       "S"), /* references only */
    TABLE("reg_alert_rule",              "S",    _,       _,        _,       "S"),
    TABLE("ing_alert",                   "SIUD", _,       _,        _,       "S"),
    TABLE("ing_alert_notice",            "SIUD", _,       _,        _,       "S"),
    TABLE("ing_alert_silence",           "S",    _,       _,        _,       "S"),
    TABLE("ing_evidence_pack",           _,      _,       _,        _,       "S"),
    TABLE("ing_retained_file",           _,      _,       _,        _,       "S"), /* the owner removes */
    TABLE("ing_alert_turn",              "SIU",  _,       _,        _,       _),
    /* The HTTP API, which runs as the owner: hashes of tokens concern nobody else. */
    TABLE("sys_token",                   _,      _,       _,        _,       _),
    TABLE("sys_answer",                  _,      _,       _,        _,       _),
    /* Subscriptions. */
    TABLE("ing_subscription",            "S",    _,       "SU",     "SU",    "S"),
    TABLE("ing_offset",                  "S",    _,       "SU",     "SIU",   "S"),
    TABLE("ing_offset_reset",            _,      _,       "SI",     "SI",    "S"),
    TABLE("ing_reader",                  "S",    _,       "SIUD",   "SIUD",  "S"),
    TABLE("ing_parked",                  "S",    _,       "SIUD",   "SIUD",  "S"),
    TABLE("ing_dead_letter",             "S",    _,       "SIU",    "SIU",   "S"),
    TABLE("ing_projection",              "S",    _,       _,        "SIU",   "S"),
    TABLE("ing_inbox",                   _,      _,       _,        "SID",   _),
};
/* clang-format on */
#undef _

const size_t grant_rows_count = ARRAY_LEN(grant_rows);

/* ---- the script ---- */

bool grants_name_ok(struct str name)
{
    const size_t most = 48; /* of the 63 characters of a name */

    if (name.len == 0 || name.len > most || (name.data[0] >= '0' && name.data[0] <= '9'))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.data[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_')
            return false;
    }
    return true;
}

static const char *privilege_of(char letter)
{
    switch (letter) {
    case 'S':
        return "SELECT";
    case 'I':
        return "INSERT";
    case 'U':
        return "UPDATE";
    case 'D':
        return "DELETE";
    default:
        return "USAGE";
    }
}

static void write_row(struct buf *out, const struct grants_request *request,
                      const struct grant_row *row, const char *role)
{
    const char *letters = row->roles[request->role];

    if (letters == NULL)
        return;
    buf_add(out, STR("GRANT "));
    for (const char *letter = letters; *letter != '\0'; letter++)
        buf_printf(out, "%s%s", letter > letters ? ", " : "", privilege_of(*letter));
    buf_printf(out, " ON %s\"%.*s\".%s TO \"%.*s%s\";\n", row->is_sequence ? "SEQUENCE " : "",
               STR_ARG(request->schema), row->name, STR_ARG(request->prefix), role);
}

/* The views that are there; later ones get what ing_view has (adapter/postgres/dialect.c). */
static void write_views(struct buf *out, const struct grants_request *request)
{
    buf_printf(out,
               "DO $$ DECLARE name text; BEGIN\n"
               "    FOR name IN SELECT view_name FROM \"%.*s\".ing_view LOOP\n"
               "        EXECUTE format('GRANT SELECT ON \"%.*s\".%%I TO \"%.*sreader\"', name);\n"
               "    END LOOP;\n"
               "END $$;\n",
               STR_ARG(request->schema), STR_ARG(request->schema), STR_ARG(request->prefix));
}

/* The tables of projections that are there, their children, and their keys without a row. */
static void write_projections(struct buf *out, const struct grants_request *request,
                              const char *privileges)
{
    buf_printf(
        out,
        "DO $$ DECLARE t record; BEGIN\n"
        "    FOR t IN WITH p AS (SELECT coalesce(nullif(spec::jsonb ->> 'schema', ''), "
        "'%.*s') AS schema,\n"
        "            e.key AS name, e.value FROM \"%.*s\".ing_projection,\n"
        "            jsonb_each(spec::jsonb -> 'tables') AS e),\n"
        "        a AS (SELECT schema, name FROM p UNION SELECT schema, name || '__gone' FROM "
        "p\n"
        "            UNION SELECT schema, c FROM p, jsonb_object_keys(coalesce(value -> "
        "'children', '{}')) AS c)\n"
        "        SELECT * FROM a WHERE to_regclass(format('%%I.%%I', schema, name)) IS NOT "
        "NULL\n"
        "    LOOP\n"
        "        EXECUTE format('GRANT %s ON %%I.%%I TO \"%.*s%s\"', t.schema, t.name);\n"
        "    END LOOP;\n"
        "END $$;\n",
        STR_ARG(request->schema), STR_ARG(request->schema), privileges, STR_ARG(request->prefix),
        grant_role_name(request->role));
}

static void write_role(struct buf *out, const struct grants_request *request)
{
    const char *role = grant_role_name(request->role);
    const struct str prefix = request->prefix, schema = request->schema;

    buf_printf(out,
               "\n-- %s\n"
               "DO $$ BEGIN\n"
               "    CREATE ROLE \"%.*s%s\" NOLOGIN;\n"
               "EXCEPTION WHEN duplicate_object THEN\n"
               "    NULL; -- it is there\n"
               "END $$;\n"
               "REVOKE ALL ON ALL TABLES IN SCHEMA \"%.*s\" FROM \"%.*s%s\";\n"
               "REVOKE ALL ON ALL SEQUENCES IN SCHEMA \"%.*s\" FROM \"%.*s%s\";\n"
               "GRANT USAGE ON SCHEMA \"%.*s\" TO \"%.*s%s\";\n",
               role, STR_ARG(prefix), role, STR_ARG(schema), STR_ARG(prefix), role, STR_ARG(schema),
               STR_ARG(prefix), role, STR_ARG(schema), STR_ARG(prefix), role);
    for (size_t i = 0; i < grant_rows_count; i++)
        write_row(out, request, &grant_rows[i], role);
    if (request->role == GRANT_READER) {
        write_views(out, request);
        write_projections(out, request, "SELECT");
    }
    if (request->role == GRANT_CONSUMER)
        write_projections(out, request, "SELECT, INSERT, UPDATE, DELETE");
}

void grants_write(struct buf *out, const struct grants_request *request)
{
    struct grants_request each = *request;

    buf_add(out, STR("-- Run as the owner of the tables, after patra init: psql -f. It may be run "
                     "again.\nBEGIN;\n"));
    for (int role = 0; role < GRANT_ROLE_COUNT; role++) {
        each.role = (enum grant_role)role;
        if (!request->only || each.role == request->role)
            write_role(out, &each);
    }
    buf_add(out, STR("COMMIT;\n"));
}
