/* field_value: one value as the type that the source gives its field.
 *
 * A value fits its type as a whole and without loss, or it does not fit. Nothing is guessed,
 * rounded or cut off:
 *
 *      TEXT     a text; a number or boolean as it is written
 *      INTEGER  a number without a fraction that fits 64 bits: 12, 12.0, 12e3
 *      NUMBER   a number that is finite as a double; its digits stay as they are written
 *      BOOLEAN  true or false; 1 or 0; as texts also yes or no, y or n, in any case
 *      INSTANT  a date by response.date_formats, else by "auto"; or date parts ([2001, 9, 15];
 *               [null] and [[null]] are no value)
 *      DATE     the same without a time of day, which may be 00:00 UTC
 *      JSON     anything
 *
 * Numbers, booleans and dates may be texts of JSON or XML, in the same grammar; blanks around them
 * do not count. A text of blanks only is no value, unless the type is TEXT or JSON. Of a date that
 * is only a year or a month, the first day counts (data/date.h). Year 0 is refused, because
 * PostgreSQL has none.
 */
#ifndef PATRA_ENGINE_FETCH_FIELD_VALUE_H
#define PATRA_ENGINE_FETCH_FIELD_VALUE_H

#include "data/json.h"
#include "data/json_write.h"
#include "spec/spec.h"

/* As a path found it: a node of JSON (never null or none), or a text of XML (doc is NULL). */
struct field_found {
    const struct json_doc *doc;
    struct json_node node;
    struct str text;
};

enum field_fit { FIELD_FITS, FIELD_BLANK, FIELD_MISFIT };

struct field_value {
    enum field_type type;
    struct field_found found;
    struct str text; /* NUMBER: its digits */
    int64_t i64;     /* INTEGER; BOOLEAN: 0 or 1; INSTANT, DATE: microseconds */
};

/* `type` must not be ANY. `response` has the formats of dates. Sets *fit, and the value where it
 * fits. False only when the arena is full. */
bool field_value_read(const struct spec_response *response, enum field_type type,
                      const struct field_found *found, struct arena *arena,
                      struct field_value *value, enum field_fit *fit, struct error *err) MUST_CHECK;

/* As JSON: an instant as "2026-01-02T03:04:05.678901Z", a date as "2026-01-02". */
void field_value_write(const struct field_value *value, struct json_writer *writer);

#endif
