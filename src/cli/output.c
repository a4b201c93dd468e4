/* JSON and text on a command's stdout. */
#include "cli/output.h"

struct json_writer *output_begin(struct output *output, struct arena *arena)
{
    buf_init(&output->text, arena, OUTPUT_BYTES_MAX);
    json_writer_init(&output->w, &output->text);
    return &output->w;
}

bool output_end(struct output *output, FILE *out, struct error *err)
{
    json_writer_finish(&output->w);
    buf_add_char(&output->text, '\n');
    return output_text(out, &output->text, err);
}

bool output_text(FILE *out, const struct buf *text, struct error *err)
{
    return buf_ok(text, err) && output_bytes(out, buf_str(text), err);
}

bool output_bytes(FILE *out, struct str bytes, struct error *err)
{
    if ((bytes.len > 0 && fwrite(bytes.data, 1, bytes.len, out) != bytes.len) || fflush(out) != 0)
        return error_set(err, ERROR_TRANSIENT, "output", "the output could not be written");
    return true;
}
