/* patra outbox import lint, apply, list and remove. */
#include "cmd/import.h"

#include <inttypes.h>

#include "adapter/foreign_open.h"
#include "cli/columns.h"
#include "cli/file.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/who.h"
#include "data/json_write.h"
#include "port/store_offset.h"
#include "port/store_parked.h"
#include "port/store_rate.h"
#include "port/store_subscription.h"
#include "spec/import.h"

#define LINT_BYTES_MAX ((size_t)64 << 20)

enum { REFUSED_MAX = 20 };

/* ---- files ---- */

/* Prints its faults; *clean is false when there are errors. */
static bool read_file(const struct invocation *invocation, struct arena *arena, const char *path,
                      struct import_spec *spec, bool *clean, struct error *err)
{
    struct fault_list faults;
    struct buf text;
    struct str file;

    if (!file_read(arena, path, IMPORT_FILE_BYTES_MAX, &file, err))
        return false;
    fault_list_init(&faults, arena);
    *clean = import_read(arena, file, &faults, spec);
    if (faults.failed)
        return arena_error(arena, err);
    fault_list_sort(&faults);
    buf_init(&text, arena, OUTPUT_BYTES_MAX);
    for (size_t i = 0; i < faults.count; i++)
        fault_print(&faults.items[i], str_of(path), &text);
    return output_text(invocation->talk, &text, err);
}

static enum exit_code cmd_lint(const struct invocation *invocation)
{
    enum exit_code code = EXIT_DONE;
    struct arena arena;
    struct error err;

    arena_init(&arena, LINT_BYTES_MAX);
    for (int i = 0; i < invocation->operand_count; i++) {
        struct import_spec spec;
        bool clean;

        if (!read_file(invocation, &arena, invocation->operands[i], &spec, &clean, &err)) {
            code = command_failed(invocation, &err);
            break;
        }
        if (!clean)
            code = EXIT_FOUND;
        else
            fprintf(invocation->out, "%s: ok\n", invocation->operands[i]);
    }
    arena_release(&arena);
    return code;
}

static const struct command lint = {
    .name = "lint",
    .summary = "check files of foreign outboxes",
    .operands = "FILE...",
    .operands_min = 1,
    .operands_max = -1,
    .description = "Checks the files without a store or a database, and prints all faults at once.",
    .run = cmd_lint,
};

/* ---- apply ---- */

/* A database that is down may be up later: that is reported, and no reason not to apply. */
static void try_table(const struct invocation *invocation, struct session *session,
                      const struct import_spec *spec)
{
    const struct foreign_open open = { .spec = spec,
                                       .secrets = &session->secrets.source,
                                       .store = session->store };
    struct foreign_outbox *foreign;
    struct error err;

    if (!foreign_open(&open, &foreign, &err) || !foreign_check(foreign, &err))
        fprintf(invocation->talk, "%.*s: warning: cannot be imported at present: %s (%s)\n",
                STR_ARG(spec->name), err.text, err.code);
    foreign_close(foreign);
}

static bool apply_one(const struct invocation *invocation, struct session *session,
                      const struct import_spec *spec, struct error *err)
{
    struct subscription_applied applied;
    struct import_text text;
    int64_t now_us;

    if (!import_compile(&session->arena, spec, &text, err) ||
        !store_clock(session->store, clock_now_us(&session->clock), &now_us, err) ||
        !store_subscription_apply(
            session->store,
            &(struct subscription_apply){ .name = spec->name,
                                          .kind = SUBSCRIPTION_IMPORT,
                                          .spec = text.json,
                                          .spec_hash = str_of(text.hash),
                                          .policy = POLICY_WAIT,
                                          .applied_by = who_am_i(&session->arena),
                                          .now_us = now_us },
            &applied, err))
        return false;
    fprintf(invocation->out, "%.*s: %s\n", STR_ARG(spec->name),
            applied.is_new       ? "is imported from now on"
            : applied.is_changed ? "changed"
                                 : "unchanged");
    try_table(invocation, session, spec);
    return true;
}

/* Applies nothing unless every file is free of errors. */
static bool apply_all(const struct invocation *invocation, struct session *session,
                      enum exit_code *code, struct error *err)
{
    const size_t count = (size_t)invocation->operand_count;
    struct import_spec *specs = ARENA_ARRAY(&session->arena, struct import_spec, count);

    if (specs == NULL)
        return arena_error(&session->arena, err);
    for (size_t i = 0; i < count; i++) {
        bool clean;

        if (!read_file(invocation, &session->arena, invocation->operands[i], &specs[i], &clean,
                       err))
            return false;
        if (!clean)
            *code = EXIT_FOUND;
    }
    if (*code != EXIT_DONE) {
        fprintf(invocation->talk, "patra: nothing was applied\n");
        return true;
    }
    for (size_t i = 0; i < count; i++) {
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
    .summary = "import foreign outboxes from now on",
    .operands = "FILE...",
    .operands_min = 1,
    .operands_max = -1,
    .description =
        "Checks the files as lint does and puts them into force; nothing is applied unless all\n"
        "are free of errors. Publishers that run (patra serve, patra publish) begin to import\n"
        "after some seconds. The table is looked at once, and what is missing is reported.",
    .options = { SESSION_OPTION },
    .run = cmd_apply,
};

/* ---- list ---- */

struct shown {
    const struct subscription *subscription;
    struct import_spec spec;
    struct reader_state_list readers;
    struct parked_list refused;
    int64_t refused_count;
};

static bool read_one(struct session *session, const struct subscription *subscription,
                     struct shown *shown, struct error *err)
{
    const struct offset_key key = { SUBSCRIPTION_GROUP, subscription->name };
    const struct parked_query query = { .key = key, .limit = REFUSED_MAX };

    *shown = (struct shown){ .subscription = subscription };
    return import_load(&session->arena, subscription->spec, &shown->spec, err) &&
           store_offset_readers(session->store, &session->arena, &key, &shown->readers, err) &&
           store_parked_list(session->store, &session->arena, &query, &shown->refused, err) &&
           store_parked_count(session->store, &key, &shown->refused_count, err);
}

/* Of whoever has one. */
static struct str trouble_of(const struct shown *shown)
{
    for (size_t i = 0; i < shown->readers.count; i++) {
        if (shown->readers.items[i].error.len > 0)
            return shown->readers.items[i].error;
    }
    return (struct str){ 0 };
}

static void write_refused(struct json_writer *w, const struct parked_list *refused)
{
    json_write_name(w, STR("refusedRows"));
    json_write_array(w);
    for (size_t i = 0; i < refused->count; i++) {
        json_write_object(w);
        json_write_member_str(w, STR("aggregateType"), refused->items[i].aggregate_type);
        json_write_member_str(w, STR("aggregateId"), refused->items[i].aggregate_id);
        json_write_member_i64(w, STR("version"), refused->items[i].head_version);
        json_write_member_i64(w, STR("attempts"), refused->items[i].attempts_ended);
        json_write_member_instant(w, STR("nextRetryAt"), refused->items[i].next_retry_us);
        json_write_member_str(w, STR("error"), refused->items[i].last_error);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_one(struct json_writer *w, const struct shown *shown)
{
    const struct subscription *sub = shown->subscription;

    json_write_object(w);
    json_write_member_str(w, STR("name"), sub->name);
    json_write_member_str(w, STR("state"), code_of(&SUBSCRIPTION_STATE_CODES, (int)sub->state));
    json_write_member_str(w, STR("stateReason"), sub->state_reason);
    json_write_member_str(w, STR("database"), shown->spec.database);
    json_write_member_str(w, STR("table"), shown->spec.table);
    json_write_member_i64(w, STR("importers"), (int64_t)shown->readers.count);
    json_write_member_str(w, STR("error"), trouble_of(shown));
    json_write_member_i64(w, STR("refused"), shown->refused_count);
    write_refused(w, &shown->refused);
    json_write_end(w);
}

static void print_one(struct columns *columns, const struct shown *shown)
{
    const struct str trouble = trouble_of(shown);

    columns_cell(columns, shown->subscription->name);
    columns_cell(columns, code_of(&SUBSCRIPTION_STATE_CODES, (int)shown->subscription->state));
    columns_cell(columns, shown->spec.database);
    columns_cell(columns, shown->spec.table);
    columns_i64(columns, (int64_t)shown->readers.count);
    columns_i64(columns, shown->refused_count);
    if (trouble.len > 0)
        columns_note(columns, trouble);
    for (size_t i = 0; i < shown->refused.count; i++)
        columns_note(columns, arena_printf(columns->arena, "%.*s/%.*s version %" PRId64 ": %.*s",
                                           STR_ARG(shown->refused.items[i].aggregate_type),
                                           STR_ARG(shown->refused.items[i].aggregate_id),
                                           shown->refused.items[i].head_version,
                                           STR_ARG(shown->refused.items[i].last_error)));
}

static bool list_all(const struct invocation *invocation, struct session *session,
                     enum exit_code *code, struct error *err)
{
    static const char *const heads[] = { "NAME",  "STATE",     "DATABASE",
                                         "TABLE", "IMPORTERS", "REFUSED" };
    const bool as_json = invocation_flag(invocation, "json");
    struct subscription_list list;
    struct columns columns;
    struct output output;
    struct json_writer *w = output_begin(&output, &session->arena);

    (void)code;
    if (!store_subscription_list(session->store, &session->arena, &list, err))
        return false;
    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    json_write_array(w);
    for (size_t i = 0; i < list.count; i++) {
        struct shown shown;

        if (list.items[i].kind != SUBSCRIPTION_IMPORT)
            continue;
        if (!read_one(session, &list.items[i], &shown, err))
            return false;
        if (as_json)
            write_one(w, &shown);
        else
            print_one(&columns, &shown);
    }
    json_write_end(w);
    return as_json ? output_end(&output, invocation->out, err)
                   : columns_print(&columns, invocation->out, err);
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_all);
}

static const struct command list = {
    .name = "list",
    .summary = "list foreign outboxes",
    .operands_max = 0,
    .description =
        "Lists the foreign outboxes that are imported, how many importers are alive, why one\n"
        "cannot go on, and rows that were refused with the reason of each.",
    .options = { { "json", NULL, "Print JSON." }, SESSION_OPTION },
    .run = cmd_list,
};

/* ---- remove ---- */

static bool remove_one(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    const struct str name = str_of(invocation->operands[0]);
    struct subscription found;
    bool is_there, removed = false;

    (void)code;
    if (!store_subscription_find(session->store, &session->arena, name, &found, &is_there, err) ||
        (is_there && found.kind == SUBSCRIPTION_IMPORT &&
         !store_subscription_remove(session->store, name, &removed, err)))
        return false;
    if (!removed)
        return error_set(err, ERROR_REQUEST, "import.unknown",
                         "there is no foreign outbox %.*s: patra outbox import list",
                         STR_ARG(name));
    fprintf(invocation->out, "%.*s: is not imported any more\n", STR_ARG(name));
    return true;
}

static enum exit_code cmd_remove(const struct invocation *invocation)
{
    return session_run(invocation, remove_one);
}

static const struct command remove_import = {
    .name = "remove",
    .summary = "import a foreign outbox no more",
    .operands = "NAME",
    .operands_min = 1,
    .operands_max = 1,
    .description = "Events that were imported stay. Rows that were not stay as they are.",
    .options = { SESSION_OPTION },
    .run = cmd_remove,
};

static const struct command *const children[] = { &lint, &apply, &list, &remove_import, NULL };

const struct command COMMAND_OUTBOX_IMPORT = {
    .name = "import",
    .summary = "publish the events of other services' tables",
    .description =
        "A foreign outbox is a PostgreSQL table into which another service writes its events.\n"
        "Publishers import its rows: they come into the stream and go to every bus, in the order\n"
        "of the versions of each aggregate. See docs/foreign-outboxes.md.",
    .children = children,
};
