/* What the checks share: reporting a fault at its place, and questions about what is in effect. */
#include "spec/check_context.h"

#include <stdarg.h>
#include <stdio.h>

#include "spec/setting_value.h"
#include "spec/source_diff.h"

/* ---- reporting ---- */

struct field_place {
    struct mark at;
    char field[256];
};

static void name_field(const struct check *check, const struct registry_row *row, int column,
                       struct field_place *place)
{
    struct buf out;

    buf_init(&out, check->arena, sizeof(place->field));
    source_print_field(row, column, &out);
    (void)snprintf(place->field, sizeof(place->field), "%.*s", STR_ARG(buf_str(&out)));
}

/* The row in which a missing setting belongs: the endpoint's; else the source's, so that one
 * mistake of the source is reported once; else the endpoint itself. */
static const struct registry_row *row_of_absent(const struct check *check,
                                                const struct setting *setting)
{
    const struct str key = setting->key != NULL ? str_of(setting->key) : STR("");
    const struct registry_row *row =
        source_row(check->source, setting->table, check->in.endpoint, key);

    if (row == NULL && (setting->at & AT_SOURCE) != 0)
        row = source_row(check->source, setting->table, STR(""), key);
    if (row == NULL && setting->table == REGISTRY_HTTP)
        row = source_row(check->source, REGISTRY_PROVENANCE, STR(""), STR(""));
    if (row == NULL && setting->table == REGISTRY_FIELD)
        row = source_next(check->source, REGISTRY_FIELD, check->in.endpoint, STR("PATH:"), NULL);
    if (row == NULL)
        row = source_row(check->source, REGISTRY_ENDPOINT, check->in.endpoint, STR(""));
    return row;
}

static struct field_place place_of_absent(const struct check *check, const struct setting *setting)
{
    const bool is_operation = (setting->at & AT_OPERATION) != 0;
    const struct registry_row *row =
        is_operation ? check->in.operation : row_of_absent(check, setting);
    struct field_place place;

    place.at = source_mark_of(check->source, row, -1);
    if (is_operation)
        (void)snprintf(place.field, sizeof(place.field), "operations.%.*s.%s", STR_ARG(row->key),
                       setting->path);
    else if (row == NULL || row->endpoint.len == 0)
        (void)snprintf(place.field, sizeof(place.field), "%s", setting->path);
    else
        (void)snprintf(place.field, sizeof(place.field), "endpoints.%.*s.%s",
                       STR_ARG(row->endpoint), setting->path);
    return place;
}

static struct field_place place_of(const struct check *check, const char *path)
{
    const struct resolved *resolved = resolution_get(&check->in, path);
    const struct setting *setting = &SETTINGS[resolved - check->in.values];
    struct field_place place;

    if (resolved->row == NULL)
        return place_of_absent(check, setting);
    place.at = source_mark_of(check->source, resolved->row, setting_column(setting));
    name_field(check, resolved->row, setting_column(setting), &place);
    return place;
}

PRINTF_LIKE(4, 0)
static void report_error(const struct check *check, const char *code,
                         const struct field_place *place, const char *format, va_list args)
{
    char text[ERROR_TEXT_MAX];

    (void)vsnprintf(text, sizeof(text), format, args);
    fault_error(check->faults, code, place->at, "%s %s", place->field, text);
}

void check_error(const struct check *check, const char *code, const char *path, const char *format,
                 ...)
{
    const struct field_place place = place_of(check, path);
    va_list args;

    va_start(args, format);
    report_error(check, code, &place, format, args);
    va_end(args);
}

void check_warn(const struct check *check, const char *code, const char *path, const char *format,
                ...)
{
    const struct field_place place = place_of(check, path);
    char text[ERROR_TEXT_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fault_warn(check->faults, code, place.at, "%s %s", place.field, text);
}

void check_row_error(const struct check *check, const char *code, struct check_place at,
                     const char *format, ...)
{
    const int column = at.column != NULL ? registry_column(at.row->table, str_of(at.column)) : -1;
    struct field_place place;
    va_list args;

    place.at = source_mark_in(check->source, at.row, column, at.offset);
    name_field(check, at.row, column, &place);
    va_start(args, format);
    report_error(check, code, &place, format, args);
    va_end(args);
}

void check_hint(const struct check *check, const char *format, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fault_hint(check->faults, "%s", text);
}

/* ---- questions ---- */

bool check_is_set(const struct check *check, const char *path)
{
    return resolution_get(&check->in, path)->value.is_set;
}

bool check_is_missing(const struct check *check, const char *path)
{
    const struct resolved *resolved = resolution_get(&check->in, path);

    return !resolved->value.is_set && resolved->row == NULL;
}

struct row_list check_rows(const struct check *check, struct row_filter filter)
{
    struct row_list rows = { 0 };
    struct error ignored;

    if (resolution_rows(check->arena, &check->in, filter, &rows, &ignored))
        return rows;
    check->faults->failed = true;
    return (struct row_list){ 0 };
}

bool check_lacks_total(const struct check *check)
{
    return check_is_missing(check, "response.total") &&
           !check_is_set(check, "response.total_header");
}

bool check_is_own(const struct check *check, const char *path)
{
    const struct resolved *resolved = resolution_get(&check->in, path);

    return resolved->value.is_set && resolved->origin >= ORIGIN_ENDPOINT;
}

/* An endpoint's definition and its configuration are equally near to it. */
static int nearness(enum origin origin)
{
    return origin == ORIGIN_BUILTIN ? 0 : origin == ORIGIN_SOURCE ? 1 : 2;
}

bool check_is_as_near(const struct check *check, const char *path, const char *decider)
{
    const struct resolved *resolved = resolution_get(&check->in, path);

    return resolved->value.is_set && resolved->origin != ORIGIN_BUILTIN &&
           nearness(resolved->origin) >= nearness(resolution_get(&check->in, decider)->origin);
}

bool check_idle(const struct check *check, const char *path, const char *decider,
                const char *format, ...)
{
    const struct field_place place = place_of(check, path);
    va_list args;

    if (!check_is_as_near(check, path, decider) ||
        resolution_get(&check->in, path)->value.is_template)
        return false;
    va_start(args, format);
    report_error(check, "spec.idle", &place, format, args);
    va_end(args);
    check_hint(check, "remove it, or change %s", decider);
    return true;
}

bool check_is_templates(const struct registry_row *row)
{
    bool has_any = false;

    for (size_t i = 0; i < registry_table(row->table)->column_count; i++) {
        if (row->values[i].is_set && !row->values[i].is_template)
            return false;
        has_any |= row->values[i].is_set;
    }
    return has_any;
}

bool check_is_more(const struct check *check, const char *path, const char *than)
{
    const struct resolved *a = resolution_get(&check->in, path);
    const struct resolved *b = resolution_get(&check->in, than);
    const struct setting *setting = &SETTINGS[a - check->in.values];

    if (!a->value.is_set || !b->value.is_set)
        return false;
    if (setting_storage(setting) == REGISTRY_REAL)
        return a->value.real > b->value.real;
    return a->value.number > b->value.number;
}

bool row_is_set(const struct registry_row *row, const char *column)
{
    return row->values[registry_column(row->table, str_of(column))].is_set;
}

struct str row_text(const struct registry_row *row, const char *column)
{
    const struct registry_value *value = &row->values[registry_column(row->table, str_of(column))];

    return value->is_set ? value->text : (struct str){ 0 };
}
