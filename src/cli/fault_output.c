/* The faults of a file, as lines or as JSON. */
#include "cli/fault_output.h"

#include "base/buf.h"
#include "cli/output.h"
#include "data/json_write.h"

#define FAULT_TEXT_BYTES_MAX ((size_t)4 << 20)

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

bool fault_output(FILE *out, const struct fault_list *faults, const char *path, bool as_json,
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
