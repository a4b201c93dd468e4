/* Checks of the fields of records: each by itself, and as columns of one view. */
#include "spec/check_context.h"
#include "spec/record_home.h"
#include "spec/source_views.h"

/* ---- one field ---- */

static void check_values(const struct check *check, const struct registry_row *row)
{
    const struct registry_value *values = &row->values[registry_column(row->table, STR("allowed"))];

    if (!values->is_set || !str_eq(values->text, STR("[]")))
        return;
    check_row_error(check, "spec.field.values", (struct check_place){ row, "allowed", 0 },
                    "is empty: no record could have the field");
    check_hint(check, "write the values that the field may have, or leave it out");
}

static void check_list(const struct check *check, const struct registry_row *row)
{
    if (!field_is_list(row) || field_type_of(row) != FIELD_ANY ||
        source_is_broken(check->source, row, registry_column(row->table, STR("type"))))
        return;
    check_row_error(check, "spec.field.list", (struct check_place){ row, "list", 0 },
                    "requires a type: without one, a field is whatever its path finds");
    check_hint(check, "add type: text, integer, number, boolean, instant, date or json");
}

static void check_length(const struct check *check, const struct registry_row *row)
{
    const struct str column = view_column_name(check->arena, field_name(row));

    if (column.len <= SQL_NAME_MAX)
        return;
    check_row_error(check, "spec.field.name", (struct check_place){ .row = row },
                    "is too long for a column: a name has at most %d characters", SQL_NAME_MAX);
}

void check_fields(const struct check *check)
{
    const struct registry_row *row = NULL;

    while ((row = source_next(check->source, REGISTRY_FIELD, check->in.endpoint, STR("OUTPUT:"),
                              row)) != NULL) {
        check_values(check, row);
        check_list(check, row);
        check_length(check, row);
    }
}

/* ---- columns of one view ---- */

/* Whether records of both endpoints are stored together. */
static bool share_view(const struct source *source, struct str a, struct str b)
{
    const struct registry_row *first = NULL, *second = NULL;

    if (str_eq(a, b))
        return true;
    while ((first = source_next_operation(source, first)) != NULL) {
        const struct record_home home = record_home(source, first);

        second = NULL;
        while (str_eq(home.bearer, a) && (second = source_next_operation(source, second)) != NULL) {
            const struct record_home other = record_home(source, second);

            if (str_eq(other.bearer, b) && str_eq(other.endpoint, home.endpoint))
                return true;
        }
    }
    return false;
}

static void check_pair(const struct check *check, const struct registry_row *a,
                       const struct registry_row *b)
{
    const struct str column = view_column_name(check->arena, field_name(a));
    const struct check_place place = { .row = b };

    if (!str_eq(column, view_column_name(check->arena, field_name(b))) ||
        !share_view(check->source, a->endpoint, b->endpoint))
        return;
    if (!str_eq(field_name(a), field_name(b))) {
        check_row_error(check, "spec.field.name", place,
                        "is the column %.*s of the same view as %.*s of endpoint %.*s",
                        STR_ARG(column), STR_ARG(field_name(a)), STR_ARG(a->endpoint));
        check_hint(check, "rename one of them; columns are in lower case");
    } else if (field_type_of(a) != field_type_of(b) || field_is_list(a) != field_is_list(b)) {
        check_row_error(check, "spec.field.type", place,
                        "has another type than in endpoint %.*s, whose records are stored together "
                        "with these",
                        STR_ARG(a->endpoint));
        check_hint(check, "write the same type and list in both");
    }
}

static bool is_field(const struct registry_row *row)
{
    return row->table == REGISTRY_FIELD && str_starts(row->key, STR("OUTPUT:"));
}

void check_columns(const struct check *check)
{
    const struct registry_source *rows = &check->source->registry;

    for (size_t i = 0; i < rows->count; i++) {
        for (size_t j = i + 1; is_field(&rows->rows[i]) && j < rows->count; j++) {
            if (is_field(&rows->rows[j]))
                check_pair(check, &rows->rows[i], &rows->rows[j]);
        }
    }
}
