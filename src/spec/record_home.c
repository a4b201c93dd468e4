/* Which endpoint records belong to. */
#include "spec/record_home.h"

#include <assert.h>

#include "core/source_codes.h"
#include "spec/resolve.h"

static struct str text_in(const struct registry_row *row, const char *column)
{
    const int at = registry_column(row->table, str_of(column));

    assert(at >= 0);
    return row->values[at].is_set ? row->values[at].text : (struct str){ 0 };
}

bool operation_is_by_id(const struct registry_row *operation)
{
    const int code = source_operation_code(operation);

    return (code == OPERATION_UPDATE || code == OPERATION_METRICS) &&
           !str_eq(text_in(operation, "drive"), code_of(&UPDATE_DRIVE_CODES, UPDATE_BY_TIME));
}

bool operation_is_of_files(const struct source *source, const struct registry_row *operation)
{
    const struct registry_row *row =
        source_row(source, REGISTRY_ENDPOINT, text_in(operation, "target_endpoint"), STR(""));

    return row != NULL &&
           str_eq(text_in(row, "role"), code_of(&ENDPOINT_ROLE_CODES, ENDPOINT_BULK));
}

struct str record_lister(const struct source *source, struct str detail)
{
    const struct registry_row *row = NULL;
    struct str only = { 0 };

    while ((row = source_next_endpoint(source, row)) != NULL) {
        if (str_eq(text_in(row, "detail_endpoint"), detail))
            return row->endpoint;
    }
    row = NULL;
    while ((row = source_next_operation(source, row)) != NULL) {
        const struct str target = text_in(row, "target_endpoint");

        if (source_operation_code(row) != OPERATION_HARVEST)
            continue;
        if (only.len > 0 && !str_eq(only, target))
            return (struct str){ 0 };
        only = target;
    }
    return only;
}

struct str record_parent(const struct source *source, struct str endpoint)
{
    const struct registry_row *row = source_row(source, REGISTRY_ENDPOINT, endpoint, STR(""));

    return row != NULL ? text_in(row, "parent_endpoint") : (struct str){ 0 };
}

bool record_ids_are_lower(const struct source *source, struct str lister)
{
    const struct registry_row *row = source_row(source, REGISTRY_ENDPOINT, lister, STR(""));

    if (row != NULL && text_in(row, "detail_endpoint").len > 0)
        row = source_row(source, REGISTRY_ENDPOINT, text_in(row, "detail_endpoint"), STR(""));
    return row != NULL &&
           str_eq(text_in(row, "id_case"), code_of(&LETTER_CASE_CODES, LETTER_CASE_LOWER));
}

struct record_home record_home(const struct source *source, const struct registry_row *operation)
{
    const struct str endpoint = text_in(operation, "target_endpoint");
    const struct registry_row *row = source_row(source, REGISTRY_ENDPOINT, endpoint, STR(""));
    struct record_home home = { endpoint, endpoint };
    struct str lister;

    if (row != NULL && text_in(row, "detail_endpoint").len > 0)
        home.bearer = text_in(row, "detail_endpoint");
    if (operation_is_of_files(source, operation)) {
        lister = text_in(row, "records_of").len > 0 ? text_in(row, "records_of")
                                                    : record_lister(source, endpoint);
        if (lister.len > 0)
            home.endpoint = lister;
        return home;
    }
    if (source_operation_code(operation) != OPERATION_UPDATE || !operation_is_by_id(operation) ||
        record_parent(source, endpoint).len > 0)
        return home;
    lister = record_lister(source, endpoint);
    if (lister.len > 0)
        home.endpoint = lister;
    return home;
}
