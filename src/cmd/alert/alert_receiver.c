/* patra alert apply, receivers, test and remove. */
#include "adapter/alert_open.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/spec_file.h"
#include "cli/who.h"
#include "cmd/alert/alert.h"
#include "engine/alert/message.h"
#include "port/store_alert.h"
#include "spec/alert_file.h"

/* ---- apply ---- */

static bool read_receiver(struct arena *arena, struct str file, struct fault_list *faults,
                          void *spec)
{
    return alert_file_read(arena, file, faults, spec);
}

static const struct spec_file_kind RECEIVER_FILE = { ALERT_FILE_BYTES_MAX,
                                                     sizeof(struct alert_receiver), read_receiver };

static bool apply_one(const struct invocation *invocation, struct session *session,
                      const struct alert_receiver *receiver, struct error *err)
{
    struct alert_receiver_row row = { .name = receiver->name,
                                      .applied_by = who_am_i(&session->arena),
                                      .updated_us = clock_now_us(&session->clock) };
    bool changed;

    if (!alert_file_compile(&session->arena, receiver, &row.spec, err) ||
        !store_alert_receiver_apply(session->store, &row, &changed, err))
        return false;
    fprintf(invocation->out, "%.*s: %s\n", STR_ARG(receiver->name),
            changed ? "applied" : "unchanged");
    return true;
}

/* Applies nothing unless every file is free of errors. */
static bool apply_all(const struct invocation *invocation, struct session *session,
                      enum exit_code *code, struct error *err)
{
    const int count = invocation->operand_count;
    struct alert_receiver *receivers =
        ARENA_ARRAY(&session->arena, struct alert_receiver, (size_t)count);

    if (receivers == NULL)
        return arena_error(&session->arena, err);
    for (int i = 0; i < count; i++) {
        bool clean;

        if (!spec_file_read(invocation, &RECEIVER_FILE, &session->arena, invocation->operands[i],
                            &receivers[i], &clean, err))
            return false;
        if (!clean)
            *code = EXIT_FOUND;
    }
    if (*code != EXIT_DONE) {
        fprintf(invocation->talk, "patra: nothing was applied\n");
        return true;
    }
    for (int i = 0; i < count; i++) {
        if (!apply_one(invocation, session, &receivers[i], err))
            return false;
    }
    return true;
}

static enum exit_code cmd_apply(const struct invocation *invocation)
{
    return session_run(invocation, apply_all);
}

const struct command COMMAND_ALERT_APPLY = {
    .name = "apply",
    .summary = "put files of receivers into force",
    .operands = "FILE...",
    .operands_min = 1,
    .operands_max = -1,
    .description =
        "Checks files of receivers and stores them: from then on alerts are sent there, those\n"
        "first that are open now. If any file has an error, nothing is applied and the exit code\n"
        "is 1. Secrets are not stored, only the references to them. docs/alerts.md describes the\n"
        "files.",
    .options = { SESSION_OPTION },
    .run = cmd_apply,
};

/* ---- receivers ---- */

static bool list_receivers(const struct invocation *invocation, struct session *session,
                           enum exit_code *code, struct error *err)
{
    static const char *const heads[] = { "RECEIVER", "FORM", "SEVERITY", "SINCE", "BY" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct alert_receiver_list list;
    struct columns columns;
    struct output output;
    struct json_writer *w;

    (void)code;
    if (!store_alert_receivers(session->store, &session->arena, &list, err))
        return false;
    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    w = output_begin(&output, &session->arena);
    json_write_array(w);
    for (size_t i = 0; i < list.count; i++) {
        struct alert_receiver receiver;

        if (!alert_file_load(&session->arena, list.items[i].spec, &receiver, err))
            return error_wrap(err, "receiver %.*s", STR_ARG(list.items[i].name));
        json_write_raw(w, list.items[i].spec);
        columns_cell(&columns, receiver.name);
        columns_cell(&columns, code_of(&ALERT_FORM_CODES, (int)receiver.form));
        columns_cell(&columns, code_of(&ALERT_SEVERITY_CODES, (int)receiver.severity));
        columns_brief(&columns, list.items[i].updated_us, now_us);
        columns_cell(&columns, list.items[i].applied_by);
        columns_note(&columns, receiver.description);
    }
    json_write_end(w);
    return invocation_flag(invocation, "json") ? output_end(&output, invocation->out, err)
                                               : columns_print(&columns, invocation->out, err);
}

static enum exit_code cmd_receivers(const struct invocation *invocation)
{
    return session_run(invocation, list_receivers);
}

const struct command COMMAND_ALERT_RECEIVERS = {
    .name = "receivers",
    .summary = "list where alerts are sent",
    .operands_max = 0,
    .description = "Lists the receivers that are applied.",
    .options = { { "json", NULL, "Print JSON: their settings, with the defaults." },
                 SESSION_OPTION },
    .run = cmd_receivers,
};

/* ---- test ---- */

static bool find_receiver(struct session *session, struct str name, struct alert_receiver *receiver,
                          struct error *err)
{
    struct alert_receiver_list list;

    if (!store_alert_receivers(session->store, &session->arena, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (str_eq(list.items[i].name, name))
            return alert_file_load(&session->arena, list.items[i].spec, receiver, err);
    }
    return error_set(err, ERROR_REQUEST, "alert.unknown",
                     "there is no receiver %.*s: patra alert receivers lists them", STR_ARG(name));
}

static bool test_receiver(const struct invocation *invocation, struct session *session,
                          enum exit_code *code, struct error *err)
{
    const int64_t now_us = clock_now_us(&session->clock);
    const struct alert alert = { .rule = STR("source-stopped"),
                                 .subject = STR("test"),
                                 .severity = ALERT_WARNING,
                                 .text = STR("This is a test of patra. Nothing is wrong."),
                                 .since_us = now_us,
                                 .fired_us = now_us };
    struct alert_receiver receiver;
    struct alert_message message;
    struct alert_sender *sender;
    bool ok;

    (void)code;
    if (!find_receiver(session, str_of(invocation->operands[0]), &receiver, err) ||
        !alert_message_make(&session->arena, &receiver, &alert, ALERT_NOTICE_FIRED, &message,
                            err) ||
        !alert_sender_open(&session->secrets.source, &session->clock, &sender, err))
        return false;
    ok = alert_send(sender, &receiver, &message, err);
    alert_sender_close(sender);
    if (ok)
        fprintf(invocation->out, "%.*s: took it\n", STR_ARG(receiver.name));
    return ok || error_wrap(err, "receiver %.*s", STR_ARG(receiver.name));
}

static enum exit_code cmd_test(const struct invocation *invocation)
{
    return session_run(invocation, test_receiver);
}

const struct command COMMAND_ALERT_TEST = {
    .name = "test",
    .summary = "send a test to a receiver",
    .operands = "RECEIVER",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Sends one notice that says that it is a test. The exit code is 0 if the receiver\n"
        "took it, 3 if it may take it later, 4 if it refuses.",
    .options = { SESSION_OPTION },
    .run = cmd_test,
};

/* ---- remove ---- */

static bool remove_receiver(const struct invocation *invocation, struct session *session,
                            enum exit_code *code, struct error *err)
{
    const struct str name = str_of(invocation->operands[0]);
    bool removed;

    if (!store_alert_receiver_remove(session->store, name, &removed, err))
        return false;
    fprintf(invocation->out, "%.*s: %s\n", STR_ARG(name),
            removed ? "removed" : "there is no such receiver");
    if (!removed)
        *code = EXIT_FOUND;
    return true;
}

static enum exit_code cmd_remove(const struct invocation *invocation)
{
    return session_run(invocation, remove_receiver);
}

const struct command COMMAND_ALERT_REMOVE = {
    .name = "remove",
    .summary = "send no more alerts to a receiver",
    .operands = "RECEIVER",
    .operands_min = 1,
    .operands_max = 1,
    .description = "Removes a receiver with the notices that it has not got.",
    .options = { SESSION_OPTION },
    .run = cmd_remove,
};
