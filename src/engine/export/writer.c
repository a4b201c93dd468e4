/* What all formats share: the buffer before the sink. */
#include "engine/export/writer.h"

/* One record must fit, whatever a format makes of it. */
#define WRITER_BYTES_MAX ((size_t)1 << 30)

/* Larger than the buffer of a file, which then passes it on without a copy. */
enum { FLUSH_BYTES = 128 << 10 };

static const struct export_format *const FORMATS[] = { &EXPORT_JSONL, &EXPORT_CSV, &EXPORT_XML };

const struct export_format *export_format_named(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(FORMATS); i++) {
        if (str_eq(name, str_of(FORMATS[i]->name)))
            return FORMATS[i];
    }
    return NULL;
}

bool export_is_xml(struct str payload)
{
    return payload.len > 0 && payload.data[0] == '<';
}

static bool flush(struct export_writer *writer, struct error *err)
{
    if (!buf_ok(&writer->out, err) || !byte_sink_write(writer->sink, buf_str(&writer->out), err))
        return false;
    writer->bytes += (int64_t)writer->out.len;
    buf_clear(&writer->out);
    return true;
}

bool export_writer_open(struct export_writer *writer, const struct export_format *format,
                        const struct export_shape *shape, struct byte_sink *sink, struct error *err)
{
    *writer = (struct export_writer){ .format = format, .shape = *shape, .sink = sink };
    arena_init(&writer->arena, WRITER_BYTES_MAX);
    buf_init(&writer->out, &writer->arena, WRITER_BYTES_MAX);
    return format->begin(writer, err);
}

bool export_writer_add(struct export_writer *writer, const struct export_item *item,
                       struct error *err)
{
    return writer->format->record(writer, item, err) &&
           (writer->out.len < FLUSH_BYTES || flush(writer, err));
}

bool export_writer_end(struct export_writer *writer, struct error *err)
{
    return writer->format->end(writer, err) && flush(writer, err);
}

void export_writer_close(struct export_writer *writer)
{
    arena_release(&writer->arena);
    *writer = (struct export_writer){ 0 };
}
