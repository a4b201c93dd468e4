/* What all formats share: the buffer before the sink. */
#include "engine/export/writer.h"

/* One record must fit, whatever a format makes of it. */
#define WRITER_BYTES_MAX ((size_t)1 << 30)

/* Larger than the buffer of a file, which then passes it on without a copy. */
enum { FLUSH_BYTES = 128 << 10 };

static const struct export_format *const FORMATS[] = { &EXPORT_JSONL, &EXPORT_CSV, &EXPORT_XML,
                                                       &EXPORT_PARQUET };

const struct export_format *export_format_named(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(FORMATS); i++) {
        if (str_eq(name, str_of(FORMATS[i]->name)))
            return FORMATS[i];
    }
    return NULL;
}

const struct str EXPORT_OWN_COLUMNS[] = {
    [OWN_ENDPOINT] = STR_INIT("record_endpoint"), [OWN_ID] = STR_INIT("record_id"),
    [OWN_VERSION] = STR_INIT("record_version"),   [OWN_UPDATED_AT] = STR_INIT("record_updated_at"),
    [OWN_DELETED] = STR_INIT("record_deleted"),
};

static bool is_own(struct str name)
{
    for (size_t i = 0; i < OWN_COLUMNS; i++) {
        if (str_eq(name, EXPORT_OWN_COLUMNS[i]))
            return true;
    }
    return false;
}

bool export_columns_check(const struct export_columns *columns, struct error *err)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (is_own(columns->items[i].name))
            return error_set(err, ERROR_REQUEST, "export.column",
                             "the field %.*s has the name of a column that every export has",
                             STR_ARG(columns->items[i].name));
    }
    return true;
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
    if (writer->own != NULL && writer->format->close != NULL)
        writer->format->close(writer);
    arena_release(&writer->arena);
    *writer = (struct export_writer){ 0 };
}
