/* Conversions, one function per type. */
#include "engine/fetch/field_value.h"

#include <assert.h>
#include <math.h>

#include "base/instant.h"
#include "data/json_number.h"
#include "data/json_storable.h"
#include "engine/fetch/record_date.h"

enum { DATE_TEXT_BYTES = 10 };

struct reading {
    const struct spec_response *response;
    struct str text; /* of a scalar, without blanks around it; data NULL: an object or array */
    struct field_value *value;
};

static bool is_number(struct str text)
{
    return text.len > 0 && (text.data[0] == '-' || (text.data[0] >= '0' && text.data[0] <= '9')) &&
           json_is_valid(text);
}

static enum field_fit read_text(const struct reading *reading)
{
    return reading->text.data != NULL ? FIELD_FITS : FIELD_MISFIT;
}

static enum field_fit read_integer(const struct reading *reading)
{
    return is_number(reading->text) && json_number_i64(reading->text, &reading->value->i64)
               ? FIELD_FITS
               : FIELD_MISFIT;
}

static enum field_fit read_number(const struct reading *reading)
{
    reading->value->text = reading->text;
    return is_number(reading->text) && json_number_is_storable(reading->text) &&
                   isfinite(json_number_double(reading->text))
               ? FIELD_FITS
               : FIELD_MISFIT;
}

static enum field_fit read_boolean(const struct reading *reading)
{
    static const struct {
        struct str word;
        bool is_true;
    } words[] = {
        { STR_INIT("true"), true }, { STR_INIT("false"), false }, { STR_INIT("1"), true },
        { STR_INIT("0"), false },   { STR_INIT("yes"), true },    { STR_INIT("no"), false },
        { STR_INIT("y"), true },    { STR_INIT("n"), false },
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_eq_nocase(reading->text, words[i].word)) {
            reading->value->i64 = words[i].is_true;
            return FIELD_FITS;
        }
    }
    return FIELD_MISFIT;
}

static bool find_date(const struct reading *reading, struct date *date)
{
    const struct field_found *found = &reading->value->found;
    struct error ignored;

    if (reading->text.data == NULL)
        return record_date_parts(found->doc, found->node, date);
    return record_date_text(reading->response, reading->text, date) ||
           date_parse(date_format_find(STR("auto")), reading->text, date, &ignored);
}

/* Crossref's [[null]], or the [null] in it: the date is not known. */
static bool is_unknown(const struct field_found *found)
{
    const struct json_node inner = json_at(found->doc, found->node, 0);
    const enum json_type type = json_type(found->doc, inner);

    return type == JSON_NULL || (type == JSON_ARRAY &&
                                 json_type(found->doc, json_at(found->doc, inner, 0)) <= JSON_NULL);
}

static enum field_fit read_instant(const struct reading *reading)
{
    struct date date;

    if (reading->text.data == NULL && is_unknown(&reading->value->found))
        return FIELD_BLANK;
    if (!find_date(reading, &date) || instant_to_civil(date.at_us).year < 1)
        return FIELD_MISFIT;
    reading->value->i64 = date.at_us;
    return FIELD_FITS;
}

static enum field_fit read_date(const struct reading *reading)
{
    const enum field_fit fit = read_instant(reading);

    return fit == FIELD_FITS &&
                   instant_floor(reading->value->i64, US_PER_DAY) != reading->value->i64
               ? FIELD_MISFIT
               : fit;
}

static enum field_fit read_json(const struct reading *reading)
{
    (void)reading;
    return FIELD_FITS;
}

/* The text of a scalar as the types other than TEXT and JSON read it. */
static bool scalar_text(const struct field_found *found, struct arena *arena, struct str *text,
                        struct error *err)
{
    *text = found->text;
    if (found->doc != NULL) {
        switch (json_type(found->doc, found->node)) {
        case JSON_STRING:
            if (!json_string(found->doc, found->node, arena, text, err))
                return false;
            break;
        case JSON_NUMBER:
        case JSON_BOOL:
            *text = json_raw(found->doc, found->node);
            break;
        default:
            *text = (struct str){ NULL, 0 };
            return true;
        }
    }
    *text = str_trim(*text);
    if (text->len == 0)
        *text = STR("");
    return true;
}

bool field_value_read(const struct spec_response *response, enum field_type type,
                      const struct field_found *found, struct arena *arena,
                      struct field_value *value, enum field_fit *fit, struct error *err)
{
    static enum field_fit (*const readers[FIELD_TYPES])(const struct reading *) = {
        [FIELD_TEXT] = read_text,       [FIELD_INTEGER] = read_integer,
        [FIELD_NUMBER] = read_number,   [FIELD_BOOLEAN] = read_boolean,
        [FIELD_INSTANT] = read_instant, [FIELD_DATE] = read_date,
        [FIELD_JSON] = read_json,
    };
    struct reading reading = { .response = response, .value = value };

    assert(type != FIELD_ANY);
    *value = (struct field_value){ .type = type, .found = *found };
    if (!scalar_text(found, arena, &reading.text, err))
        return false;
    *fit = reading.text.data != NULL && reading.text.len == 0 && type != FIELD_TEXT &&
                   type != FIELD_JSON
               ? FIELD_BLANK
               : readers[type](&reading);
    return true;
}

/* ---- writing ---- */

/* Strings of JSON are copied with their escapes: nothing is lost. */
static void write_text(const struct field_found *found, struct json_writer *writer)
{
    if (found->doc == NULL)
        json_write_str(writer, found->text);
    else if (json_type(found->doc, found->node) == JSON_STRING)
        json_write_node(writer, found->doc, found->node);
    else
        json_write_str(writer, json_raw(found->doc, found->node));
}

/* A value of XML is a text. */
static void write_json(const struct field_found *found, struct json_writer *writer)
{
    if (found->doc == NULL)
        json_write_str(writer, found->text);
    else
        json_write_node(writer, found->doc, found->node);
}

void field_value_write(const struct field_value *value, struct json_writer *writer)
{
    char text[INSTANT_TEXT_MAX];
    size_t len;

    switch (value->type) {
    case FIELD_INTEGER:
        json_write_i64(writer, value->i64);
        break;
    case FIELD_NUMBER:
        json_write_raw(writer, value->text);
        break;
    case FIELD_BOOLEAN:
        json_write_bool(writer, value->i64 != 0);
        break;
    case FIELD_INSTANT:
    case FIELD_DATE:
        len = instant_format(value->i64, text);
        json_write_str(writer,
                       (struct str){ text, value->type == FIELD_DATE ? DATE_TEXT_BYTES : len });
        break;
    case FIELD_JSON:
        write_json(&value->found, writer);
        break;
    case FIELD_ANY:
    case FIELD_TEXT:
        write_text(&value->found, writer);
        break;
    }
}
