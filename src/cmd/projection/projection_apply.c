/* patra projection lint, apply and diff. */
#include <string.h>

#include "adapter/sink_open.h"
#include "cli/output.h"
#include "cli/spec_file.h"
#include "cli/who.h"
#include "cmd/projection/projection.h"
#include "port/store_offset.h"
#include "port/store_rate.h"
#include "port/store_sink.h"

static bool read_projection(struct arena *arena, struct str file, struct fault_list *faults,
                            void *spec)
{
    return projection_read(arena, file, faults, spec);
}

static const struct spec_file_kind PROJECTION_FILE = { PROJECTION_FILE_BYTES_MAX,
                                                       sizeof(struct projection_spec),
                                                       read_projection };

struct file { /* a file without errors, and its stored form */
    struct projection_spec spec;
    struct projection_text text;
};

static bool read_file(const struct invocation *invocation, struct arena *arena, const char *path,
                      struct file *file, bool *clean, struct error *err)
{
    /* What is applied is read back from the store, by the same reader. */
    return spec_file_read(invocation, &PROJECTION_FILE, arena, path, &file->spec, clean, err) &&
           (!*clean || (projection_compile(arena, &file->spec, &file->text, err) &&
                        projection_load(arena, file->text.json, &file->spec, err)));
}

bool projection_sink_open(struct session *session, const struct projection_spec *spec,
                          struct store **sink, struct error *err)
{
    if (str_eq(spec->database, PROJECTION_OWN_DATABASE)) {
        *sink = session->store;
        return true;
    }
    return sink_open(session->store, spec->database, &session->secrets.source,
                     clock_now_us(&session->clock), sink, err);
}

void projection_sink_close(struct session *session, struct store *sink)
{
    if (sink != session->store)
        store_close(sink);
}

/* ---- lint ---- */

static enum exit_code cmd_lint(const struct invocation *invocation)
{
    return spec_file_lint(invocation, &PROJECTION_FILE);
}

const struct command COMMAND_PROJECTION_LINT = {
    .name = "lint",
    .summary = "report every fault of a projection file",
    .operands = "FILE...",
    .operands_min = 1,
    .operands_max = -1,
    .description =
        "Reads projection files and reports every fault, each as FILE:LINE:COLUMN with a hint.\n"
        "Needs neither a store nor a database. The exit code is 1 if there are errors; warnings\n"
        "do not count. docs/projections.md describes the files.",
    .options = { { "json", NULL, "Print one JSON object per fault." } },
    .run = cmd_lint,
};

/* ---- tables ---- */

static void print_plan(FILE *out, const struct sink_plan *plan)
{
    static const char *const KINDS[] = { [SINK_STEP_TABLE] = "+",
                                         [SINK_STEP_COLUMN] = "+",
                                         [SINK_STEP_WIDEN] = "~",
                                         [SINK_STEP_INDEX] = "+",
                                         [SINK_STEP_REFUSED] = "!" };

    for (size_t i = 0; i < plan->count; i++) {
        const struct sink_plan_step *step = &plan->items[i];

        fprintf(out, "%s table %.*s: %.*s\n", KINDS[step->kind], STR_ARG(step->table),
                STR_ARG(step->text));
        if (step->kind == SINK_STEP_REFUSED && step->sql.len > 0)
            fprintf(out, "    by hand, losing it: %.*s\n", STR_ARG(step->sql));
    }
    if (plan->refused > 0)
        fprintf(out, "! nothing of this is done: change the table by hand, or give the table or "
                     "column another name\n");
}

/* ---- apply ---- */

/* The offsets of the store's own rows: there a new projection begins. */
static bool join(struct session *session, struct store *sink, const struct projection_spec *spec,
                 int64_t now_us, struct error *err)
{
    struct sink_join join = { .key = { SUBSCRIPTION_GROUP, spec->name }, .now_us = now_us };
    struct offset_state_list lanes;

    if (sink == session->store)
        return true;
    if (!store_offset_states(session->store, &session->arena, &join.key, &lanes, err))
        return false;
    for (size_t i = 0; i < lanes.count; i++)
        join.before[lanes.items[i].lane] = lanes.items[i].pos;
    return store_sink_join(sink, &join, err);
}

/* Tables first: a consumer that sees the projection finds them. In the store's own database all is
 * one transaction. */
static bool apply_within(struct session *session, struct store *sink, const struct file *file,
                         int64_t now_us, struct sink_plan *plan,
                         struct subscription_applied *applied, struct error *err)
{
    const struct sink_set_up set_up = { &file->spec, file->text.json, str_of(file->text.hash),
                                        who_am_i(&session->arena), now_us };
    const struct subscription_apply apply = { .name = file->spec.name,
                                              .kind = SUBSCRIPTION_PROJECTION,
                                              .spec = file->text.json,
                                              .spec_hash = str_of(file->text.hash),
                                              .policy = file->spec.on_failure,
                                              .from_latest = file->spec.start == PROJECTION_LATEST,
                                              .applied_by = set_up.applied_by,
                                              .now_us = now_us };
    bool owns_transaction = false, ok;

    ok = (sink != session->store || store_begin_if_idle(sink, &owns_transaction, err)) &&
         store_sink_set_up(sink, &session->arena, &set_up, plan, err) &&
         store_subscription_apply(session->store, &apply, applied, err);
    return store_end_if_owned(sink, owns_transaction, ok, err) &&
           join(session, sink, &file->spec, now_us, err);
}

static bool apply_one(const struct invocation *invocation, struct session *session,
                      const struct file *file, bool *refused, struct error *err)
{
    const struct projection_spec *spec = &file->spec;
    struct subscription_applied applied;
    struct sink_plan plan = { 0 };
    struct store *sink;
    int64_t now_us;
    bool ok;

    if (!store_clock(session->store, clock_now_us(&session->clock), &now_us, err) ||
        !projection_sink_open(session, spec, &sink, err))
        return error_wrap(err, "projection %.*s", STR_ARG(spec->name));
    ok = apply_within(session, sink, file, now_us, &plan, &applied, err);
    projection_sink_close(session, sink);
    *refused = !ok && plan.refused > 0;
    print_plan(*refused ? invocation->talk : invocation->out, &plan);
    if (*refused)
        return true;
    if (!ok)
        return error_wrap(err, "projection %.*s", STR_ARG(spec->name));
    fprintf(invocation->out, "%.*s: %s\n", STR_ARG(spec->name),
            !applied.is_new ? applied.is_changed ? "changed; it goes on where it was" : "unchanged"
            : spec->start == PROJECTION_LATEST ? "new; it begins with events to come"
                                               : "new; it begins with the oldest event");
    return true;
}

static bool are_different(const struct invocation *invocation, const struct file *files)
{
    bool all = true;

    for (int i = 1; i < invocation->operand_count; i++) {
        for (int k = 0; k < i; k++) {
            if (!str_eq(files[i].spec.name, files[k].spec.name))
                continue;
            fprintf(invocation->talk, "%s: error: the projection %.*s is also in %s\n",
                    invocation->operands[i], STR_ARG(files[i].spec.name), invocation->operands[k]);
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
    struct file *files = ARENA_ARRAY(&session->arena, struct file, (size_t)count);

    if (files == NULL)
        return arena_error(&session->arena, err);
    for (int i = 0; i < count; i++) {
        bool clean;

        if (!read_file(invocation, &session->arena, invocation->operands[i], &files[i], &clean,
                       err))
            return false;
        if (!clean)
            *code = EXIT_FOUND;
    }
    if (*code == EXIT_DONE && !are_different(invocation, files))
        *code = EXIT_FOUND;
    if (*code != EXIT_DONE) {
        fprintf(invocation->talk, "patra: nothing was applied\n");
        return true;
    }
    for (int i = 0; i < count; i++) {
        bool refused;

        if (!apply_one(invocation, session, &files[i], &refused, err))
            return false;
        if (refused)
            *code = EXIT_FOUND;
    }
    return true;
}

static enum exit_code cmd_apply(const struct invocation *invocation)
{
    return session_run(invocation, apply_all);
}

const struct command COMMAND_PROJECTION_APPLY = {
    .name = "apply",
    .summary = "put projection files into force",
    .operands = "FILE...",
    .operands_min = 1,
    .operands_max = -1,
    .description =
        "Checks projection files as lint does, makes or changes their tables, and stores them:\n"
        "from then on consumers apply events to the tables. One that is applied again goes on\n"
        "where it was. Columns are added and types widened; where values would be lost, nothing\n"
        "is done, what would have to be done is printed, and the exit code is 1.",
    .options = { SESSION_OPTION },
    .run = cmd_apply,
};

/* ---- diff ---- */

static bool diff_tables(const struct invocation *invocation, struct session *session,
                        const struct file *file, size_t *count, struct error *err)
{
    struct sink_plan plan = { 0 };
    struct store *sink;
    bool ok;

    if (!projection_sink_open(session, &file->spec, &sink, err))
        return false;
    ok = store_sink_plan(sink, &session->arena, &file->spec, &plan, err);
    projection_sink_close(session, sink);
    if (ok)
        print_plan(invocation->out, &plan);
    *count += plan.count;
    return ok;
}

static bool diff_one(const struct invocation *invocation, struct session *session,
                     enum exit_code *code, struct error *err)
{
    struct subscription row = { 0 };
    struct file file;
    struct buf text;
    bool clean, found;
    size_t count;

    if (!read_file(invocation, &session->arena, invocation->operands[0], &file, &clean, err))
        return false;
    if (!clean) {
        *code = EXIT_FOUND;
        return true;
    }
    buf_init(&text, &session->arena, OUTPUT_BYTES_MAX);
    if (!store_subscription_find(session->store, &session->arena, file.spec.name, &row, &found,
                                 err) ||
        !projection_diff(&session->arena, found ? row.spec : STR(""), file.text.json, &text, &count,
                         err) ||
        !output_text(invocation->out, &text, err) ||
        !diff_tables(invocation, session, &file, &count, err))
        return error_wrap(err, "projection %.*s", STR_ARG(file.spec.name));
    if (count > 0)
        *code = EXIT_FOUND;
    return true;
}

static enum exit_code cmd_diff(const struct invocation *invocation)
{
    return session_run(invocation, diff_one);
}

const struct command COMMAND_PROJECTION_DIFF = {
    .name = "diff",
    .summary = "show what applying a projection file would change",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Compares a projection file with the projection of its name and its tables as they are.\n"
        "Prints a line per setting that would be removed (-), added (+) or changed (~), defaults\n"
        "included, and per change of a table; ! is one that apply would refuse. The exit code is\n"
        "1 if there is a difference or the file has errors.",
    .options = { SESSION_OPTION },
    .run = cmd_diff,
};
