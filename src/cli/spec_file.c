/* Reads files that a person wrote, and prints their faults. */
#include "cli/spec_file.h"

#include <string.h>

#include "cli/fault_output.h"
#include "cli/file.h"

#define LINT_BYTES_MAX ((size_t)64 << 20)

bool spec_file_read(const struct invocation *invocation, const struct spec_file_kind *kind,
                    struct arena *arena, const char *path, void *spec, bool *clean,
                    struct error *err)
{
    const bool is_lint = strcmp(invocation->command->name, "lint") == 0;
    struct fault_list faults;
    struct str file;

    /* One byte more than a file may have: the reader reports it. */
    if (!file_read(arena, path, kind->bytes_max + 1, &file, err))
        return false;
    fault_list_init(&faults, arena);
    *clean = kind->read(arena, file, &faults, spec);
    if (faults.failed)
        return arena_error(arena, err);
    fault_list_sort(&faults);
    return fault_output(is_lint ? invocation->out : invocation->talk, &faults, path,
                        is_lint && invocation_flag(invocation, "json"), err);
}

enum exit_code spec_file_lint(const struct invocation *invocation,
                              const struct spec_file_kind *kind)
{
    enum exit_code code = EXIT_DONE;
    struct arena arena;
    struct error err;

    arena_init(&arena, LINT_BYTES_MAX);
    for (int i = 0; i < invocation->operand_count; i++) {
        void *spec;
        bool clean;

        arena_reset(&arena); /* frees everything of the last file */
        spec = arena_alloc(&arena, kind->spec_size);
        if (spec == NULL ? !arena_error(&arena, &err)
                         : !spec_file_read(invocation, kind, &arena, invocation->operands[i], spec,
                                           &clean, &err)) {
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
