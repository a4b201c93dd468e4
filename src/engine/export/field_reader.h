/* field_reader: the fields of stored records, by the mapping that is in force now.
 *
 *      struct field_reader reader;
 *
 *      ok = field_reader_open(&reader, &request, err);
 *      for each record:
 *          ok = field_reader_read(&reader, page, entry, &fields, err);
 *      field_reader_close(&reader);
 *
 * Paths are compiled once for each expression that records have. What the store keeps for its views
 * may be of an older mapping and has other names, so fields are derived here each time.
 */
#ifndef PATRA_ENGINE_EXPORT_FIELD_READER_H
#define PATRA_ENGINE_EXPORT_FIELD_READER_H

#include "engine/source/mapping.h"
#include "port/store_record_read.h"

struct field_reader_request {
    struct store *store;
    struct str source;
    int64_t now_us; /* the source is read as in force at this instant */
    struct spec_cache *specs;
};

struct field_mapping; /* of one expression */

struct field_reader {
    struct store *store;
    struct arena arena; /* lives as long as the reader */
    struct mappings *mappings;
    struct field_mapping *known; /* by expression, the one found last in front */
};

/* "source.unknown" (L2) when no source of this name is in force. */
bool field_reader_open(struct field_reader *reader, const struct field_reader_request *request,
                       struct error *err) MUST_CHECK;
void field_reader_close(struct field_reader *reader); /* accepts the zero value */

struct derived_fields {
    struct str json; /* an object, names in the order of the source; '' where `missing` says why */
    struct str missing; /* for people: "the present mapping cannot read it: date.missing" */
};

/* The entry must have its payload. False only for a failure of our own. */
bool field_reader_read(struct field_reader *reader, struct arena *arena,
                       const struct record_entry *entry, struct derived_fields *fields,
                       struct error *err) MUST_CHECK;

#endif
