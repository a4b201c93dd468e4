/* patra projection rebuild and rollback. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/projection/projection.h"
#include "engine/rebuild/rebuild.h"

struct progress {
    struct rebuild_listener listener; /* first */
    FILE *talk;
    bool is_shown;
};

static bool show_page(struct rebuild_listener *listener, const struct rebuild_result *so_far)
{
    const struct progress *progress = (const struct progress *)listener;
    const int64_t all = so_far->events + so_far->behind;

    if (progress->is_shown)
        fprintf(progress->talk,
                "\r%3" PRId64 " %%  %" PRId64 " events, %" PRId64 " records, %" PRId64 " rows ",
                all > 0 ? so_far->events * 100 / all : 100, so_far->events, so_far->records,
                so_far->rows);
    if (progress->is_shown && so_far->tries > 0)
        fprintf(progress->talk, "waits for readers of the tables, try %" PRId64 " ", so_far->tries);
    return true;
}

static void end_line(const struct progress *progress)
{
    if (progress->is_shown)
        fprintf(progress->talk, "\n");
}

struct work { /* what both commands need */
    struct projection_spec spec;
    struct subscription row;
    struct store *sink;
    struct rebuild_request request;
};

static bool open_work(struct session *session, struct str name, struct work *work,
                      struct error *err)
{
    if (!projection_find(session, name, &work->row, &work->spec, err) ||
        !projection_sink_open(session, &work->spec, &work->sink, err))
        return false;
    work->request = (struct rebuild_request){ .store = session->store,
                                              .sink = work->sink,
                                              .spec = &work->spec,
                                              .hash = work->row.spec_hash,
                                              .clock = &session->clock,
                                              .specs = session->specs };
    return true;
}

static void print_result(const struct invocation *invocation, const struct work *work,
                         const struct rebuild_result *result)
{
    if (result->skipped > 0)
        fprintf(invocation->talk, "%" PRId64 " events or records could not be applied%s%s\n",
                result->skipped, result->skipped_example.level != ERROR_NONE ? ", such as " : "",
                result->skipped_example.level != ERROR_NONE ? result->skipped_example.text : "");
    fprintf(invocation->out,
            "%.*s: rebuilt%s of %" PRId64 " events and %" PRId64 " records\n"
            "  keys before and after: %" PRId64 ", %" PRId64 "; %s\n"
            "  patra projection rollback %.*s brings the old tables back\n",
            STR_ARG(work->spec.name), result->is_continued ? " (continued)" : "", result->events,
            result->records, result->live_keys, result->new_keys,
            result->buckets_differ == 0 ? "nothing differed" : "some differed",
            STR_ARG(work->spec.name));
}

static bool rebuild_one(const struct invocation *invocation, struct session *session,
                        enum exit_code *code, struct error *err)
{
    struct progress progress = { { show_page },
                                 invocation->talk,
                                 isatty(fileno(invocation->talk)) != 0 };
    struct rebuild_result result;
    struct arena arena;
    struct work work;
    bool swapped, ok;

    (void)code;
    if (!open_work(session, str_of(invocation->operands[0]), &work, err))
        return false;
    work.request.listener = &progress.listener;
    arena_init(&arena, BATCH_BYTES_MAX);
    ok = rebuild(&arena, &work.request, &result, &swapped, err);
    arena_release(&arena);
    end_line(&progress);
    if (ok)
        print_result(invocation, &work, &result);
    projection_sink_close(session, work.sink);
    return ok;
}

static enum exit_code cmd_rebuild(const struct invocation *invocation)
{
    return session_run(invocation, rebuild_one);
}

const struct command COMMAND_PROJECTION_REBUILD = {
    .name = "rebuild",
    .summary = "make the tables of a projection once more",
    .operands = "PROJECTION",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Fills copies beside the live tables from the stream of events and, where that does not\n"
        "reach back, from the records, and puts them in their place in one transaction. Readers\n"
        "see the old rows until then, and consumers go on. If it is stopped, the next rebuild\n"
        "continues. The old tables are kept, as NAME__old, until the next rebuild.",
    .options = { SESSION_OPTION },
    .run = cmd_rebuild,
};

static bool rollback_one(const struct invocation *invocation, struct session *session,
                         enum exit_code *code, struct error *err)
{
    struct rebuild_result result;
    struct arena arena;
    struct work work;
    bool ok;

    (void)code;
    if (!open_work(session, str_of(invocation->operands[0]), &work, err))
        return false;
    arena_init(&arena, BATCH_BYTES_MAX);
    ok = rebuild_back(&arena, &work.request, &result, err);
    arena_release(&arena);
    projection_sink_close(session, work.sink);
    if (ok)
        fprintf(invocation->out,
                "%.*s: the tables from before the rebuild are back, with %" PRId64
                " events since then\n",
                STR_ARG(work.spec.name), result.events);
    return ok;
}

static enum exit_code cmd_rollback(const struct invocation *invocation)
{
    return session_run(invocation, rollback_one);
}

const struct command COMMAND_PROJECTION_ROLLBACK = {
    .name = "rollback",
    .summary = "bring back the tables from before a rebuild",
    .operands = "PROJECTION",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Puts the tables from before the last rebuild back in their place, with the events since\n"
        "then, in one transaction. Those that the rebuild made are dropped.",
    .options = { SESSION_OPTION },
    .run = cmd_rollback,
};
