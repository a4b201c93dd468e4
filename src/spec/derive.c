/* Defaults that depend on the operation or on the endpoint's role. */
#include "spec/derive.h"

#include "core/source_codes.h"
#include "spec/resolve.h"

static const struct registry_value nothing = { .is_set = false };

static struct str text_in(const struct registry_row *row, const char *column)
{
    const struct registry_value *value = &row->values[registry_column(row->table, str_of(column))];

    return value->is_set ? value->text : (struct str){ 0 };
}

static struct registry_value word(const struct code_table *codes, int value)
{
    return (struct registry_value){ .is_set = true, .text = code_of(codes, value) };
}

/* -1: none is resolved, or its kind is unknown. */
static int operation_of(const struct resolution *resolution)
{
    return resolution->operation != NULL ? source_operation_code(resolution->operation) : -1;
}

static bool is_update(int operation)
{
    return operation == OPERATION_UPDATE || operation == OPERATION_METRICS;
}

static bool is_by_id(const struct resolution *resolution)
{
    struct str drive;

    if (!is_update(operation_of(resolution)))
        return false;
    drive = text_in(resolution->operation, "drive");
    return drive.len == 0 || str_eq(drive, code_of(&UPDATE_DRIVE_CODES, UPDATE_BY_ID));
}

struct registry_value derive_operation(const struct resolution *resolution)
{
    const int operation = operation_of(resolution);

    return operation >= 0 ? word(&OPERATION_CODES, operation) : nothing;
}

struct registry_value derive_priority(const struct resolution *resolution)
{
    static const int64_t priorities[] = {
        [OPERATION_HARVEST] = 10, [OPERATION_UPDATE] = 50,   [OPERATION_METRICS] = 60,
        [OPERATION_REPLAY] = 70,  [OPERATION_BACKFILL] = 90,
    };
    const int operation = operation_of(resolution);

    if (operation < 0)
        return nothing;
    return (struct registry_value){ .is_set = true, .number = priorities[operation] };
}

struct registry_value derive_namespace(const struct resolution *resolution)
{
    const int operation = operation_of(resolution);

    if (operation < 0)
        return nothing;
    if (is_by_id(resolution)) /* it has no cursor */
        return word(&NAMESPACE_SCOPE_CODES, NAMESPACE_GLOBAL);
    return word(&NAMESPACE_SCOPE_CODES, operation == OPERATION_HARVEST || is_update(operation)
                                            ? NAMESPACE_EXPR
                                            : NAMESPACE_CUSTOM);
}

struct registry_value derive_direction(const struct resolution *resolution)
{
    const int operation = operation_of(resolution);

    if (operation < 0)
        return nothing;
    return word(&DIRECTION_CODES,
                operation == OPERATION_BACKFILL ? DIRECTION_BACKFILL : DIRECTION_FORWARD);
}

struct registry_value derive_drive(const struct resolution *resolution)
{
    if (!is_update(operation_of(resolution)))
        return nothing;
    return word(&UPDATE_DRIVE_CODES, is_by_id(resolution) ? UPDATE_BY_ID : UPDATE_BY_TIME);
}

/* What the endpoint's windows are requested by: its own setting, or else the source's. */
static int window_type(const struct resolution *resolution)
{
    const struct str levels[] = { resolution->endpoint, STR("") };

    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        const struct registry_row *row =
            source_row(resolution->source, REGISTRY_WINDOW, levels[i], STR(""));
        const struct str type = row != NULL ? text_in(row, "window_type") : (struct str){ 0 };

        if (type.len > 0)
            return code_find(&CURSOR_TYPE_CODES, type);
    }
    return CURSOR_TIME;
}

static bool is_of_files(const struct resolution *resolution)
{
    const struct registry_row *row =
        source_row(resolution->source, REGISTRY_ENDPOINT, resolution->endpoint, STR(""));

    return row != NULL &&
           str_eq(text_in(row, "role"), code_of(&ENDPOINT_ROLE_CODES, ENDPOINT_BULK));
}

struct registry_value derive_cursor(const struct resolution *resolution)
{
    if (operation_of(resolution) < 0)
        return nothing;
    if (is_by_id(resolution))
        return word(&CURSOR_TYPE_CODES, CURSOR_ID);
    return window_type(resolution) >= 0 ? word(&CURSOR_TYPE_CODES, window_type(resolution))
                                        : nothing;
}

struct registry_value derive_slice(const struct resolution *resolution)
{
    if (operation_of(resolution) < 0)
        return nothing;
    if (is_by_id(resolution))
        return word(&SLICE_DIMENSION_CODES, SLICE_ID);
    if (is_of_files(resolution))
        return word(&SLICE_DIMENSION_CODES, SLICE_FILE);
    return word(&SLICE_DIMENSION_CODES,
                window_type(resolution) == CURSOR_TIME ? SLICE_TIME : SLICE_FEED);
}

struct registry_value derive_candidates(const struct resolution *resolution)
{
    const struct registry_row *row = resolution->operation;

    if (!is_by_id(resolution))
        return nothing;
    return (struct registry_value){
        .is_set = true,
        .text = row->values[registry_column(row->table, STR("stale_after_us"))].is_set
                    ? STR("[\"STALENESS\",\"EXPR_CHANGE\",\"SIGNAL\"]")
                    : STR("[\"EXPR_CHANGE\",\"SIGNAL\"]"),
    };
}

/* An endpoint that is requested by id returns everything in one response, unless its file says
 * otherwise. */
struct registry_value derive_page_type(const struct resolution *resolution)
{
    const struct registry_row *row =
        source_row(resolution->source, REGISTRY_ENDPOINT, resolution->endpoint, STR(""));

    if (row == NULL || str_eq(text_in(row, "role"), code_of(&ENDPOINT_ROLE_CODES, ENDPOINT_SEARCH)))
        return nothing;
    return word(&PAGINATION_TYPE_CODES, PAGINATION_SINGLE);
}

/* The children of several parents in one response are the exception. */
struct registry_value derive_id_batch_size(const struct resolution *resolution)
{
    const int64_t preset = 100;
    const struct registry_row *row =
        source_row(resolution->source, REGISTRY_ENDPOINT, resolution->endpoint, STR(""));

    return (struct registry_value){
        .is_set = true,
        .number = row != NULL && text_in(row, "parent_endpoint").len > 0 ? 1 : preset,
    };
}
