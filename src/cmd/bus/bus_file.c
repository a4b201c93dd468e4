/* patra bus lint, and reading bus files for other commands. */
#include "cli/spec_file.h"
#include "cmd/bus/bus.h"
#include "spec/bus.h"

static bool read_bus(struct arena *arena, struct str file, struct fault_list *faults, void *spec)
{
    return bus_read(arena, file, faults, spec);
}

static const struct spec_file_kind BUS_FILE = { BUS_FILE_BYTES_MAX, sizeof(struct bus_spec),
                                                read_bus };

bool bus_file_read(const struct invocation *invocation, struct arena *arena, const char *path,
                   struct bus_spec *spec, bool *clean, struct error *err)
{
    struct bus_text text;

    /* What is applied is read back from the store, by the same reader. */
    return spec_file_read(invocation, &BUS_FILE, arena, path, spec, clean, err) &&
           (!*clean ||
            (bus_compile(arena, spec, &text, err) && bus_load(arena, text.json, spec, err)));
}

static enum exit_code cmd_lint(const struct invocation *invocation)
{
    return spec_file_lint(invocation, &BUS_FILE);
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
