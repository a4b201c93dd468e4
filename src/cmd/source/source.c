/* patra source apply, diff, list and export. */
#include "cmd/source/source.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/instant.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "data/json_write.h"
#include "engine/source/source_store.h"
#include "port/store_status.h"
#include "spec/source_effect.h"
#include "view/source.h"

#define JSON_OPTION                 \
    {                               \
        "json", NULL, "Print JSON." \
    }

/* ---- apply ---- */

/* Tasks run with the snapshot of their plan, which surprises a person who corrects a source because
 * its tasks fail. */
static bool print_waiting(const struct invocation *invocation, struct session *session,
                          struct str code, struct error *err)
{
    struct partition_count_list list;
    int64_t waiting = 0;

    if (!store_status_counts(session->store, &session->arena, code, clock_now_us(&session->clock),
                             &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++)
        waiting += list.items[i].queued + list.items[i].running;
    if (waiting > 0)
        fprintf(invocation->talk,
                "%.*s: %" PRId64 " task%s planned before this change and will run with the old "
                "settings. To plan them again, cancel their plans: patra plan list --source "
                "%.*s, patra plan cancel PLAN\n",
                STR_ARG(code), waiting, waiting == 1 ? " was" : "s were", STR_ARG(code));
    return true;
}

/* What the change means for what is stored, before it is made. */
static bool find_effects(struct session *session, const struct source *wanted, struct buf *text,
                         struct error *err)
{
    struct source_effect_list effects;
    struct source old;

    buf_init(text, &session->arena, OUTPUT_BYTES_MAX);
    if (!source_load(session->store, &session->arena, wanted->registry.code,
                     clock_now_us(&session->clock), &old, err))
        return source_error_is_unknown(err); /* a new one changes nothing */
    if (!source_effects(&session->arena, &old, wanted, &effects, err))
        return false;
    source_effects_print(&effects, wanted->registry.code, text);
    return buf_ok(text, err);
}

static bool apply_one(const struct invocation *invocation, struct session *session,
                      const struct source *source, struct error *err)
{
    struct source_applied applied;
    struct buf effects;
    int64_t now_us;

    if (!session_time(session, &now_us, err) || !find_effects(session, source, &effects, err) ||
        !source_apply(session->store, &session->arena, source, now_us, &applied, err))
        return false;
    if (applied.diff.count == 0)
        fprintf(invocation->out, "%.*s: unchanged, version %" PRId64 "\n",
                STR_ARG(source->registry.code), applied.version);
    else
        fprintf(invocation->out, "%.*s: version %" PRId64 " in force, %zu %s changed\n",
                STR_ARG(source->registry.code), applied.version, applied.diff.count,
                applied.diff.count == 1 ? "row" : "rows");
    if (!output_text(invocation->talk, &effects, err))
        return false;
    return applied.diff.count == 0 ||
           print_waiting(invocation, session, source->registry.code, err);
}

/* A later file would undo an earlier one of the same source. */
static bool are_different(const struct invocation *invocation, const struct source *sources)
{
    bool all = true;

    for (int i = 1; i < invocation->operand_count; i++) {
        for (int j = 0; j < i; j++) {
            if (!str_eq(sources[i].registry.code, sources[j].registry.code))
                continue;
            fprintf(invocation->talk, "%s: error: the source %.*s is also in %s\n",
                    invocation->operands[i], STR_ARG(sources[i].registry.code),
                    invocation->operands[j]);
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
    struct source *sources = ARENA_ARRAY(&session->arena, struct source, (size_t)count);

    if (sources == NULL)
        return arena_error(&session->arena, err);
    for (int i = 0; i < count; i++) {
        const struct source_file file = { invocation, &session->arena, invocation->operands[i] };
        bool clean;

        if (!source_file_read(&file, &sources[i], &clean, err))
            return false;
        if (!clean)
            *code = EXIT_FOUND;
    }
    if (*code == EXIT_DONE && !are_different(invocation, sources))
        *code = EXIT_FOUND;
    if (*code != EXIT_DONE) {
        fprintf(invocation->talk, "patra: nothing was applied\n");
        return true;
    }
    for (int i = 0; i < count; i++) {
        if (!apply_one(invocation, session, &sources[i], err))
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
    .summary = "put source files into force",
    .operands = "FILE...",
    .operands_min = 1,
    .operands_max = -1,
    .description =
        "Checks source files as lint does and stores them in the Registry as versioned rows:\n"
        "rows that changed are closed and new ones opened, nothing is overwritten. If any file\n"
        "has an error, nothing is applied and the exit code is 1. Existing plans keep their\n"
        "snapshot. For programs that read SQL, it makes a view of the records of each endpoint\n"
        "(docs/reading.md). With --set you can change settings of a file without editing it, for\n"
        "instance to point a shipped source at your own server.",
    .options = { SOURCE_SET_OPTION, SESSION_OPTION },
    .run = cmd_apply,
};

/* ---- diff ---- */

static bool diff_one(const struct invocation *invocation, struct session *session,
                     enum exit_code *code, struct error *err)
{
    const struct source_file file = { invocation, &session->arena, invocation->operands[0] };
    struct source source;
    struct source_diff changes;
    struct buf text, effects;
    bool clean;

    if (!source_file_read(&file, &source, &clean, err))
        return false;
    if (!clean) {
        *code = EXIT_FOUND;
        return true;
    }
    if (!source_compare(session->store, &session->arena, &source, clock_now_us(&session->clock),
                        &changes, err) ||
        !find_effects(session, &source, &effects, err))
        return false;
    if (changes.count > 0)
        *code = EXIT_FOUND;
    buf_init(&text, &session->arena, OUTPUT_BYTES_MAX);
    source_diff_print(&changes, &text);
    return output_text(invocation->out, &text, err) && output_text(invocation->talk, &effects, err);
}

static enum exit_code cmd_diff(const struct invocation *invocation)
{
    return session_run(invocation, diff_one);
}

static const struct command diff = {
    .name = "diff",
    .summary = "show what applying a source file would change",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Compares a source file with the source in force and prints a line per setting that\n"
        "was removed (-), added (+) or changed (~). On standard error it says which operations\n"
        "would have another query or mapping, and what follows. The exit code is 1 if there is a\n"
        "difference or the file has errors.",
    .options = { SOURCE_SET_OPTION, SESSION_OPTION },
    .run = cmd_diff,
};

/* ---- list ---- */

static bool list_all(const struct invocation *invocation, struct session *session,
                     enum exit_code *code, struct error *err)
{
    static const char *const heads[] = { "SOURCE", "VERSION", "SINCE" };
    struct registry_entry_list list;
    struct columns columns;
    struct output output;

    (void)code;
    if (!store_registry_list(session->store, &session->arena, clock_now_us(&session->clock), &list,
                             err))
        return false;
    if (invocation_flag(invocation, "json")) {
        view_source_list_write(output_begin(&output, &session->arena), &list);
        return output_end(&output, invocation->out, err);
    }
    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list.count; i++) {
        columns_cell(&columns, list.items[i].code);
        columns_i64(&columns, list.items[i].version);
        columns_instant(&columns, list.items[i].changed_us);
    }
    return columns_print(&columns, invocation->out, err);
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_all);
}

static const struct command list = {
    .name = "list",
    .summary = "list the sources in the Registry",
    .description = "Lists the sources in force, their versions, and when each last changed.",
    .options = { SESSION_OPTION, JSON_OPTION },
    .run = cmd_list,
};

/* ---- export ---- */

static bool export_one(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    struct source source;
    struct buf text;

    (void)code;
    if (!source_load(session->store, &session->arena, str_of(invocation->operands[0]),
                     clock_now_us(&session->clock), &source, err))
        return false;
    buf_init(&text, &session->arena, OUTPUT_BYTES_MAX);
    source_write(&source, &text);
    return output_text(invocation->out, &text, err);
}

static enum exit_code cmd_export(const struct invocation *invocation)
{
    return session_run(invocation, export_one);
}

static const struct command export = {
    .name = "export",
    .summary = "write a source from the Registry as YAML",
    .operands = "SOURCE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Writes the source in force as a source file. Applying that file changes nothing.\n"
        "Comments of the original file are not kept.",
    .options = { SESSION_OPTION },
    .run = cmd_export,
};

static const struct command *const children[] = {
    &COMMAND_SOURCE_NEW,
    &COMMAND_SOURCE_LINT,
    &COMMAND_SOURCE_TEST,
    &apply,
    &diff,
    &list,
    &COMMAND_SOURCE_SHOW,
    &export,
    &COMMAND_SOURCE_REMOVE,
    NULL,
};

const struct command COMMAND_SOURCE = {
    .name = "source",
    .summary = "write, check, try, apply, show and remove sources",
    .description = "A source is an API that patra keeps a copy of, described by one YAML file.",
    .children = children,
};
