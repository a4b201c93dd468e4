/* field: an output field of a record: what its path finds, as its type.
 *
 * Without a type (ANY), the field is what the path finds: JSON as it is, XML as texts, and a list
 * where a path finds several. With one, each value is read strictly (field_value.h). An array
 * counts as its elements, unless the type is JSON, or the array begins with a number or an array
 * and the type is a date; null is no value. The field is the first value or, with is_list, the list
 * of all. It is absent where there is no value; an empty array is an empty list.
 */
#ifndef PATRA_ENGINE_FETCH_FIELD_H
#define PATRA_ENGINE_FETCH_FIELD_H

#include "engine/fetch/document.h"
#include "engine/fetch/field_value.h"

struct field_values {
    struct field_value *items;
    size_t count;      /* all that the path finds; without is_list, the first counts */
    bool is_there;     /* the field has something to publish */
    struct str misfit; /* the first value that counts and does not fit, as received; data NULL:
                          none */
};

/* What to read, and how. */
struct field_reading {
    const struct spec_response *response; /* has the formats of dates */
    const struct spec_field *field;       /* not of type ANY */
    const struct document_path *path;
};

bool field_read(const struct document_place *place, const struct field_reading *reading,
                struct field_values *values, struct error *err) MUST_CHECK;

/* The value of the member; the field must be there. */
void field_write(const struct field_values *values, const struct spec_field *field,
                 struct json_writer *writer);

#endif
