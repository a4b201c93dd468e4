/* Checks of responses: records can be found and identified, and rules can apply. */
#include <stdio.h>
#include <string.h>

#include "core/source_codes.h"
#include "data/json.h"
#include "data/jsonpath.h"
#include "spec/check_context.h"
#include "spec/source_views.h"
#include "spec/spec.h"

/* ---- paths ---- */

static void check_jsonpath(const struct check *check, struct check_place place, struct str text)
{
    const struct jsonpath *path;
    struct error err;
    size_t fault_at = 0;

    if (jsonpath_compile(check->arena, text, &path, &fault_at, &err)) {
        if (jsonpath_warning(path) != NULL)
            check_row_error(check, "spec.path.pattern", place, "cannot match: %s",
                            jsonpath_warning(path));
        return;
    }
    place.offset += fault_at;
    check_row_error(check, "spec.path.syntax", place, "is not a JSONPath: %s", err.text);
    check_hint(check, "$ is the response, or the record for paths within a record");
}

/* Prefixes of response.namespaces, in the arena. */
static bool namespaces_of(const struct check *check, struct xml_namespace **list, size_t *count)
{
    struct json_doc doc;
    struct json_iter it;
    struct error err;

    *count = 0;
    if (!json_parse(&doc, check->arena, resolution_text(&check->in, "response.namespaces"), &err))
        return false;
    *list = ARENA_ARRAY(check->arena, struct xml_namespace, json_count(&doc, json_root(&doc)));
    if (*list == NULL)
        return false;
    for (it = json_each(&doc, json_root(&doc)); json_next(&it); (*count)++) {
        if (!json_string(&doc, it.name, check->arena, &(*list)[*count].prefix, &err) ||
            !json_string(&doc, it.value, check->arena, &(*list)[*count].uri, &err))
            return false;
    }
    return true;
}

static const struct xml *xml_of(const struct check *check)
{
    struct error err;

    if (*check->xml == NULL)
        *check->xml = module_load("xml", &err);
    if (*check->xml == NULL) {
        check_warn(check, "spec.path.unchecked", "response.format",
                   "is xml, but the XML module is not installed: paths were not checked");
        check_hint(check, "%s", err.text);
    }
    return *check->xml;
}

static void check_xpath(const struct check *check, struct check_place place, struct str text)
{
    const struct xml *xml = xml_of(check);
    struct xml_namespace *namespaces;
    struct xml_path *path;
    struct error err;
    size_t count;

    if (xml == NULL || !namespaces_of(check, &namespaces, &count))
        return;
    if (xml_path_compile(xml, text, namespaces, count, &path, &err)) {
        xml_path_close(xml, path);
        return;
    }
    check_row_error(check, "spec.path.syntax", place, "is not an XPath: %s", err.text);
    check_hint(check, "declare prefixes under response.namespaces");
}

static void check_path_at(const struct check *check, struct check_place place, struct str text)
{
    if (text.len == 0)
        return;
    if (check->format == RESPONSE_XML)
        check_xpath(check, place, text);
    else if (check->format == RESPONSE_JSON)
        check_jsonpath(check, place, text);
}

/* The parts of an id must stay apart; a backslash marks separators inside of parts. */
static void check_separator(const struct check *check)
{
    const struct str separator = resolution_text(&check->in, "response.id_separator");

    if (separator.len == 0)
        check_error(check, "spec.response.id-separator", "response.id_separator",
                    "is empty: 'x' + 'yz' and 'xy' + 'z' would be one id");
    else if (str_find_char(separator, '\\') < separator.len)
        check_error(check, "spec.response.id-separator", "response.id_separator",
                    "has a backslash, which marks separators inside of parts");
}

struct path_list {
    bool is_list; /* false: one path, or none */
    size_t count;
};

/* A setting that is one path, or a list of them. */
static struct path_list check_path_list(const struct check *check, const char *setting)
{
    const struct resolved *paths = resolution_get(&check->in, setting);
    const struct check_place place = { paths->row, "parts", 0 };
    struct path_list list = { 0 };
    struct json_doc doc;
    struct json_iter it;
    struct error err;
    struct str text;

    if (!paths->value.is_set || !json_parse(&doc, check->arena, paths->value.text, &err))
        return list;
    if (json_type(&doc, json_root(&doc)) == JSON_STRING) {
        if (json_string(&doc, json_root(&doc), check->arena, &text, &err))
            check_path_at(check, place, text);
        return list;
    }
    for (it = json_each(&doc, json_root(&doc)); json_next(&it); list.count++) {
        if (json_string(&doc, it.value, check->arena, &text, &err))
            check_path_at(check, place, text);
    }
    list.is_list = true;
    return list;
}

static void check_id_paths(const struct check *check)
{
    const struct path_list parts = check_path_list(check, "response.id");

    if (!parts.is_list) {
        (void)check_idle(check, "response.id_separator", "response.id",
                         "has no effect: the id has one part");
        return;
    }
    check_separator(check);
    if (parts.count == 0) {
        check_error(check, "spec.response.id-missing", "response.id", "has no parts");
        check_hint(check, "write the path of a record's id, such as $.id");
    }
}

static void check_date_paths(const struct check *check)
{
    const struct path_list dates = check_path_list(check, "response.updated_at");

    if (dates.is_list && (dates.count == 0 || dates.count > SPEC_DATE_PATHS_MAX))
        check_error(check, "spec.response.dates", "response.updated_at",
                    "must have 1 to %d paths, not %zu", SPEC_DATE_PATHS_MAX, dates.count);
}

static void check_paths(const struct check *check)
{
    static const struct row_filter filters[] = {
        { REGISTRY_FIELD, STR_INIT("PATH:"), false },
        { REGISTRY_FIELD, STR_INIT("HISTORY:"), false },
        { REGISTRY_FIELD, STR_INIT("OUTPUT:"), false },
        { REGISTRY_FIELD, STR_INIT("ERROR:"), true },
        { REGISTRY_FIELD, STR_INIT("SUCCESS:"), true },
    };
    const struct resolved *next = resolution_get(&check->in, "page.next");

    for (size_t p = 0; p < ARRAY_LEN(filters); p++) {
        const struct row_list rows = check_rows(check, filters[p]);

        for (size_t i = 0; i < rows.count; i++)
            check_path_at(check, (struct check_place){ rows.items[i], "path", 0 },
                          row_text(rows.items[i], "path"));
    }
    if (next->value.is_set &&
        (check->page_type == PAGINATION_TOKEN || check->page_type == PAGINATION_URL))
        check_path_at(check, (struct check_place){ next->row, "next_path", 0 }, next->value.text);
    check_id_paths(check);
    check_date_paths(check);
    check_fields(check);
}

/* ---- rules ---- */

static void check_error_rule(const struct check *check, const struct registry_row *row)
{
    const bool has_path = row_is_set(row, "path"), has_header = row_is_set(row, "header");
    const bool has_equals = row_is_set(row, "equals"), has_contains = row_is_set(row, "contains");
    const int meaning = row_is_set(row, "meaning")
                            ? code_find(&RULE_MEANING_CODES, row_text(row, "meaning"))
                            : RULE_ERROR;
    const int level = code_find(&ERROR_LEVEL_CODES, row_text(row, "level"));
    const struct check_place whole = { .row = row };

    if (!has_path && !has_header && !has_contains && !row_is_set(row, "statuses")) {
        check_row_error(check, "spec.rule.no-condition", whole, "applies to every response");
        check_hint(check, "add status, path, header or contains");
    }
    if (has_path && has_header) {
        check_row_error(check, "spec.rule.two-places", whole, "has both path and header");
        check_hint(check, "write two rules");
    }
    if (has_equals && has_contains) {
        check_row_error(check, "spec.rule.two-tests", whole, "has both equals and contains");
        check_hint(check, "remove contains; equals is stricter");
    }
    if (has_equals && !has_path && !has_header) {
        check_row_error(check, "spec.rule.equals", (struct check_place){ row, "equals", 0 },
                        "requires a path or a header");
        check_hint(check, "add one, or use contains, which searches the whole body");
    }
    if (meaning == RULE_ERROR && !row_is_set(row, "level")) {
        check_row_error(check, "spec.rule.level-missing", whole, "has no level");
        check_hint(check, "add level: L1 to retry, L2 to give up, L4 to stop the source");
    }
    if (meaning != RULE_ERROR && row_is_set(row, "level")) {
        check_row_error(check, "spec.idle", (struct check_place){ row, "level", 0 },
                        "has no effect: meaning decides the level");
        check_hint(check, "remove it");
    }
    if (level == ERROR_NONE) {
        check_row_error(check, "spec.rule.level", (struct check_place){ row, "level", 0 },
                        "must be L1 to L4");
        check_hint(check, "remove the rule if the response is valid; use meaning: empty for a "
                          "response without records");
    }
}

static void check_rule_type(const struct check *check, const struct registry_row *row)
{
    const int type = code_find(&VALUE_KIND_CODES, row_text(row, "type"));
    const struct check_place place = { row, "type", 0 };

    if (!row_is_set(row, "type") || type < 0)
        return;
    if (check->format == RESPONSE_XML && type > VALUE_PRESENT) {
        check_row_error(check, "spec.rule.type", place, "is for format: json only");
        check_hint(check, "remove it: XML has texts and elements, and path finds either");
    }
    if (row_is_set(row, "equals") &&
        (type == VALUE_PRESENT || type == VALUE_ARRAY || type == VALUE_OBJECT)) {
        check_row_error(check, "spec.rule.type", place, "can have no value to compare with equals");
        check_hint(check, "remove one of the two");
    }
}

static void check_success_rule(const struct check *check, const struct registry_row *row)
{
    check_rule_type(check, row);
    if (!row_is_set(row, "path")) {
        check_row_error(check, "spec.rule.no-condition", (struct check_place){ .row = row },
                        "has no path");
        check_hint(check, "add a path that every successful response has");
    }
    if (code_find(&ERROR_LEVEL_CODES, row_text(row, "level")) == ERROR_NONE) {
        check_row_error(check, "spec.rule.level", (struct check_place){ row, "level", 0 },
                        "must be L1 to L4");
        check_hint(check, "set the level of a response without it");
    }
}

static void check_rules(const struct check *check)
{
    const struct row_list errors =
        check_rows(check, (struct row_filter){ REGISTRY_FIELD, STR("ERROR:"), true });
    const struct row_list successes =
        check_rows(check, (struct row_filter){ REGISTRY_FIELD, STR("SUCCESS:"), true });

    for (size_t i = 0; i < errors.count; i++)
        check_error_rule(check, errors.items[i]);
    for (size_t i = 0; i < successes.count; i++)
        check_success_rule(check, successes.items[i]);
}

/* ---- what is needed ---- */

/* In two phases the records, and so their fields, are those of phase two. */
static void check_event_state(const struct check *check)
{
    const bool has_fields = source_next(check->source, REGISTRY_FIELD, check->in.endpoint,
                                        STR("OUTPUT:"), NULL) != NULL;

    if (check->has_phase || has_fields || resolution_bool(&check->in, "event.payload"))
        return;
    check_warn(check, "spec.event.no-state", "event.payload",
               "is not set, and there are no fields: events carry no state of the record");
    check_hint(check, "write the fields that consumers need, or event: { payload: true }");
}

static void check_needed(const struct check *check)
{
    if (check_is_missing(check, "response.items") &&
        !(check->role == ENDPOINT_BULK && check->format == RESPONSE_JSON)) {
        check_error(check, "spec.response.items-missing", "response.items", "is missing");
        check_hint(check, "write the path of a page's records, such as $.results");
    }
    if (check_is_missing(check, "response.id")) {
        check_error(check, "spec.response.id-missing", "response.id", "is missing");
        check_hint(check,
                   "write the path of a record's id, such as $.id; $ when the record is the id");
    }
    if (!check->has_phase && check_is_missing(check, "response.updated_at")) {
        check_warn(check, "spec.response.no-updated-at", "response.updated_at",
                   "is missing: the content decides whether a record has changed");
        fault_lacks(check->faults, FAULT_LACKS_UPDATED_AT);
        check_hint(check, "write the path of the date of a record's last change, if there is one");
    }
    check_event_state(check);
    /* A feed is complete by its ids or by its token, not by a count. */
    if (check->role != ENDPOINT_SEARCH || check->page_type == PAGINATION_SINGLE ||
        check_window_type(check) != CURSOR_TIME)
        return;
    if (check_lacks_total(check)) {
        check_warn(check, "spec.response.no-total", "response.total",
                   "is missing: completeness cannot be proved by counting");
        fault_lacks(check->faults, FAULT_LACKS_TOTAL);
        check_hint(check, "write the path of the number of matches, if the response has it; "
                          "total_header if a header does");
    }
    if (check_lacks_total(check) && check_is_missing(check, "response.has_more") &&
        check->page_type != PAGINATION_TOKEN && check->page_type != PAGINATION_URL) {
        check_warn(check, "spec.response.no-has-more", "response.has_more",
                   "is missing: a short page is treated as the last");
        fault_lacks(check->faults, FAULT_LACKS_HAS_MORE);
        check_hint(check, "write the path of the flag for more pages, if the response has one");
    }
}

static bool has_dates(const struct check *check)
{
    const struct registry_row *row = NULL;

    while ((row = source_next(check->source, REGISTRY_FIELD, check->in.endpoint, STR("OUTPUT:"),
                              row)) != NULL) {
        if (field_type_of(row) == FIELD_DATE || field_type_of(row) == FIELD_INSTANT)
            return true;
    }
    return !check_is_missing(check, "response.updated_at");
}

static void check_total(const struct check *check)
{
    if (!check_is_set(check, "response.total") || !check_is_set(check, "response.total_header"))
        return;
    check_error(check, "spec.response.total-twice", "response.total_header",
                "is set, and so is response.total");
    check_hint(check, "remove one of the two");
}

static void check_unused(const struct check *check)
{
    const struct registry_row *field =
        source_next(check->source, REGISTRY_FIELD, check->in.endpoint, STR("OUTPUT:"), NULL);

    if (check->format == RESPONSE_JSON)
        (void)check_idle(check, "response.namespaces", "response.format",
                         "is for format: xml only");
    if (check_is_own(check, "response.date_formats") && !has_dates(check))
        (void)check_idle(check, "response.date_formats", "response.updated_at",
                         "has no effect without updated_at, or a field that is an instant or a "
                         "date");
    if (check_is_missing(check, "response.updated_at"))
        (void)check_idle(check, "response.future_tolerance", "response.updated_at",
                         "has no effect without updated_at");
    if (check->page_type == PAGINATION_SINGLE)
        (void)check_idle(check, "response.has_more", "page.type",
                         "has no effect: there is one page");
    if (check->has_phase) {
        (void)check_idle(check, "event.payload", "details.endpoint",
                         "has no effect: records come from details.endpoint");
        (void)check_idle(check, "payload.packed", "details.endpoint",
                         "has no effect: records come from details.endpoint");
    }
    if (check->has_phase && field != NULL) {
        check_row_error(check, "spec.idle", (struct check_place){ .row = field },
                        "has no effect: records come from details.endpoint");
        check_hint(check, "move fields to that endpoint");
    }
}

void check_response(struct check *check)
{
    check_paths(check);
    check_rules(check);
    check_needed(check);
    check_total(check);
    check_unused(check);
}
