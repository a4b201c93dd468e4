/* patra source show: the parts of a source, its effective values, its snapshots. */
#include <inttypes.h>

#include "base/buf.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cmd/source/source.h"
#include "data/date.h"
#include "engine/source/source_store.h"
#include "spec/resolve.h"
#include "spec/setting_value.h"
#include "spec/snapshot.h"
#include "spec/source_diff.h"
#include "spec/spec.h"

/* The short form of a fingerprint, enough to distinguish versions. */
enum { FINGERPRINT_SHOWN = 12 };

static struct str text_of(const struct registry_row *row, const char *column)
{
    const int i = registry_column(row->table, str_of(column));

    return row->values[i].is_set ? row->values[i].text : STR("");
}

/* ---- what a source is made of ---- */

static bool show_endpoints(const struct source *source, struct arena *arena, FILE *out,
                           struct error *err)
{
    static const char *const heads[] = { "ENDPOINT", "ROLE", "METHOD", "PATH", "PAGING" };
    struct columns columns;

    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (const struct registry_row *row = source_next_endpoint(source, NULL); row != NULL;
         row = source_next_endpoint(source, row)) {
        struct resolution resolution;

        if (!resolve(arena,
                     &(struct resolve_request){ .source = source, .endpoint = row->endpoint },
                     &resolution, err))
            return false;
        columns_cell(&columns, row->endpoint);
        columns_cell(&columns, resolution_text(&resolution, "role"));
        columns_cell(&columns, resolution_text(&resolution, "method"));
        columns_cell(&columns, resolution_text(&resolution, "path"));
        columns_cell(&columns, resolution_text(&resolution, "page.type"));
    }
    return columns_print(&columns, out, err);
}

static struct str schedule_of(const struct registry_row *operation, struct arena *arena)
{
    const struct setting *every = setting_find(AT_OPERATION, STR("every"));
    const struct registry_value *value = &operation->values[setting_column(every)];
    struct buf text;

    if (!value->is_set)
        return text_of(operation, "cron").len > 0 ? text_of(operation, "cron") : STR("by hand");
    buf_init(&text, arena, 64);
    buf_add(&text, STR("every "));
    setting_print(every, value, &text);
    return buf_str(&text);
}

/* The ends of the window that requests send. A slice is not divided by time unless both are. */
static const char *bounds_of(const struct spec *spec)
{
    const struct spec_window *window = &spec->endpoint.window;

    if (window->sends_from && window->sends_to)
        return "window.from, window.to";
    if (window->sends_from)
        return "window.from only";
    return window->sends_to ? "window.to only" : "no window";
}

static bool show_operations(const struct source *source, struct arena *arena, FILE *out,
                            struct error *err)
{
    static const char *const heads[] = { "OPERATION", "ENDPOINT", "SCHEDULE", "FINGERPRINT",
                                         "REQUESTS SEND" };
    struct columns columns;

    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (const struct registry_row *row = source_next_operation(source, NULL); row != NULL;
         row = source_next_operation(source, row)) {
        struct snapshot snapshot;
        struct spec spec;

        if (!snapshot_make(arena,
                           &(struct snapshot_request){ .source = source, .operation = row->key },
                           &snapshot, err) ||
            !spec_read(arena, snapshot.json, &spec, err))
            return false;
        columns_cell(&columns, row->key);
        columns_cell(&columns, text_of(row, "target_endpoint"));
        columns_cell(&columns, schedule_of(row, arena));
        columns_cell(&columns,
                     arena_printf(arena, "%.*s", FINGERPRINT_SHOWN, snapshot.fingerprint));
        columns_cell(&columns, str_of(bounds_of(&spec)));
    }
    return columns_print(&columns, out, err);
}

static bool show_summary(const struct source *source, struct arena *arena, FILE *out,
                         struct error *err)
{
    int64_t version = 0;

    for (size_t i = 0; i < source->registry.count; i++) {
        if (source->registry.rows[i].version > version)
            version = source->registry.rows[i].version;
    }
    fprintf(out, "%.*s, version %" PRId64 ", %zu rows\n\n", STR_ARG(source->registry.code), version,
            source->registry.count);
    if (!show_endpoints(source, arena, out, err))
        return false;
    fprintf(out, "\n");
    return show_operations(source, arena, out, err);
}

/* ---- effective values, and where they come from ---- */

static void add_value(struct columns *columns, struct str name, const struct setting *setting,
                      const struct registry_value *value, enum origin origin)
{
    struct buf text;

    buf_init(&text, columns->arena, OUTPUT_BYTES_MAX);
    setting_print(setting, value, &text);
    columns->failed |= text.failed;
    columns_cell(columns, name);
    columns_cell(columns, value->is_template ? STR("template") : str_of(origin_name(origin)));
    columns_cell(columns, buf_str(&text));
}

static void add_named(struct columns *columns, const struct registry_row *row)
{
    const size_t count = registry_table(row->table)->column_count;

    for (size_t i = 0; i < count; i++) {
        const struct setting *setting = source_setting(row, (int)i);
        struct buf name;

        if (setting == NULL || !row->values[i].is_set)
            continue;
        buf_init(&name, columns->arena, OUTPUT_BYTES_MAX);
        source_print_field(row, (int)i, &name);
        columns->failed |= name.failed;
        add_value(columns, buf_str(&name), setting, &row->values[i],
                  row->endpoint.len > 0 ? ORIGIN_CONFIG : ORIGIN_SOURCE);
    }
}

/* Rows whose names the author of the source chose: parameters, expressions, rules, fields. */
static bool add_all_named(struct columns *columns, const struct resolution *resolution,
                          struct error *err)
{
    for (size_t i = 0; i < SETTING_SET_COUNT; i++) {
        struct row_list rows;

        if (!resolution_rows(columns->arena, resolution, row_filter_of(&SETTING_SETS[i]), &rows,
                             err))
            return false;
        for (size_t k = 0; k < rows.count; k++)
            add_named(columns, rows.items[k]);
    }
    return true;
}

/* ---- operation by operation ---- */

struct operation_show {
    const struct source *source;
    const char *name; /* of the operation; NULL = each */
    struct arena *arena;
    FILE *out;
    bool (*one)(const struct operation_show *show, const struct registry_row *operation,
                struct error *err);
};

static bool show_resolved(const struct operation_show *show, const struct registry_row *operation,
                          struct error *err)
{
    static const char *const heads[] = { "SETTING", "FROM", "VALUE" };
    const struct str endpoint = text_of(operation, "target_endpoint");
    struct resolution resolution;
    struct columns columns;

    if (!resolve(show->arena,
                 &(struct resolve_request){
                     .source = show->source, .endpoint = endpoint, .operation = operation },
                 &resolution, err))
        return false;
    fprintf(show->out, "%.*s/%.*s, endpoint %.*s\n", STR_ARG(show->source->registry.code),
            STR_ARG(operation->key), STR_ARG(endpoint));
    columns_init(&columns, show->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const struct resolved *resolved = &resolution.values[i];

        if (resolved->value.is_set)
            add_value(&columns, str_of(SETTINGS[i].path), &SETTINGS[i], &resolved->value,
                      resolved->origin);
    }
    if (!add_all_named(&columns, &resolution, err))
        return false;
    return columns_print(&columns, show->out, err);
}

static bool show_snapshot(const struct operation_show *show, const struct registry_row *operation,
                          struct error *err)
{
    struct snapshot snapshot;

    if (!snapshot_make(
            show->arena,
            &(struct snapshot_request){ .source = show->source, .operation = operation->key },
            &snapshot, err))
        return false;
    fprintf(show->out,
            "{\"exprProtoHash\":\"%s\",\"mappingHash\":\"%s\",\"queryHash\":\"%s\","
            "\"snapshot\":%.*s,\"specFingerprint\":\"%s\"}\n",
            snapshot.expr_proto_hash, snapshot.mapping_hash, snapshot.query_hash,
            STR_ARG(snapshot.json), snapshot.fingerprint);
    return true;
}

/* The summary covers all operations; this only checks that a named one exists. */
static bool check_exists(const struct operation_show *show, const struct registry_row *operation,
                         struct error *err)
{
    (void)show, (void)operation, (void)err;
    return true;
}

/* Shows the named operation, or each one. */
static bool each_operation(const struct operation_show *show, struct error *err)
{
    const struct source *source = show->source;
    const struct registry_row *row;

    if (show->name != NULL) {
        row = source_find_operation(source, str_of(show->name));
        if (row == NULL)
            return source_lacks_operation(source, str_of(show->name), err);
        return show->one(show, row, err);
    }
    for (row = source_next_operation(source, NULL); row != NULL;
         row = source_next_operation(source, row)) {
        if (!show->one(show, row, err))
            return false;
    }
    return true;
}

static bool instant_of(const struct invocation *invocation, struct session *session, int64_t *at_us,
                       struct error *err)
{
    const char *given = invocation_value(invocation, "at");
    struct date date;

    *at_us = clock_now_us(&session->clock);
    if (given == NULL)
        return true;
    if (!date_parse(date_format_find(STR("auto")), str_of(given), &date, err))
        return command_misused(
            err, "--at: '%s' is not a date, such as 2026-01-31 or 2026-01-31T10:00:00Z", given);
    *at_us = date.at_us;
    return true;
}

static bool show(const struct invocation *invocation, struct session *session, struct error *err)
{
    struct source source;
    struct operation_show operations = {
        .source = &source,
        .name = invocation->operand_count > 1 ? invocation->operands[1] : NULL,
        .arena = &session->arena,
        .out = invocation->out,
        .one = check_exists,
    };
    int64_t at_us;

    if (!instant_of(invocation, session, &at_us, err))
        return false;
    if (!source_load(session->store, &session->arena, str_of(invocation->operands[0]), at_us,
                     &source, err))
        return false;
    if (invocation_flag(invocation, "json"))
        operations.one = show_snapshot;
    else if (invocation_flag(invocation, "resolved"))
        operations.one = show_resolved;
    if (!each_operation(&operations, err))
        return false;
    return operations.one != check_exists ||
           show_summary(&source, &session->arena, invocation->out, err);
}

static enum exit_code cmd_source_show(const struct invocation *invocation)
{
    struct session session = { 0 };
    enum exit_code code = EXIT_DONE;
    struct error err;

    if (!session_open(&session, invocation, &err) || !show(invocation, &session, &err))
        code = command_failed(invocation, &err);
    session_close(&session);
    return code;
}

const struct command COMMAND_SOURCE_SHOW = {
    .name = "show",
    .summary = "show a source: endpoints, operations, effective values, snapshots",
    .operands = "SOURCE [OPERATION]",
    .operands_min = 1,
    .operands_max = 2,
    .description =
        "Shows the endpoints and operations of a source in force. With --resolved, shows every\n"
        "effective value of an operation and where it comes from: built-in, source, endpoint,\n"
        "config or trigger. With --json, prints the snapshot that a plan of the operation would\n"
        "carry and its fingerprints, one line per operation.",
    .options = { SESSION_OPTION,
                 { "resolved", NULL, "Show every effective value and where it comes from." },
                 { "json", NULL, "Print the snapshot and its fingerprints as JSON." },
                 { "at", "INSTANT", "Show the source as it was in force at this instant." } },
    .run = cmd_source_show,
};
