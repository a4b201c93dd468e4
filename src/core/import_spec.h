/* import_spec: what the file of a foreign outbox says, as values: which table of which database is
 * imported, and what its columns are called.
 *
 * spec/import.h reads it from a file or from its stored form. It contains no secret, only a
 * reference to the database's address (port/secret.h).
 */
#ifndef PATRA_CORE_IMPORT_SPEC_H
#define PATRA_CORE_IMPORT_SPEC_H

#include <stdint.h>

#include "base/str.h"
#include "core/codes.h"

/* The database of the table is the store's own. */
#define IMPORT_OWN_DATABASE STR("store")

enum import_payload { IMPORT_PAYLOAD_JSON, IMPORT_PAYLOAD_BYTES };
extern const struct code_table IMPORT_PAYLOAD_CODES;

enum import_late { IMPORT_LATE_REFUSE, IMPORT_LATE_TAKE };
extern const struct code_table IMPORT_LATE_CODES;

/* The names of the table's columns. Two may be missing in the table: schema_version, which is 1
 * then, and last_error. */
struct import_columns {
    struct str id;
    struct str aggregate_type;
    struct str aggregate_id;
    struct str event_type;
    struct str version;
    struct str schema_version;
    struct str payload;
    struct str occurred_at;
    struct str published_at; /* from here on, those that are written */
    struct str publish_attempts;
    struct str next_retry_at;
    struct str last_error; /* empty: it has none */
};

struct import_spec {
    struct str name;
    struct str description;
    struct str database; /* env:NAME, file:PATH, or "store" */
    struct str table;    /* "app_outbox", or "schema.app_outbox" */
    struct import_columns columns;
    enum import_payload payload;
    enum import_late late;
    struct str type_prefix; /* before aggregate types */
    int64_t page;           /* rows that are read at once */
    int64_t poll_us;        /* the longest pause between two looks */
};

#endif
