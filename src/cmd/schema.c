/* patra schema check. */
#include "cmd/schema.h"

#include "cli/columns.h"
#include "cli/file.h"
#include "cli/output.h"
#include "spec/check.h"
#include "spec/event_proto.h"
#include "spec/event_source.h"

#define CHECK_BYTES_MAX ((size_t)64 << 20)

static bool is_proto(const char *path)
{
    return str_ends(str_of(path), STR(".proto"));
}

/* ---- reading ---- */

static bool read_source(const struct invocation *invocation, struct arena *arena, const char *path,
                        struct event_schema *schema, struct error *err)
{
    struct source_text text = { 0 };
    struct fault_list faults;
    struct source source;
    struct buf shown;

    if (!file_read(arena, path, EVENT_PROTO_BYTES_MAX, &text.file, err))
        return false;
    fault_list_init(&faults, arena);
    if (source_lint(arena, NULL, &text, &faults, &source))
        return event_source_schema(arena, &source, schema, err);
    if (faults.failed)
        return arena_error(arena, err);
    buf_init(&shown, arena, CHECK_BYTES_MAX);
    for (size_t i = 0; i < faults.count; i++)
        fault_print(&faults.items[i], str_of(path), &shown);
    return output_text(invocation->talk, &shown, err) &&
           error_set(err, ERROR_REQUEST, "schema.source", "%s has errors", path);
}

static bool read_schema(const struct invocation *invocation, struct arena *arena, const char *path,
                        struct event_schema *schema, struct error *err)
{
    struct str text;

    if (!is_proto(path))
        return read_source(invocation, arena, path, schema, err);
    return file_read(arena, path, EVENT_PROTO_BYTES_MAX, &text, err) &&
           (event_proto_read(arena, text, schema, err) || error_wrap(err, "%s", path));
}

/* ---- showing ---- */

static size_t count_breaking(const struct compat_change_list *changes)
{
    size_t count = 0;

    for (size_t i = 0; i < changes->count; i++)
        count += compat_rule_breaks(changes->items[i].rule);
    return count;
}

static struct str breaks_text(const struct compat_rule *rule)
{
    if (rule->breaks_consumers)
        return rule->breaks_replay ? STR("consumers, replay") : STR("consumers");
    return rule->breaks_replay ? STR("replay") : STR("nothing");
}

static void write_change(struct json_writer *w, const struct compat_change *change)
{
    const struct compat_rule *rule = &event_compat_rules[change->rule];

    json_write_object(w);
    json_write_member_str(w, STR("message"), change->message);
    if (change->field.len > 0)
        json_write_member_str(w, STR("field"), change->field);
    json_write_member_str(w, STR("rule"), str_of(rule->code));
    json_write_member_str(w, STR("change"), change->detail);
    json_write_member_bool(w, STR("compatible"), !compat_rule_breaks(change->rule));
    json_write_member_bool(w, STR("breaksConsumers"), rule->breaks_consumers);
    json_write_member_bool(w, STR("breaksReplay"), rule->breaks_replay);
    json_write_member_str(w, STR("reason"), str_of(rule->reason));
    json_write_end(w);
}

static bool print_json(struct arena *arena, const struct compat_change_list *changes, FILE *out,
                       struct error *err)
{
    struct output output;
    struct json_writer *w = output_begin(&output, arena);

    json_write_object(w);
    json_write_member_bool(w, STR("compatible"), count_breaking(changes) == 0);
    json_write_name(w, STR("changes"));
    json_write_array(w);
    for (size_t i = 0; i < changes->count; i++)
        write_change(w, &changes->items[i]);
    json_write_end(w);
    json_write_end(w);
    return output_end(&output, out, err);
}

static bool print_text(struct arena *arena, const struct compat_change_list *changes, FILE *out,
                       struct error *err)
{
    static const char *const heads[] = { "BREAKS", "WHERE", "RULE" };
    const size_t breaking = count_breaking(changes);
    struct columns columns;

    if (changes->count == 0) {
        fprintf(out, "the schemas are the same\n");
        return true;
    }
    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < changes->count; i++) {
        const struct compat_change *change = &changes->items[i];
        const struct compat_rule *rule = &event_compat_rules[change->rule];

        columns_cell(&columns, breaks_text(rule));
        columns_cell(&columns, change->field.len == 0
                                   ? change->message
                                   : arena_printf(arena, "%.*s: %.*s", STR_ARG(change->message),
                                                  STR_ARG(change->field)));
        columns_cell(&columns, str_of(rule->code));
        columns_note(&columns,
                     change->detail.len == 0
                         ? str_of(rule->reason)
                         : arena_printf(arena, "%.*s: %s", STR_ARG(change->detail), rule->reason));
    }
    if (!columns_print(&columns, out, err))
        return false;
    if (breaking == 0)
        fprintf(out, "compatible: %zu changes\n", changes->count);
    else
        fprintf(out, "not compatible: %zu of %zu changes\n", breaking, changes->count);
    return true;
}

/* ---- the command ---- */

static bool check(const struct invocation *invocation, struct arena *arena, enum exit_code *code,
                  struct error *err)
{
    const char *const *paths = (const char *const *)invocation->operands;
    struct event_schema old_one, new_one;
    struct compat_change_list changes;

    if (is_proto(paths[0]) != is_proto(paths[1]))
        return command_misused(err, "%s and %s: two .proto files, or two source files", paths[0],
                               paths[1]);
    if (!read_schema(invocation, arena, paths[0], &old_one, err) ||
        !read_schema(invocation, arena, paths[1], &new_one, err) ||
        !event_compat(arena, &old_one, &new_one, &changes, err))
        return false;
    if (count_breaking(&changes) > 0)
        *code = EXIT_FOUND;
    return invocation_flag(invocation, "json") ? print_json(arena, &changes, invocation->out, err)
                                               : print_text(arena, &changes, invocation->out, err);
}

static enum exit_code cmd_check(const struct invocation *invocation)
{
    enum exit_code code = EXIT_DONE;
    struct arena arena;
    struct error err;

    arena_init(&arena, CHECK_BYTES_MAX);
    if (!check(invocation, &arena, &code, &err))
        code = command_failed(invocation, &err);
    arena_release(&arena);
    return code;
}

static const struct command SCHEMA_CHECK = {
    .name = "check",
    .summary = "say whether a changed schema of events breaks anybody",
    .operands = "OLD NEW",
    .operands_min = 2,
    .operands_max = 2,
    .description =
        "Compares two schemas of events: two .proto files, or two versions of a source file,\n"
        "whose fields are what its events carry. Each change is named with the rule that judges\n"
        "it and whom it breaks: consumers that were written for OLD and receive events of NEW,\n"
        "and the replay of events of OLD to consumers written for NEW. The exit code is 0 if\n"
        "nothing breaks, and 1 otherwise. Needs no store. The rules are in docs/events.md.",
    .options = { { "json", NULL, "Print JSON." } },
    .run = cmd_check,
};

static const struct command *const children[] = { &SCHEMA_CHECK, NULL };

const struct command COMMAND_SCHEMA = {
    .name = "schema",
    .summary = "compare schemas of events",
    .description = "A schema says what events carry: a .proto file, or the fields of a source.",
    .children = children,
};
