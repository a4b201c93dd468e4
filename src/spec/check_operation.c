/* Checks of two phases and of operations: endpoints, directions and cursors must suit the
 * operation. */
#include "base/suggest.h"
#include "core/cron.h"
#include "spec/check_context.h"

/* ---- two phases ---- */

static bool exists(const struct check *check, struct str endpoint)
{
    return source_row(check->source, REGISTRY_ENDPOINT, endpoint, STR("")) != NULL;
}

static struct str role_of(const struct check *check, struct str endpoint)
{
    const struct registry_row *row =
        source_row(check->source, REGISTRY_ENDPOINT, endpoint, STR(""));

    return row != NULL ? row_text(row, "role") : (struct str){ 0 };
}

static void check_phase_one(const struct check *check)
{
    const struct str details = resolution_text(&check->in, "details.endpoint");

    if (!exists(check, details)) {
        check_error(check, "spec.details.unknown-endpoint", "details.endpoint",
                    "is %.*s, which is not an endpoint", STR_ARG(details));
        check_hint(check, "write the name of an endpoint of role detail");
        return;
    }
    if (check->role >= 0 && check->role != ENDPOINT_SEARCH) {
        check_error(check, "spec.details.role", "details.endpoint",
                    "is allowed only in an endpoint of role search");
        check_hint(check, "a search endpoint lists ids, a detail endpoint returns their records");
    }
    if (!str_eq(role_of(check, details), code_of(&ENDPOINT_ROLE_CODES, ENDPOINT_DETAIL)) &&
        role_of(check, details).len > 0) {
        check_error(check, "spec.details.role", "details.endpoint",
                    "is %.*s, whose role is not detail", STR_ARG(details));
        check_hint(check, "set role: detail in that endpoint");
    }
}

void check_details(struct check *check)
{
    const bool takes_ids =
        check->is_unclear || check->uses[TEMPLATE_IDS] || check->uses[TEMPLATE_HISTORY];

    if (check->has_phase)
        check_phase_one(check);
    if (check->role == ENDPOINT_SEARCH || check->role < 0 || !check->is_by_id || takes_ids)
        return;
    check_error(check, "spec.details.no-ids", "path",
                "is of an endpoint that is requested by id, but no template sends an id");
    check_hint(check,
               "put ${join(ids.list, \",\")}, or a captured ${history.NAME}, into a parameter");
}

/* ---- operations ---- */

static bool is_update(int operation)
{
    return operation == OPERATION_UPDATE || operation == OPERATION_METRICS;
}

static void check_target(const struct check *check, int operation, bool by_id)
{
    const struct str target = resolution_text(&check->in, "endpoint");
    const struct str role = role_of(check, target);
    int wanted = ENDPOINT_SEARCH;

    if (!exists(check, target)) {
        check_error(check, "spec.operation.unknown-endpoint", "endpoint",
                    "is %.*s, which is not an endpoint", STR_ARG(target));
        check_hint(check, "write one of the names under endpoints");
        return;
    }
    if (operation == OPERATION_METRICS)
        wanted = ENDPOINT_METRICS;
    else if (by_id)
        wanted = ENDPOINT_DETAIL;
    else if (operation == OPERATION_BACKFILL &&
             str_eq(role, code_of(&ENDPOINT_ROLE_CODES, ENDPOINT_BULK)))
        return;
    if (role.len == 0 || str_eq(role, code_of(&ENDPOINT_ROLE_CODES, wanted)))
        return;
    check_error(check, "spec.operation.role", "endpoint", "is %.*s, whose role is not %.*s",
                STR_ARG(target), STR_ARG(code_of(&ENDPOINT_ROLE_CODES, wanted)));
    check_hint(check, "%s",
               by_id ? "records are fetched by id, from an endpoint that accepts ids"
               : str_eq(role, code_of(&ENDPOINT_ROLE_CODES, ENDPOINT_BULK))
                   ? "files are read by an operation of kind backfill"
                   : "windows are requested from an endpoint of role search");
}

static void check_schedule(const struct check *check)
{
    const struct resolved *line = resolution_get(&check->in, "cron");
    struct cron cron;
    struct error err;
    size_t fault_at = 0;

    if (check_is_set(check, "every") && line->value.is_set) {
        check_error(check, "spec.operation.two-schedules", "cron", "cannot be combined with every");
        check_hint(check, "remove one of the two");
    }
    if (!line->value.is_set || cron_parse(line->value.text, &cron, &fault_at, &err))
        return;
    check_row_error(check, "spec.operation.cron",
                    (struct check_place){ line->row, "cron", fault_at }, "is not a cron line: %s",
                    err.text);
    check_hint(check, "write minute hour day month weekday, UTC: 0 */6 * * *");
}

static void check_cursor(const struct check *check, int operation, bool by_id)
{
    const int direction = resolution_code(&check->in, "direction");
    const int scope = resolution_code(&check->in, "namespace");
    const int cursor = resolution_code(&check->in, "cursor");
    const bool is_backfill = operation == OPERATION_BACKFILL;
    const struct str word = code_of(&OPERATION_CODES, operation);

    if (direction >= 0 && (direction == DIRECTION_BACKFILL) != is_backfill) {
        check_error(check, "spec.operation.direction", "direction", "does not suit %.*s",
                    STR_ARG(word));
        check_hint(check, "remove it: HARVEST moves forward, BACKFILL moves within history");
    }
    if (operation == OPERATION_HARVEST && scope == NAMESPACE_CUSTOM) {
        check_error(check, "spec.operation.namespace", "namespace",
                    "must not be custom: all harvests share one cursor");
        check_hint(check, "use global, or expr to start over when the query changes");
    }
    if ((is_backfill && scope == NAMESPACE_GLOBAL) ||
        (operation == OPERATION_REPLAY && scope >= 0 && scope != NAMESPACE_CUSTOM)) {
        check_error(check, "spec.operation.namespace", "namespace",
                    "would let %.*s move the forward cursor", STR_ARG(word));
        check_hint(check, "remove it, or use custom");
    }
    if (!by_id && cursor >= 0 && cursor != (int)check_window_type(check)) {
        check_error(check, "spec.operation.no-advance", "cursor",
                    "must be the window.type of its endpoint: %.*s could not advance its cursor "
                    "otherwise",
                    STR_ARG(word));
        check_hint(check, "remove it, or set window.type of the endpoint");
    }
    if (!by_id && operation != OPERATION_HARVEST && check_window_type(check) != CURSOR_TIME) {
        check_error(check, "spec.operation.feed", "endpoint",
                    "has window.type %.*s, which %.*s cannot request",
                    STR_ARG(code_of(&CURSOR_TYPE_CODES, (int)check_window_type(check))),
                    STR_ARG(word));
        check_hint(check, "only HARVEST continues from an id or a token; to read a feed again, set "
                          "its cursor back: patra cursor reset");
    }
}

static void check_update(const struct check *check, int operation, bool by_id)
{
    static const char *const by_id_only[] = { "candidates", "staleness.after",
                                              "staleness.buckets" };
    const struct str candidates = resolution_text(&check->in, "candidates");
    const bool wants_stale = str_find(candidates, STR("\"STALENESS\"")) < candidates.len;

    if (!is_update(operation))
        (void)check_idle(check, "drive", "operation", "is for UPDATE and METRICS only");
    for (size_t i = 0; !by_id && i < ARRAY_LEN(by_id_only); i++)
        (void)check_idle(check, by_id_only[i], "operation",
                         "is for UPDATE and METRICS with drive: id only");
    if (!by_id)
        return;
    if (wants_stale && check_is_missing(check, "staleness.after")) {
        check_error(check, "spec.operation.staleness", "staleness.after",
                    "is missing; candidates with staleness requires it");
        check_hint(check, "set the age at which a record is stale: 90d");
    }
    if (!wants_stale) {
        (void)check_idle(check, "staleness.after", "candidates",
                         "requires staleness in candidates");
        (void)check_idle(check, "staleness.buckets", "candidates",
                         "requires staleness in candidates");
    } else if (check_is_missing(check, "staleness.after"))
        (void)check_idle(check, "staleness.buckets", "staleness.after", "requires staleness.after");
}

static void check_slices(const struct check *check, bool by_id)
{
    const int by = resolution_code(&check->in, "slice.by");
    const bool is_counted =
        check->page_type == PAGINATION_OFFSET || check->page_type == PAGINATION_PAGE;
    const bool is_of_files = !by_id && check->role == ENDPOINT_BULK;
    const bool is_feed = !by_id && !is_of_files && check_window_type(check) != CURSOR_TIME;

    if (by >= 0 && ((by == SLICE_ID) != by_id || (by == SLICE_FEED) != is_feed ||
                    (by == SLICE_FILE) != is_of_files)) {
        check_error(check, "spec.slice.by", "slice.by", "does not suit what drives the operation");
        check_hint(check, "remove it, or use id with drive: id, feed with window.type id or token, "
                          "file with an endpoint of role bulk, and time or page otherwise");
    }
    if (by == SLICE_PAGE && (!is_counted || check_is_missing(check, "slice.pages"))) {
        check_error(check, "spec.slice.pages", "slice.by",
                    "is page, which requires slice.pages and paging by offset or page");
        check_hint(check, "set both, or use slice.by: time; a page of tokens can only be reached "
                          "from the page before");
    }
    if (by != SLICE_PAGE)
        (void)check_idle(check, "slice.pages", "slice.by", "is for slice.by: page only");
    if (by != SLICE_ID) {
        (void)check_idle(check, "slice.ids", "slice.by", "is for slice.by: id only");
        (void)check_idle(check, "slice.buckets", "slice.by", "is for slice.by: id only");
    }
}

static void report_unknown(const struct check *check)
{
    static const char *const names[] = { "harvest", "backfill", "update", "metrics", "replay" };
    const char *near = suggest(check->in.operation->key, names, ARRAY_LEN(names));

    check_error(check, "spec.operation.unknown", "operation",
                "is missing, and the name is not a kind of operation");
    if (near != NULL)
        check_hint(check, "did you mean %s? with another name, set operation: %s", near, near);
    else
        check_hint(check, "set it to harvest, backfill, update, metrics or replay");
}

void check_operation(struct check *check)
{
    const int operation = source_operation_code(check->in.operation);
    bool by_id;

    if (operation < 0) {
        if (!check_is_missing(check, "operation"))
            return;
        report_unknown(check);
        return;
    }
    by_id = is_update(operation) && resolution_code(&check->in, "drive") == UPDATE_BY_ID;
    check_target(check, operation, by_id);
    check_schedule(check);
    check_cursor(check, operation, by_id);
    check_sharing(check, operation);
    check_update(check, operation, by_id);
    check_slices(check, by_id);
    if (check->role == ENDPOINT_BULK)
        check_bulk_operation(check);
}
