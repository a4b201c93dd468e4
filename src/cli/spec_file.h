/* spec_file: files that a person wrote (buses, projections), read and checked by every command that
 * takes them. */
#ifndef PATRA_CLI_SPEC_FILE_H
#define PATRA_CLI_SPEC_FILE_H

#include "cli/command.h"
#include "spec/fault.h"

struct spec_file_kind {
    size_t bytes_max; /* of a file */
    size_t spec_size; /* of what it is read into */
    /* Adds its faults; false when there are errors. */
    bool (*read)(struct arena *arena, struct str file, struct fault_list *faults, void *spec);
};

/* Reads and checks a file, and prints its faults: lint on stdout, others as talk. *clean is false
 * when it has errors. Returns false when the file cannot be read, or for failures that are not its
 * fault. */
bool spec_file_read(const struct invocation *invocation, const struct spec_file_kind *kind,
                    struct arena *arena, const char *path, void *spec, bool *clean,
                    struct error *err) MUST_CHECK;

/* The command lint: every operand is such a file. It has the option json. */
enum exit_code spec_file_lint(const struct invocation *invocation,
                              const struct spec_file_kind *kind);

#endif
