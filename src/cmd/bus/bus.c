/* patra bus apply, diff, list, show and remove. */
#include "cmd/bus/bus.h"

#include <inttypes.h>

#include "adapter/bus_open.h"
#include "cli/columns.h"
#include "cli/confirm.h"
#include "cli/output.h"
#include "cli/who.h"
#include "port/store_offset.h"
#include "spec/bus.h"
#include "view/bus.h"

#define CREATE_TIMEOUT_US (30 * US_PER_SECOND)

struct str bus_type_word(enum bus_type type)
{
    static const struct str words[] = { [BUS_TYPE_NATS] = STR_INIT("nats"),
                                        [BUS_TYPE_PUBSUB] = STR_INIT("pubsub"),
                                        [BUS_TYPE_KAFKA] = STR_INIT("kafka"),
                                        [BUS_TYPE_WEBHOOK] = STR_INIT("webhook") };
    return words[type];
}

bool bus_find(struct session *session, struct str name, struct subscription *row,
              struct bus_spec *spec, struct error *err)
{
    bool found;

    if (!store_subscription_find(session->store, &session->arena, name, row, &found, err))
        return false;
    if (!found || row->kind != SUBSCRIPTION_RELAY)
        return error_set(err, ERROR_REQUEST, "bus.unknown",
                         "there is no bus %.*s: patra bus list shows those that are applied",
                         STR_ARG(name));
    return bus_load(&session->arena, row->spec, spec, err) ||
           error_wrap(err, "bus %.*s", STR_ARG(name));
}

/* ---- apply ---- */

static bool create_target(const struct invocation *invocation, struct session *session,
                          const struct bus_spec *spec, struct error *err)
{
    const struct bus_parts parts = { spec, &session->secrets.source, &session->clock };
    struct bus *bus;
    bool made = false, ok;

    if (!bus_open(&parts, &bus, err))
        return error_wrap(err, "bus %.*s", STR_ARG(spec->name));
    if ((bus->capabilities & BUS_CREATE) == 0) {
        bus_close(bus);
        return true;
    }
    ok = bus_create(bus, CREATE_TIMEOUT_US, &made, err);
    bus_close(bus);
    if (made)
        fprintf(invocation->talk, "%.*s: made what it publishes to\n", STR_ARG(spec->name));
    return ok || error_wrap(err, "bus %.*s", STR_ARG(spec->name));
}

static bool apply_one(const struct invocation *invocation, struct session *session,
                      const struct bus_spec *spec, struct error *err)
{
    struct subscription_apply apply = { .name = spec->name,
                                        .kind = SUBSCRIPTION_RELAY,
                                        .policy = spec->on_failure,
                                        .from_latest = spec->start == BUS_START_LATEST,
                                        .applied_by = who_am_i(&session->arena),
                                        .now_us = clock_now_us(&session->clock) };
    struct subscription_applied applied;
    struct bus_text text;

    if (!bus_compile(&session->arena, spec, &text, err))
        return false;
    apply.spec = text.json;
    apply.spec_hash = str_of(text.hash);
    if (!store_subscription_apply(session->store, &apply, &applied, err))
        return error_wrap(err, "bus %.*s", STR_ARG(spec->name));
    fprintf(invocation->out, "%.*s: %s\n", STR_ARG(spec->name),
            !applied.is_new ? applied.is_changed ? "changed; it goes on where it was" : "unchanged"
            : spec->start == BUS_START_LATEST ? "new; it begins with events to come"
                                              : "new; it begins with the oldest event");
    return true;
}

static bool are_different(const struct invocation *invocation, const struct bus_spec *specs)
{
    bool all = true;

    for (int i = 1; i < invocation->operand_count; i++) {
        for (int j = 0; j < i; j++) {
            if (!str_eq(specs[i].name, specs[j].name))
                continue;
            fprintf(invocation->talk, "%s: error: the bus %.*s is also in %s\n",
                    invocation->operands[i], STR_ARG(specs[i].name), invocation->operands[j]);
            all = false;
        }
    }
    return all;
}

/* Applies nothing unless every file is free of errors. */
static bool apply_all(const struct invocation *invocation, struct session *session,
                      enum exit_code *code, struct error *err)
{
    const int count = invocation->operand_count;
    struct bus_spec *specs = ARENA_ARRAY(&session->arena, struct bus_spec, (size_t)count);

    if (specs == NULL)
        return arena_error(&session->arena, err);
    for (int i = 0; i < count; i++) {
        bool clean;

        if (!bus_file_read(invocation, &session->arena, invocation->operands[i], &specs[i], &clean,
                           err))
            return false;
        if (!clean)
            *code = EXIT_FOUND;
    }
    if (*code == EXIT_DONE && !are_different(invocation, specs))
        *code = EXIT_FOUND;
    if (*code != EXIT_DONE) {
        fprintf(invocation->talk, "patra: nothing was applied\n");
        return true;
    }
    for (int i = 0; i < count && invocation_flag(invocation, "create"); i++) {
        if (!create_target(invocation, session, &specs[i], err))
            return false;
    }
    for (int i = 0; i < count; i++) {
        if (!apply_one(invocation, session, &specs[i], err))
            return false;
    }
    return true;
}

static enum exit_code cmd_apply(const struct invocation *invocation)
{
    return session_run(invocation, apply_all);
}

static const struct command apply = {
    .name = "apply",
    .summary = "put bus files into force",
    .operands = "FILE...",
    .operands_min = 1,
    .operands_max = -1,
    .description =
        "Checks bus files as lint does and stores them: from then on publishers relay events to\n"
        "each bus. A bus that is applied again with other settings goes on where it was. If any\n"
        "file has an error, nothing is applied and the exit code is 1. Secrets are not stored,\n"
        "only the references to them.",
    .options = { { "create", NULL,
                   "Make the stream or topic where it is missing, as the file's create settings "
                   "say." },
                 SESSION_OPTION },
    .run = cmd_apply,
};

/* ---- diff ---- */

static bool diff_one(const struct invocation *invocation, struct session *session,
                     enum exit_code *code, struct error *err)
{
    struct bus_spec wanted, old;
    struct subscription row;
    struct buf text;
    bool clean, found;

    if (!bus_file_read(invocation, &session->arena, invocation->operands[0], &wanted, &clean, err))
        return false;
    if (!clean) {
        *code = EXIT_FOUND;
        return true;
    }
    if (!store_subscription_find(session->store, &session->arena, wanted.name, &row, &found, err))
        return false;
    if (found && !bus_load(&session->arena, row.spec, &old, err))
        return error_wrap(err, "bus %.*s", STR_ARG(wanted.name));
    buf_init(&text, &session->arena, OUTPUT_BYTES_MAX);
    if (bus_diff(&session->arena, found ? &old : NULL, &wanted, &text) > 0 || !found)
        *code = EXIT_FOUND;
    return output_text(invocation->out, &text, err);
}

static enum exit_code cmd_diff(const struct invocation *invocation)
{
    return session_run(invocation, diff_one);
}

static const struct command diff = {
    .name = "diff",
    .summary = "show what applying a bus file would change",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Compares a bus file with the bus of its name and prints a line per setting that would\n"
        "be removed (-), added (+) or changed (~), defaults included. The exit code is 1 if\n"
        "there is a difference or the file has errors.",
    .options = { SESSION_OPTION },
    .run = cmd_diff,
};

/* ---- list and show ---- */

static bool print_list_json(const struct subscription_list *list, struct arena *arena, FILE *out,
                            struct error *err)
{
    struct output output;

    view_bus_list_write(output_begin(&output, arena), list);
    return output_end(&output, out, err);
}

static bool list_all(const struct invocation *invocation, struct session *session,
                     enum exit_code *code, struct error *err)
{
    static const char *const heads[] = { "BUS", "TYPE", "STATE", "ON FAILURE", "SINCE" };
    struct subscription_list list;
    struct columns columns;

    (void)code;
    if (!store_subscription_list(session->store, &session->arena, &list, err))
        return false;
    if (invocation_flag(invocation, "json"))
        return print_list_json(&list, &session->arena, invocation->out, err);
    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list.count; i++) {
        const struct subscription *row = &list.items[i];
        struct bus_spec spec;
        struct error fault;

        if (row->kind != SUBSCRIPTION_RELAY)
            continue;
        columns_cell(&columns, row->name);
        columns_cell(&columns, bus_load(&session->arena, row->spec, &spec, &fault)
                                   ? bus_type_word(spec.type)
                                   : STR("?"));
        columns_cell(&columns, code_of(&SUBSCRIPTION_STATE_CODES, (int)row->state));
        columns_cell(&columns, code_of(&SUBSCRIPTION_POLICY_CODES, (int)row->policy));
        columns_instant(&columns, row->updated_us);
        columns_note(&columns, row->state_reason);
    }
    return columns_print(&columns, invocation->out, err);
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_all);
}

#define JSON_OPTION                 \
    {                               \
        "json", NULL, "Print JSON." \
    }

static const struct command list = {
    .name = "list",
    .summary = "list the buses that events are relayed to",
    .operands_max = 0,
    .description = "Lists the applied buses with type, state and what happens to refused events.\n"
                   "patra outbox status shows how far each of them is.",
    .options = { JSON_OPTION, SESSION_OPTION },
    .run = cmd_list,
};

static bool show_one(const struct invocation *invocation, struct session *session,
                     enum exit_code *code, struct error *err)
{
    struct subscription row;
    struct bus_spec spec;
    struct output output;
    struct buf text;

    (void)code;
    if (!bus_find(session, str_of(invocation->operands[0]), &row, &spec, err))
        return false;
    if (invocation_flag(invocation, "json")) {
        view_bus_write(output_begin(&output, &session->arena), &row);
        return output_end(&output, invocation->out, err);
    }
    buf_init(&text, &session->arena, OUTPUT_BYTES_MAX);
    bus_print(&session->arena, &spec, &text);
    if (row.state != SUBSCRIPTION_ACTIVE)
        fprintf(invocation->talk, "%.*s: %.*s: %.*s\n", STR_ARG(row.name),
                STR_ARG(code_of(&SUBSCRIPTION_STATE_CODES, (int)row.state)),
                STR_ARG(row.state_reason));
    return output_text(invocation->out, &text, err);
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return session_run(invocation, show_one);
}

static const struct command show = {
    .name = "show",
    .summary = "print a bus with all of its settings",
    .operands = "BUS",
    .operands_min = 1,
    .operands_max = 1,
    .description = "Prints the bus in force as a file, with the settings that have their default.",
    .options = { JSON_OPTION, SESSION_OPTION },
    .run = cmd_show,
};

/* ---- remove ---- */

static bool remove_one(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    const struct offset_key key = { SUBSCRIPTION_GROUP, str_of(invocation->operands[0]) };
    struct offset_state_list lanes;
    struct subscription row;
    int64_t waiting = 0;
    bool removed;

    (void)code;
    if (!store_subscription_find(session->store, &session->arena, key.subscription, &row, &removed,
                                 err))
        return false;
    if (!removed || row.kind != SUBSCRIPTION_RELAY)
        return error_set(err, ERROR_REQUEST, "bus.unknown", "there is no bus %.*s",
                         STR_ARG(key.subscription));
    if (!store_offset_states(session->store, &session->arena, &key, &lanes, err))
        return false;
    for (size_t i = 0; i < lanes.count; i++)
        waiting += lanes.items[i].last_pos - lanes.items[i].pos;
    fprintf(invocation->talk,
            "%.*s\n"
            "  events     %" PRId64 " in the stream are not relayed to it yet, and will not be\n"
            "  offsets    how far it is will be forgotten, and its parked keys too\n"
            "  the bus    what it has, it keeps\n",
            STR_ARG(row.name), waiting);
    if (!confirm(invocation, "Remove it?", err))
        return false;
    if (!store_subscription_remove(session->store, row.name, &removed, err))
        return false;
    fprintf(invocation->out, "%.*s: %s\n", STR_ARG(row.name),
            removed ? "removed" : "was removed by somebody else");
    return true;
}

static enum exit_code cmd_remove(const struct invocation *invocation)
{
    return session_run(invocation, remove_one);
}

static const struct command remove_command = {
    .name = "remove",
    .summary = "relay nothing to a bus any more",
    .operands = "BUS",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Removes a bus with its offsets and parked keys. Says how many events it has not got,\n"
        "and asks first. Nothing is deleted on the bus itself. If it is applied again later, it\n"
        "begins where its file says (start).",
    .options = { { "yes", NULL, "Do not ask." }, SESSION_OPTION },
    .run = cmd_remove,
};

static const struct command *const children[] = {
    &COMMAND_BUS_LINT, &COMMAND_BUS_TEST, &apply, &diff, &list, &show, &remove_command, NULL,
};

const struct command COMMAND_BUS = {
    .name = "bus",
    .summary = "describe the buses that events are relayed to",
    .description =
        "A bus is where other services get every change from: NATS JetStream, Google Pub/Sub,\n"
        "Apache Kafka or a webhook. One YAML file describes one of them; docs/buses.md explains\n"
        "it. The usual way of a new file: lint, test, apply; then patra publish or patra serve\n"
        "relays events to it.",
    .children = children,
};
