#include "cmd/signals.h"

#include <inttypes.h>

#include "base/list.h"
#include "cli/columns.h"
#include "cli/confirm.h"
#include "cli/output.h"
#include "cli/who.h"
#include "engine/source_store.h"
#include "port/store_signal.h"
#include "spec/snapshot.h"
#include "spec/spec.h"

/* More are dropped by the next call. */
enum { LIST_DEFAULT = 50, LIST_MAX = 10000 };

#define FILTER_OPTIONS                                          \
    { "endpoint", "NAME", "Of this endpoint's records only." }, \
    {                                                           \
        "reason", "TEXT", "Given for this reason only."         \
    }

/* ---- who looks at them ---- */

bool signals_are_taken(struct session *session, struct str source, bool *are_taken,
                       struct error *err)
{
    struct arena *arena = &session->arena;
    const struct registry_row *row = NULL;
    struct source rows;

    *are_taken = false;
    if (!source_load(session->store, arena, source, clock_now_us(&session->clock), &rows, err))
        return false;
    while (!*are_taken && (row = source_next_operation(&rows, row)) != NULL) {
        const struct snapshot_request request = { .source = &rows, .operation = row->key };
        struct snapshot snapshot;
        struct error ignored; /* what does not compile takes nothing up */
        struct spec spec;

        *are_taken = source_operation_code(row) == OPERATION_UPDATE &&
                     snapshot_make(arena, &request, &snapshot, &ignored) &&
                     spec_read(arena, snapshot.json, &spec, &ignored) &&
                     spec.operation.drive == UPDATE_BY_ID &&
                     spec.operation.candidates[CANDIDATE_SIGNAL];
    }
    return true;
}

static struct signal_filter read_filter(const struct invocation *invocation, struct str source)
{
    return (struct signal_filter){ .source = source,
                                   .endpoint = str_of(invocation_value(invocation, "endpoint")),
                                   .reason = str_of(invocation_value(invocation, "reason")) };
}

/* ---- list ---- */

static void write_row(struct json_writer *w, const void *signals, size_t i)
{
    const struct signal *signal = (const struct signal *)signals + i;

    json_write_member_i64(w, STR("id"), signal->id);
    json_write_member_str(w, STR("source"), signal->source);
    json_write_member_str(w, STR("endpoint"), signal->endpoint);
    json_write_member_str(w, STR("recordId"), signal->provider_id);
    json_write_member_str(w, STR("reason"), signal->reason);
    json_write_member_str(w, STR("by"), signal->created_by);
    json_write_member_instant(w, STR("since"), signal->created_us);
    json_write_member_i64(w, STR("tried"), signal->tried);
}

static bool list_text(const struct signal_list *list, struct session *session, FILE *out,
                      struct error *err)
{
    static const char *const heads[] = { "ID",    "SOURCE", "ENDPOINT", "RECORD",
                                         "SINCE", "BY",     "TRIED" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct columns columns;

    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list->count; i++) {
        const struct signal *signal = &list->items[i];

        columns_i64(&columns, signal->id);
        columns_cell(&columns, signal->source);
        columns_cell(&columns, signal->endpoint);
        columns_cell(&columns, signal->provider_id);
        columns_brief(&columns, signal->created_us, now_us);
        columns_cell(&columns, signal->created_by);
        columns_i64(&columns, signal->tried);
        columns_note(&columns, signal->reason);
    }
    return columns_print(&columns, out, err);
}

struct sources {
    struct str *items;
    size_t count;
};

static bool is_known(const struct sources *sources, struct str source)
{
    for (size_t i = 0; i < sources->count; i++) {
        if (str_eq(sources->items[i], source))
            return true;
    }
    return false;
}

/* Once for each source that is listed. */
static bool tell_idle(const struct signal_list *list, struct session *session, FILE *talk,
                      struct error *err)
{
    struct sources told = { 0 };
    bool are_taken;

    for (size_t i = 0; i < list->count; i++) {
        const struct str source = list->items[i].source;
        struct str *slot;

        if (is_known(&told, source))
            continue;
        slot = LIST_ADD(&session->arena, &told);
        if (slot == NULL)
            return arena_error(&session->arena, err);
        *slot = source;
        if (!signals_are_taken(session, source, &are_taken, err))
            return false;
        if (!are_taken)
            fprintf(talk, SIGNALS_IDLE "\n", STR_ARG(source), STR_ARG(source));
    }
    return true;
}

static bool list_signals(const struct invocation *invocation, struct session *session,
                         enum exit_code *code, struct error *err)
{
    const struct str source =
        str_of(invocation->operand_count > 0 ? invocation->operands[0] : NULL);
    struct signal_filter filter = read_filter(invocation, source);
    struct signal_list list;

    (void)code;
    if (!invocation_number(invocation, "after", (struct option_range){ 0, INT64_MAX, 0 },
                           &filter.after_id, err) ||
        !invocation_number(invocation, "limit", (struct option_range){ 1, LIST_MAX, LIST_DEFAULT },
                           &filter.limit, err) ||
        !store_signal_list(session->store, &session->arena, &filter, &list, err) ||
        (list.count == 0 && !session_knows(session, source, err)))
        return false;
    if (invocation_flag(invocation, "json"))
        return output_list(invocation->out, &session->arena, list.items, list.count, write_row,
                           err);
    if (!list_text(&list, session, invocation->out, err) ||
        !tell_idle(&list, session, invocation->talk, err))
        return false;
    if ((int64_t)list.count == filter.limit)
        fprintf(invocation->talk, "the first %" PRId64 "; go on with --after %" PRId64 "\n",
                filter.limit, list.items[list.count - 1].id);
    return true;
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_signals);
}

static const struct command list_command = {
    .name = "list",
    .summary = "list records that are to be looked at again",
    .operands = "[SOURCE]",
    .operands_max = 1,
    .description =
        "Lists what the next update looks at again, oldest first, each with its reason below it:\n"
        "who wants it and since when, and how often an update had taken the record up before.",
    .options = { FILTER_OPTIONS,
                 { "after", "ID", "From behind this one on." },
                 { "limit", "N", "So many at most, 1 to 10000 (50)." },
                 { "json", NULL, "JSON instead of a text." },
                 SESSION_OPTION },
    .run = cmd_list,
};

/* ---- drop ---- */

struct chosen {
    int64_t *ids;
    size_t count;
};

static bool are_numbers(const struct invocation *invocation)
{
    int64_t id;

    for (int i = 0; i < invocation->operand_count; i++) {
        if (!str_to_i64(str_of(invocation->operands[i]), &id))
            return false;
    }
    return true;
}

static bool choose_source(const struct invocation *invocation, struct session *session,
                          struct chosen *chosen, struct error *err)
{
    const struct str source = str_of(invocation->operands[0]);
    struct signal_filter filter = read_filter(invocation, source);
    struct signal_list list;

    if (invocation->operand_count > 1)
        return error_set(err, ERROR_REQUEST, "signal.option",
                         "give numbers of signals, or one source");
    filter.limit = LIST_MAX;
    if (!store_signal_list(session->store, &session->arena, &filter, &list, err) ||
        (list.count == 0 && !session_knows(session, source, err)))
        return false;
    chosen->ids = ARENA_ARRAY(&session->arena, int64_t, list.count + 1);
    if (chosen->ids == NULL)
        return arena_error(&session->arena, err);
    for (size_t i = 0; i < list.count; i++)
        chosen->ids[chosen->count++] = list.items[i].id;
    return true;
}

static bool choose(const struct invocation *invocation, struct session *session,
                   struct chosen *chosen, struct error *err)
{
    *chosen = (struct chosen){ 0 };
    if (!are_numbers(invocation))
        return choose_source(invocation, session, chosen, err);
    chosen->ids = ARENA_ARRAY(&session->arena, int64_t, (size_t)invocation->operand_count);
    if (chosen->ids == NULL)
        return arena_error(&session->arena, err);
    for (int i = 0; i < invocation->operand_count; i++) {
        if (!invocation_row(invocation, i, "signal", &chosen->ids[chosen->count++], err))
            return false;
    }
    return true;
}

static bool drop(const struct invocation *invocation, struct session *session, enum exit_code *code,
                 struct error *err)
{
    const struct str by = who_am_i(&session->arena);
    struct chosen chosen;
    char question[128];
    int64_t done = 0;
    bool dropped;

    if (!choose(invocation, session, &chosen, err))
        return false;
    (void)snprintf(question, sizeof(question), "%zu record%s will not be looked at again. Drop?",
                   chosen.count, chosen.count == 1 ? "" : "s");
    if (chosen.count > 0 && !confirm(invocation, question, err))
        return false;
    for (size_t i = 0; i < chosen.count; i++) {
        if (!store_signal_drop(session->store, chosen.ids[i], by, clock_now_us(&session->clock),
                               &dropped, err))
            return false;
        done += dropped;
        if (dropped)
            continue;
        fprintf(invocation->talk, "%" PRId64 ": not open, nothing was done\n", chosen.ids[i]);
        *code = EXIT_FOUND;
    }
    fprintf(invocation->out, "%" PRId64 " dropped\n", done);
    return true;
}

static enum exit_code cmd_drop(const struct invocation *invocation)
{
    return session_run(invocation, drop);
}

static const struct command drop_command = {
    .name = "drop",
    .summary = "let records be that were to be looked at again",
    .operands = "SOURCE | ID...",
    .operands_min = 1,
    .operands_max = -1,
    .description =
        "Takes signals off the list, at most 10000 of a source at a time; the rows stay, with who\n"
        "did it. Whoever asks for the same record again is heard. It asks first; without a\n"
        "terminal it needs --yes. The exit code is 1 when one of them was not open any more.",
    .options = { FILTER_OPTIONS, { "yes", NULL, "Do not ask." }, SESSION_OPTION },
    .run = cmd_drop,
};

static const struct command *const children[] = { &list_command, &drop_command, NULL };

const struct command COMMAND_SIGNAL = {
    .name = "signal",
    .summary = "see and drop records that are to be looked at again",
    .description =
        "A signal says that a record is to be looked at again: `patra update --ids` gives them,\n"
        "and so does a harvest for records that it could not read or that the source listed and\n"
        "did not hand out. The next update takes them up.",
    .children = children,
};
