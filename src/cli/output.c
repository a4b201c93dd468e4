#include "cli/output.h"

bool output_text(FILE *out, const struct buf *text, struct error *err)
{
    if (!buf_ok(text, err))
        return false;
    if (fwrite(text->data, 1, text->len, out) != text->len || fflush(out) != 0)
        return error_set(err, ERROR_TRANSIENT, "output", "the output could not be written");
    return true;
}

bool output_json(FILE *out, struct json_writer *w, struct error *err)
{
    json_writer_finish(w);
    buf_add_char(w->out, '\n');
    return output_text(out, w->out, err);
}

bool output_list(FILE *out, struct arena *arena, const void *rows, size_t count, output_row *write,
                 struct error *err)
{
    struct json_writer w;
    struct buf text;

    buf_init(&text, arena, OUTPUT_BYTES_MAX);
    json_writer_init(&w, &text);
    json_write_array(&w);
    for (size_t i = 0; i < count; i++) {
        json_write_object(&w);
        write(&w, rows, i);
        json_write_end(&w);
    }
    json_write_end(&w);
    return output_json(out, &w, err);
}

void output_window(struct json_writer *w, struct str name, struct window window)
{
    json_write_name(w, name);
    if (!window_is_valid(window)) {
        json_write_null(w);
        return;
    }
    json_write_object(w);
    json_write_member_instant(w, STR("from"), window.from_us);
    json_write_member_instant(w, STR("to"), window.to_us);
    json_write_end(w);
}

void output_ids(struct json_writer *w, struct id_range ids)
{
    if (!id_range_is_valid(ids))
        return;
    if (ids.from != ID_LOWEST)
        json_write_member_i64(w, STR("fromId"), ids.from);
    if (ids.to != ID_HIGHEST)
        json_write_member_i64(w, STR("toId"), ids.to);
}
