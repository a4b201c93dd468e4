/* The checks of a source as a whole, of each endpoint and of each operation, in their order. */
#include "spec/check.h"

#include <stdio.h>

#include "spec/check_context.h"
#include "spec/record_home.h"
#include "spec/setting_value.h"
#include "spec/source_diff.h"

/* ---- what is requested from an endpoint ---- */

static void find_users(struct check *check)
{
    const struct registry_row *row = NULL;

    while ((row = source_next_operation(check->source, row)) != NULL) {
        if (!str_eq(row_text(row, "target_endpoint"), check->in.endpoint))
            continue;
        if (operation_is_by_id(row))
            check->is_by_id = true;
        else if (check->role == ENDPOINT_BULK)
            check->is_read = true;
        else
            check->is_timed = true;
    }
    while ((row = source_next_endpoint(check->source, row)) != NULL)
        check->is_by_id |= str_eq(row_text(row, "detail_endpoint"), check->in.endpoint);
}

static bool begin(struct check *check, const struct resolve_request *request, struct error *err)
{
    if (!resolve(check->arena, request, &check->in, err))
        return false;
    check->role = resolution_code(&check->in, "role");
    check->method = resolution_code(&check->in, "method");
    check->page_type = resolution_code(&check->in, "page.type");
    check->format = resolution_code(&check->in, "response.format");
    check->has_phase = check_is_set(check, "details.endpoint");
    check->expr_costs = ARENA_ARRAY(check->arena, int64_t, check->source->registry.count);
    if (check->expr_costs == NULL)
        return arena_error(check->arena, err);
    find_users(check);
    return true;
}

static void check_endpoint(struct check *check)
{
    check_templates(check);
    check_http(check);
    check_auth(check);
    check_rate(check);
    check_page(check);
    check_window(check);
    check_response(check);
    check_absent(check);
    check_details(check);
    check_bulk(check);
    check_child(check);
    if (check->is_timed || check->is_by_id || check->is_read)
        return;
    check_warn(check, "spec.endpoint.unused", "role", "is of an endpoint that is never requested");
    check_hint(check, "name it in an operation or in details.endpoint, or remove it");
}

/* ---- the source as a whole ---- */

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool contains_name(struct str text, struct str name)
{
    size_t at;

    while ((at = str_find(text, name)) < text.len) {
        if (at + name.len == text.len || !is_name_char(text.data[at + name.len]))
            return true;
        text = str_slice(text, at + name.len, text.len);
    }
    return false;
}

/* Members of some sets are only used by templates: what no template mentions has no effect. */
static bool is_mentioned(const struct source *source, const char *scope, struct str name)
{
    char needle[128];

    (void)snprintf(needle, sizeof(needle), "%s.%.*s", scope, STR_ARG(name));
    for (size_t i = 0; i < source->registry.count; i++) {
        const struct registry_row *row = &source->registry.rows[i];

        for (size_t c = 0; c < registry_table(row->table)->column_count; c++) {
            if (contains_name(row->values[c].text, str_of(needle)))
                return true;
        }
    }
    return false;
}

static void check_mentioned(const struct check *check, const struct registry_row *row,
                            const char *scope, struct str name)
{
    if (is_mentioned(check->source, scope, name) || check_is_templates(row))
        return;
    check_row_error(check, "spec.idle", (struct check_place){ .row = row },
                    "is not used by any template");
    check_hint(check, "use it as ${%s.%.*s}, or remove it", scope, STR_ARG(name));
}

/* A literal counts by its value anyway. */
static void check_selects(const struct check *check, const struct registry_row *row)
{
    const struct registry_value *value = &row->values[registry_column(row->table, STR("value"))];
    const struct registry_value *selects =
        &row->values[registry_column(row->table, STR("selects"))];

    if (!selects->is_set || (value->is_set && setting_is_reference(value->text)))
        return;
    check_row_error(check, "spec.idle", (struct check_place){ row, "selects", 0 },
                    "is only for references: a literal value always counts");
    check_hint(check, "remove selects, or use env:NAME or file:PATH");
}

static void check_names(const struct check *check)
{
    for (size_t i = 0; i < check->source->registry.count; i++) {
        const struct registry_row *row = &check->source->registry.rows[i];
        struct str rest = row->key;
        const struct str kind = str_cut(&rest, ':');

        if (row->table == REGISTRY_PARAM && str_eq(kind, STR("PARAM"))) {
            check_mentioned(check, row, "params", rest);
            check_selects(check, row);
        }
        if (row->table == REGISTRY_FIELD && str_eq(kind, STR("HISTORY")))
            check_mentioned(check, row, "history", rest);
        if (row->table == REGISTRY_EXPR_RENDER && row->key.len > 0)
            check_mentioned(check, row, "expr", row->key);
    }
}

/* The database is outside: the rows of a store are checked like a file, value by value. */
static void check_stored_value(const struct check *check, const struct registry_row *row,
                               int column)
{
    const struct setting *setting = source_setting(row, column);
    struct value_reader reader = { .arena = check->arena, .setting = setting };
    struct registry_value again;
    struct fault_list inner;
    struct buf field, text;

    buf_init(&field, check->arena, 1024);
    source_print_field(row, column, &field);
    reader.field = buf_str(&field);
    reader.faults = &inner;
    if (setting == NULL) {
        fault_error(check->faults, "spec.row.unknown", check->source->at,
                    "%.*s is not a setting of a source", STR_ARG(buf_str(&field)));
        fault_hint(check->faults, "apply the source's file again");
        return;
    }
    buf_init(&text, check->arena, SOURCE_BYTES_MAX);
    setting_print(setting, &row->values[column], &text);
    fault_list_init(&inner, check->arena);
    if (!text.failed && setting_read_text(&reader, buf_str(&text), &again) &&
        registry_value_eq(setting_storage(setting), &row->values[column], &again))
        return;
    check->faults->failed |= inner.failed;
    if (inner.errors > 0) {
        fault_error(check->faults, inner.items[0].code, check->source->at, "%.*s",
                    STR_ARG(inner.items[0].message));
        fault_hint(check->faults, "%.*s", STR_ARG(inner.items[0].hint));
        return;
    }
    fault_error(check->faults, "spec.row.value", check->source->at,
                "%.*s has a value that no file can have", STR_ARG(buf_str(&field)));
    fault_hint(check->faults, "apply the source's file again");
}

static void check_stored(const struct check *check)
{
    for (size_t i = 0; i < check->source->registry.count; i++) {
        const struct registry_row *row = &check->source->registry.rows[i];

        for (size_t c = 0; c < registry_table(row->table)->column_count; c++) {
            if (row->values[c].is_set)
                check_stored_value(check, row, (int)c);
        }
    }
}

static void check_whole(const struct check *check)
{
    const struct mark at = check->source->at;

    if (source_next_endpoint(check->source, NULL) == NULL) {
        fault_error(check->faults, "spec.key.missing", at, "endpoints is missing");
        fault_hint(check->faults, "add at least one endpoint: endpoints: { works: ... }");
    }
    if (source_next_operation(check->source, NULL) == NULL) {
        fault_warn(check->faults, "spec.operation.none", at,
                   "operations is missing: nothing will be fetched");
        fault_hint(check->faults,
                   "add one: operations: { harvest: { endpoint: NAME, every: 1h } }");
    }
    check_names(check);
    check_columns(check);
}

void source_check(struct arena *arena, const struct xml *xml, const struct source *source,
                  struct fault_list *faults)
{
    const struct check blank = { .arena = arena, .faults = faults, .source = source, .xml = &xml };
    struct resolve_request request = { .source = source };
    const struct registry_row *row = NULL;
    struct error err;

    if (source->marks == NULL)
        check_stored(&blank);
    check_whole(&blank);
    while ((row = source_next_endpoint(source, row)) != NULL) {
        struct check check = blank;

        request.endpoint = row->endpoint;
        if (begin(&check, &request, &err))
            check_endpoint(&check);
        else
            faults->failed = true; /* without a trigger, only memory can fail */
    }
    while ((row = source_next_operation(source, row)) != NULL) {
        struct check check = blank;

        request.endpoint = row_text(row, "target_endpoint");
        request.operation = row;
        if (begin(&check, &request, &err))
            check_operation(&check);
        else
            faults->failed = true;
    }
    fault_list_sort(faults);
}

bool source_check_plan(struct arena *arena, const struct xml *xml, const struct plan_check *plan,
                       struct fault_list *faults, struct error *err)
{
    const struct check blank = {
        .arena = arena, .faults = faults, .source = plan->source, .xml = &xml
    };
    struct resolve_request request = { .source = plan->source,
                                       .endpoint = row_text(plan->operation, "target_endpoint"),
                                       .operation = plan->operation,
                                       .overrides = plan->overrides };
    struct check check = blank;
    struct str details;

    if (plan->source->marks == NULL)
        check_stored(&blank);
    if (!begin(&check, &request, err))
        return false;
    details = resolution_text(&check.in, "details.endpoint");
    check_endpoint(&check);
    check_operation(&check);
    if (details.len > 0) {
        check = blank;
        request.endpoint = details;
        request.is_detail = true;
        if (!begin(&check, &request, err))
            return false;
        check_endpoint(&check);
    }
    fault_list_sort(faults);
    return fault_list_ok(faults, err);
}

bool source_lint(struct arena *arena, const struct xml *xml, const struct source_text *text,
                 struct fault_list *faults, struct source *source)
{
    const bool is_read = source_read(arena, text, faults, source);

    if (source->registry.count > 0)
        source_check(arena, xml, source, faults);
    fault_list_sort(faults);
    return is_read && faults->errors == 0 && !faults->failed;
}
