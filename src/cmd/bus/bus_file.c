/* patra bus lint, and reading bus files for other commands. */
#include "cli/fault_output.h"
#include "cli/file.h"
#include "cmd/bus/bus.h"
#include "spec/bus.h"

#define LINT_BYTES_MAX ((size_t)16 << 20)

static bool read_and_print(const struct invocation *invocation, struct arena *arena,
                           const char *path, struct bus_spec *spec, struct error *err, bool *clean)
{
    const bool is_lint = invocation->command == &COMMAND_BUS_LINT;
    struct fault_list faults;
    struct bus_text text;
    struct str file;

    /* One byte more than a file may have: the reader reports it. */
    if (!file_read(arena, path, (size_t)BUS_FILE_BYTES_MAX + 1, &file, err))
        return false;
    fault_list_init(&faults, arena);
    *clean = bus_read(arena, file, &faults, spec);
    if (faults.failed)
        return arena_error(arena, err);
    fault_list_sort(&faults);
    if (!fault_output(is_lint ? invocation->out : invocation->talk, &faults, path,
                      is_lint && invocation_flag(invocation, "json"), err))
        return false;
    /* What is applied is read back from the store, by the same reader. */
    return !*clean ||
           (bus_compile(arena, spec, &text, err) && bus_load(arena, text.json, spec, err));
}

bool bus_file_read(const struct invocation *invocation, struct arena *arena, const char *path,
                   struct bus_spec *spec, bool *clean, struct error *err)
{
    return read_and_print(invocation, arena, path, spec, err, clean);
}

static enum exit_code cmd_lint(const struct invocation *invocation)
{
    enum exit_code code = EXIT_DONE;
    struct arena arena;
    struct error err;

    arena_init(&arena, LINT_BYTES_MAX);
    for (int i = 0; i < invocation->operand_count; i++) {
        struct bus_spec spec;
        bool clean;

        arena_reset(&arena); /* frees everything of the last file */
        if (!bus_file_read(invocation, &arena, invocation->operands[i], &spec, &clean, &err)) {
            code = command_failed(invocation, &err);
            break;
        }
        if (!clean)
            code = EXIT_FOUND;
        else if (!invocation_flag(invocation, "json"))
            fprintf(invocation->out, "%s: ok\n", invocation->operands[i]);
    }
    arena_release(&arena);
    return code;
}

const struct command COMMAND_BUS_LINT = {
    .name = "lint",
    .summary = "report every fault of a bus file",
    .operands = "FILE...",
    .operands_min = 1,
    .operands_max = -1,
    .description =
        "Reads bus files and reports every fault, each as FILE:LINE:COLUMN with a hint. Needs\n"
        "neither a store nor a network. The exit code is 1 if there are errors; warnings do not\n"
        "count. docs/buses.md describes the files.",
    .options = { { "json", NULL, "Print one JSON object per fault." } },
    .run = cmd_lint,
};
