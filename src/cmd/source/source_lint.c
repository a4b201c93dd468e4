/* patra source lint, and reading source files for other commands. */
#include "base/list.h"
#include "cli/fault_output.h"
#include "cli/file.h"
#include "cmd/source/source.h"
#include "spec/check.h"
#include "spec/fault.h"

#define LINT_BYTES_MAX ((size_t)64 << 20)

static const struct option_pairs EDITS = {
    "set", "PATH=VALUE, such as http.base_url=http://127.0.0.1:8080"
};

bool source_edits(const struct invocation *invocation, struct arena *arena, struct edit_list *list,
                  struct error *err)
{
    struct {
        struct edit *items;
        size_t count;
    } all = { 0 };
    struct option_pair pair;
    struct edit *edit;
    int at = 0;

    for (;;) {
        if (!invocation_pair(invocation, &EDITS, &at, &pair, err))
            return false;
        if (pair.key.len == 0)
            break;
        edit = LIST_ADD(arena, &all);
        if (edit == NULL)
            return arena_error(arena, err);
        *edit = (struct edit){ pair.key, pair.value };
    }
    *list = (struct edit_list){ all.items, all.count };
    return true;
}

static bool read_and_print(const struct source_file *file, FILE *out, struct source *source,
                           bool *clean, struct error *err)
{
    const struct invocation *invocation = file->invocation;
    const bool as_json = out == invocation->out && invocation_flag(invocation, "json");
    struct source_text text;
    struct fault_list faults;

    if (!file_read(file->arena, file->path, SOURCE_FILE_BYTES_MAX, &text.file, err) ||
        !source_edits(invocation, file->arena, &text.edits, err))
        return false;
    fault_list_init(&faults, file->arena);
    *clean = source_lint(file->arena, NULL, &text, &faults, source);
    if (faults.failed)
        return arena_error(file->arena, err);
    return fault_output(out, &faults, file->path, as_json, err);
}

bool source_file_read(const struct source_file *file, struct source *source, bool *clean,
                      struct error *err)
{
    return read_and_print(file, file->invocation->talk, source, clean, err);
}

static enum exit_code cmd_source_lint(const struct invocation *invocation)
{
    const bool as_json = invocation_flag(invocation, "json");
    enum exit_code code = EXIT_DONE;
    struct arena arena;
    struct error err;

    arena_init(&arena, LINT_BYTES_MAX);
    for (int i = 0; i < invocation->operand_count; i++) {
        const struct source_file file = { invocation, &arena, invocation->operands[i] };
        struct source source;
        bool clean;

        arena_reset(&arena); /* frees everything of the last file */
        if (!read_and_print(&file, invocation->out, &source, &clean, &err)) {
            code = command_failed(invocation, &err);
            break;
        }
        if (!clean)
            code = EXIT_FOUND;
        else if (!as_json)
            fprintf(invocation->out, "%s: ok\n", invocation->operands[i]);
    }
    arena_release(&arena);
    return code;
}

const struct command COMMAND_SOURCE_LINT = {
    .name = "lint",
    .summary = "report every fault of a source file",
    .operands = "FILE...",
    .operands_min = 1,
    .operands_max = -1,
    .description =
        "Reads source files and reports all of their faults as file:line:column, each with a\n"
        "hint. Needs no store and writes nothing. FILE may be - for standard input. The exit\n"
        "code is 1 if a file has errors; warnings do not count.",
    .options = { SOURCE_SET_OPTION,
                 { "json", NULL, "Print a JSON object per fault, one per line." } },
    .run = cmd_source_lint,
};
