/* writer: turns records into the bytes of one format. A format is a file, write_NAME.c, with a
 * table of three functions:
 *
 *      begin   once, before the first record: a header, an opening tag
 *      record  one record; it appends to writer->out
 *      end     once, after the last
 *
 * A format that needs columns (CSV, Parquet) finds them in the shape before it begins. What is in
 * `out` goes to the sink whenever it is large; a format that must collect rows first keeps them in
 * `own`, and frees that in `close`.
 */
#ifndef PATRA_ENGINE_EXPORT_WRITER_H
#define PATRA_ENGINE_EXPORT_WRITER_H

#include "base/buf.h"
#include "core/source_codes.h"
#include "data/parquet.h"
#include "port/byte_sink.h"
#include "port/store_record_read.h"

struct export_item {
    const struct record_entry *entry;
    struct str fields;   /* a JSON object; '': none (see `missing`), or not asked for */
    struct arena *arena; /* for what one record needs; ended with its page */
};

struct export_column { /* a field */
    struct str name;
    enum field_type type; /* ANY also where two endpoints give it different types */
    bool is_list;
};

struct export_columns {
    struct export_column *items; /* in the order of the source */
    size_t count;
};

struct export_shape {
    struct str source;
    bool with_fields; /* the fields instead of the payload */
    struct export_columns columns;
    struct parquet_codec codec; /* of the pages of a Parquet file */
};

struct export_writer;

struct export_format {
    const char *name;
    bool needs_fields; /* it has nothing but fields */
    bool (*begin)(struct export_writer *writer, struct error *err);
    bool (*record)(struct export_writer *writer, const struct export_item *item, struct error *err);
    bool (*end)(struct export_writer *writer, struct error *err);
    void (*close)(struct export_writer *writer); /* frees `own`; NULL: there is none */
};

extern const struct export_format EXPORT_JSONL;
extern const struct export_format EXPORT_CSV;
extern const struct export_format EXPORT_XML;
extern const struct export_format EXPORT_PARQUET;

/* By name; NULL: there is none. */
const struct export_format *export_format_named(struct str name);

struct export_writer {
    const struct export_format *format;
    struct export_shape shape;
    struct byte_sink *sink; /* the caller's */
    struct arena arena;
    struct buf out;
    int64_t bytes; /* given to the sink */
    void *own;     /* the format's */
};

bool export_writer_open(struct export_writer *writer, const struct export_format *format,
                        const struct export_shape *shape, struct byte_sink *sink,
                        struct error *err) MUST_CHECK;
bool export_writer_add(struct export_writer *writer, const struct export_item *item,
                       struct error *err) MUST_CHECK;
bool export_writer_end(struct export_writer *writer, struct error *err) MUST_CHECK;
void export_writer_close(struct export_writer *writer); /* accepts the zero value */

/* The columns that every table has before those of the fields: endpoint, id, version, date, whether
 * it is deleted. */
enum export_own { OWN_ENDPOINT, OWN_ID, OWN_VERSION, OWN_UPDATED_AT, OWN_DELETED };
enum { OWN_COLUMNS = OWN_DELETED + 1 };
extern const struct str EXPORT_OWN_COLUMNS[OWN_COLUMNS];

/* "export.column" (L2) for a field with the name of one of them. */
bool export_columns_check(const struct export_columns *columns, struct error *err) MUST_CHECK;

/* Whether the payload is XML: every other record is JSON, which cannot begin with '<'. */
bool export_is_xml(struct str payload);

#endif
