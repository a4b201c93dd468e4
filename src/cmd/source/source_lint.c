/* patra source lint, and reading source files for other commands. */
#include "base/buf.h"
#include "base/list.h"
#include "cli/file.h"
#include "cli/output.h"
#include "cmd/source/source.h"
#include "data/json_write.h"
#include "spec/check.h"
#include "spec/fault.h"

#define FAULT_TEXT_BYTES_MAX ((size_t)4 << 20)
#define LINT_BYTES_MAX ((size_t)64 << 20)

static void write_json(const struct fault_list *faults, struct str file, struct buf *text)
{
    struct json_writer w;

    for (size_t i = 0; i < faults->count; i++) {
        const struct fault *fault = &faults->items[i];

        json_writer_init(&w, text);
        json_write_object(&w);
        json_write_member_str(&w, STR("file"), file);
        json_write_member_i64(&w, STR("line"), fault->at.line);
        json_write_member_i64(&w, STR("column"), fault->at.column);
        json_write_member_str(&w, STR("severity"),
                              fault->severity == FAULT_ERROR ? STR("error") : STR("warning"));
        json_write_member_str(&w, STR("code"), str_of(fault->code));
        json_write_member_str(&w, STR("message"), fault->message);
        json_write_member_str(&w, STR("hint"), fault->hint);
        json_write_end(&w);
        json_writer_finish(&w);
        buf_add_char(text, '\n');
    }
}

static bool print_faults(FILE *out, const struct fault_list *faults, const char *path, bool as_json,
                         struct error *err)
{
    const struct str file = str_of(path);
    struct buf text;

    buf_init(&text, faults->arena, FAULT_TEXT_BYTES_MAX);
    if (as_json) {
        write_json(faults, file, &text);
    } else {
        for (size_t i = 0; i < faults->count; i++)
            fault_print(&faults->items[i], file, &text);
        if (faults->errors + faults->warnings > faults->count)
            buf_printf(&text, "%s: %zu more\n", path,
                       faults->errors + faults->warnings - faults->count);
    }
    return output_text(out, &text, err);
}

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
    return print_faults(out, &faults, file->path, as_json, err);
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
