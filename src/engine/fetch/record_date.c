/* Dates of records. Errors are ignored here: the callers quote what they found, and the complaint
 * of the last format need not be the right one. */
#include "engine/fetch/record_date.h"

bool record_date_text(const struct spec_response *response, struct str text, struct date *date)
{
    struct error ignored;

    for (size_t i = 0; i < response->date_format_count; i++) {
        if (date_parse(response->date_formats[i], text, date, &ignored))
            return true;
    }
    return false;
}

bool record_date_parts(const struct json_doc *doc, struct json_node node, struct date *date)
{
    int64_t parts[3];
    size_t count = 0;
    struct error ignored;

    if (json_type(doc, json_at(doc, node, 0)) == JSON_ARRAY)
        node = json_at(doc, node, 0);
    for (struct json_iter it = json_each(doc, node); json_next(&it);) {
        if (count == ARRAY_LEN(parts) || !json_i64(doc, it.value, &parts[count++]))
            return false;
    }
    return count > 0 && date_from_parts(parts, count, date, &ignored);
}
