/* Checks of endpoints that share a cursor (shares_with): each names all others, and their windows
 * begin at the same place. */
#include "data/json.h"
#include "spec/check_context.h"

static bool parse_list(const struct check *check, struct str text, struct json_doc *doc)
{
    struct error err;

    return json_parse(doc, check->arena, text, &err);
}

static bool list_has(const struct json_doc *doc, struct str endpoint)
{
    for (struct json_iter it = json_each(doc, json_root(doc)); json_next(&it);) {
        if (json_string_is(doc, it.value, endpoint))
            return true;
    }
    return false;
}

/* The harvest of another endpoint names this one and all that this one names. */
static bool is_mutual(const struct check *check, const struct json_doc *own, struct str other)
{
    const struct str endpoint = resolution_text(&check->in, "endpoint");
    const struct registry_row *row = NULL;
    struct json_doc theirs;

    while ((row = source_next_operation(check->source, row)) != NULL) {
        if (!str_eq(row_text(row, "target_endpoint"), other) ||
            source_operation_code(row) != OPERATION_HARVEST || !row_is_set(row, "shares_with"))
            continue;
        if (!parse_list(check, row_text(row, "shares_with"), &theirs))
            return true; /* reported as what it is */
        if (!list_has(&theirs, endpoint) ||
            json_count(&theirs, json_root(&theirs)) != json_count(own, json_root(own)))
            return false;
        for (struct json_iter it = json_each(own, json_root(own)); json_next(&it);) {
            if (!json_string_is(own, it.value, other) &&
                !list_has(&theirs, json_string_raw(own, it.value)))
                return false;
        }
        return true;
    }
    return false;
}

/* The setting in which the windows of two endpoints must not differ, and do; NULL: none. */
static const char *difference(const struct check *check, struct str other)
{
    static const char *const texts[] = { "window.key", "window.start" };
    const struct resolve_request request = { .source = check->source, .endpoint = other };
    struct resolution theirs;
    struct error err;

    if (!resolve(check->arena, &request, &theirs, &err)) {
        check->faults->failed = true;
        return NULL;
    }
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (!str_eq(resolution_text(&check->in, texts[i]), resolution_text(&theirs, texts[i])))
            return texts[i];
    }
    if (resolution_number(&check->in, "window.lookback") !=
        resolution_number(&theirs, "window.lookback"))
        return "window.lookback";
    return resolution_code(&theirs, "window.type") > CURSOR_TIME ? "window.type" : NULL;
}

static void check_other(const struct check *check, const struct json_doc *own, struct str other)
{
    const char *setting;

    if (source_row(check->source, REGISTRY_ENDPOINT, other, STR("")) == NULL ||
        str_eq(other, resolution_text(&check->in, "endpoint"))) {
        check_error(check, "spec.operation.shares-unknown", "shares_with",
                    "names %.*s, which is not another endpoint", STR_ARG(other));
        check_hint(check, "write the names of the other endpoints that share the cursor");
        return;
    }
    if (!is_mutual(check, own, other)) {
        check_error(check, "spec.operation.shares-one-sided", "shares_with",
                    "names %.*s, whose harvest does not name the same endpoints", STR_ARG(other));
        check_hint(check, "give each of the harvests shares_with and namespace: global, with the "
                          "names of all others");
        return;
    }
    setting = difference(check, other);
    if (setting == NULL)
        return;
    check_error(check, "spec.operation.shares-differ", "shares_with",
                "names %.*s, which has another %s", STR_ARG(other), setting);
    check_hint(check, "a shared cursor has one meaning: set it for the whole source");
}

void check_sharing(const struct check *check, int operation)
{
    struct json_doc own;

    if (!check_is_set(check, "shares_with"))
        return;
    if (operation != OPERATION_HARVEST) {
        (void)check_idle(check, "shares_with", "operation", "is for HARVEST only");
        return;
    }
    if (resolution_code(&check->in, "namespace") != NAMESPACE_GLOBAL ||
        resolution_code(&check->in, "slice.by") != SLICE_TIME) {
        check_error(check, "spec.operation.shares", "shares_with",
                    "requires namespace: global and slices by time");
        check_hint(check, "set namespace: global; feeds and slices by page have cursors of their "
                          "own");
    }
    if (!parse_list(check, resolution_text(&check->in, "shares_with"), &own))
        return;
    for (struct json_iter it = json_each(&own, json_root(&own)); json_next(&it);)
        check_other(check, &own, json_string_raw(&own, it.value));
}
