/* patra projection list, show, export and remove. */
#include "cmd/projection/projection.h"

#include <inttypes.h>

#include "cli/columns.h"
#include "cli/confirm.h"
#include "cli/output.h"
#include "data/json_write.h"
#include "port/store_offset.h"
#include "port/store_sink.h"
#include "view/projection.h"

bool projection_find(struct session *session, struct str name, struct subscription *row,
                     struct projection_spec *spec, struct error *err)
{
    bool found;

    if (!store_subscription_find(session->store, &session->arena, name, row, &found, err))
        return false;
    if (!found || row->kind != SUBSCRIPTION_PROJECTION)
        return error_set(err, ERROR_REQUEST, "projection.unknown",
                         "there is no projection %.*s: patra projection list shows those that are "
                         "applied",
                         STR_ARG(name));
    return projection_load(&session->arena, row->spec, spec, err) ||
           error_wrap(err, "projection %.*s", STR_ARG(name));
}

#define JSON_OPTION                 \
    {                               \
        "json", NULL, "Print JSON." \
    }

/* ---- list ---- */

static struct str tables_of(struct arena *arena, const struct projection_spec *spec)
{
    struct buf out;

    buf_init(&out, arena, OUTPUT_BYTES_MAX);
    for (size_t i = 0; i < spec->table_count; i++) {
        buf_printf(&out, "%s%.*s", i > 0 ? ", " : "", STR_ARG(spec->tables[i].name));
        for (size_t k = 0; k < spec->tables[i].child_count; k++)
            buf_printf(&out, ", %.*s", STR_ARG(spec->tables[i].children[k].name));
    }
    return buf_str(&out);
}

static void print_row(struct columns *columns, struct arena *arena, const struct subscription *row)
{
    struct projection_spec spec;
    struct error fault;
    const bool ok = projection_load(arena, row->spec, &spec, &fault);

    columns_cell(columns, row->name);
    columns_cell(columns, ok ? spec.database : STR("?"));
    columns_cell(columns, ok ? tables_of(arena, &spec) : STR("?"));
    columns_cell(columns, code_of(&SUBSCRIPTION_STATE_CODES, (int)row->state));
    columns_cell(columns, code_of(&SUBSCRIPTION_POLICY_CODES, (int)row->policy));
    columns_instant(columns, row->updated_us);
    columns_note(columns, row->state_reason);
}

static bool list_all(const struct invocation *invocation, struct session *session,
                     enum exit_code *code, struct error *err)
{
    static const char *const heads[] = { "PROJECTION", "DATABASE",   "TABLES",
                                         "STATE",      "ON FAILURE", "SINCE" };
    struct subscription_list list;
    struct columns columns;
    struct output output;

    (void)code;
    if (!store_subscription_list(session->store, &session->arena, &list, err))
        return false;
    if (invocation_flag(invocation, "json")) {
        view_projection_list_write(output_begin(&output, &session->arena), &list);
        return output_end(&output, invocation->out, err);
    }
    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].kind == SUBSCRIPTION_PROJECTION)
            print_row(&columns, &session->arena, &list.items[i]);
    }
    return columns_print(&columns, invocation->out, err);
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_all);
}

static const struct command list = {
    .name = "list",
    .summary = "list the projections",
    .operands_max = 0,
    .description = "Lists the applied projections with their tables, where these are, and what\n"
                   "happens to events that cannot be applied. patra outbox status shows how far\n"
                   "each of them is.",
    .options = { JSON_OPTION, SESSION_OPTION },
    .run = cmd_list,
};

/* ---- show and export ---- */

static bool print_file(const struct invocation *invocation, struct session *session,
                       const struct subscription *row, struct error *err)
{
    struct buf text;

    buf_init(&text, &session->arena, OUTPUT_BYTES_MAX);
    return projection_print(&session->arena, row->spec, &text, err) &&
           output_text(invocation->out, &text, err);
}

static bool show_one(const struct invocation *invocation, struct session *session,
                     enum exit_code *code, struct error *err)
{
    struct projection_spec spec;
    struct subscription row;
    struct output output;

    (void)code;
    if (!projection_find(session, str_of(invocation->operands[0]), &row, &spec, err))
        return false;
    if (invocation_flag(invocation, "json")) {
        view_projection_write(output_begin(&output, &session->arena), &row);
        return output_end(&output, invocation->out, err);
    }
    fprintf(invocation->talk, "%.*s: %.*s%s%.*s\n", STR_ARG(row.name),
            STR_ARG(code_of(&SUBSCRIPTION_STATE_CODES, (int)row.state)),
            row.state_reason.len > 0 ? ": " : "", STR_ARG(row.state_reason));
    return print_file(invocation, session, &row, err);
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return session_run(invocation, show_one);
}

static const struct command show = {
    .name = "show",
    .summary = "print a projection with all of its settings",
    .operands = "PROJECTION",
    .operands_min = 1,
    .operands_max = 1,
    .description = "Prints the projection in force as a file, with the settings that have their\n"
                   "default, and its state.",
    .options = { JSON_OPTION, SESSION_OPTION },
    .run = cmd_show,
};

static bool export_one(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    struct projection_spec spec;
    struct subscription row;

    (void)code;
    return projection_find(session, str_of(invocation->operands[0]), &row, &spec, err) &&
           print_file(invocation, session, &row, err);
}

static enum exit_code cmd_export(const struct invocation *invocation)
{
    return session_run(invocation, export_one);
}

static const struct command export_command = {
    .name = "export",
    .summary = "print a projection as a file",
    .operands = "PROJECTION",
    .operands_min = 1,
    .operands_max = 1,
    .description = "Prints the file of the projection in force, and nothing else: applying it\n"
                   "changes nothing.",
    .options = { SESSION_OPTION },
    .run = cmd_export,
};

/* ---- remove ---- */

static bool tell(const struct invocation *invocation, struct session *session,
                 const struct projection_spec *spec, struct error *err)
{
    const struct offset_key key = { SUBSCRIPTION_GROUP, spec->name };
    struct offset_state_list lanes;
    int64_t waiting = 0;

    if (!store_offset_states(session->store, &session->arena, &key, &lanes, err))
        return false;
    for (size_t i = 0; i < lanes.count; i++)
        waiting += lanes.items[i].last_pos - lanes.items[i].pos;
    fprintf(invocation->talk,
            "%.*s\n"
            "  tables     %.*s: dropped with all rows, but for those that are not managed\n"
            "  events     %" PRId64 " in the stream are not applied yet, and will not be\n"
            "  offsets    how far it is will be forgotten, and its parked keys too\n",
            STR_ARG(spec->name), STR_ARG(tables_of(&session->arena, spec)), waiting);
    return true;
}

static bool remove_one(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    struct projection_spec spec;
    struct subscription row;
    struct store *sink = NULL;
    bool removed = false, ok;

    (void)code;
    if (!projection_find(session, str_of(invocation->operands[0]), &row, &spec, err) ||
        !tell(invocation, session, &spec, err) || !confirm(invocation, "Remove it?", err) ||
        !projection_sink_open(session, &spec, &sink, err))
        return false;
    /* The subscription first: whoever has its lanes can save nothing any more. */
    ok = store_subscription_remove(session->store, row.name, &removed, err) &&
         store_sink_remove(sink, &session->arena, &spec, err);
    projection_sink_close(session, sink);
    if (ok)
        fprintf(invocation->out, "%.*s: %s\n", STR_ARG(row.name),
                removed ? "removed" : "was removed by somebody else");
    return ok;
}

static enum exit_code cmd_remove(const struct invocation *invocation)
{
    return session_run(invocation, remove_one);
}

static const struct command remove_command = {
    .name = "remove",
    .summary = "remove a projection with its tables",
    .operands = "PROJECTION",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Drops the tables that patra made for a projection and forgets it with its offsets and\n"
        "parked keys. Says what is lost, and asks first. Tables of your own stay as they are.",
    .options = { { "yes", NULL, "Do not ask." }, SESSION_OPTION },
    .run = cmd_remove,
};

static const struct command *const children[] = {
    &COMMAND_PROJECTION_LINT,
    &COMMAND_PROJECTION_APPLY,
    &COMMAND_PROJECTION_DIFF,
    &list,
    &show,
    &export_command,
    &COMMAND_PROJECTION_REBUILD,
    &COMMAND_PROJECTION_ROLLBACK,
    &remove_command,
    NULL,
};

const struct command COMMAND_PROJECTION = {
    .name = "projection",
    .summary = "tables that are made of events",
    .description =
        "A projection makes the rows of tables of events: which columns, of which events, in\n"
        "which database. It is described by one YAML file: see docs/projections.md.",
    .children = children,
};
