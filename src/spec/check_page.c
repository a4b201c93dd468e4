/* Checks of paging: each type has the settings it requires and none of another type, and a walk
 * over the pages ends. */
#include <string.h>

#include "core/source_codes.h"
#include "spec/check_context.h"

static bool is_next_type(int type)
{
    return type == PAGINATION_TOKEN || type == PAGINATION_URL;
}

static bool is_counted(int type)
{
    return type == PAGINATION_OFFSET || type == PAGINATION_PAGE;
}

bool check_uses(const struct check *check, enum template_scope scope, const char *name)
{
    for (size_t i = 0; i < template_variables_count; i++) {
        if (template_variables[i].scope == scope && strcmp(template_variables[i].name, name) == 0)
            return (check->variable_uses >> i & 1U) != 0;
    }
    return false;
}

static bool uses_page(const struct check *check, const char *name)
{
    return check_uses(check, TEMPLATE_PAGE, name);
}

static void check_next(const struct check *check, int type)
{
    const bool has_path = check_is_set(check, "page.next");
    const bool has_header = check_is_set(check, "page.next_header");
    const struct str word = code_of(&PAGINATION_TYPE_CODES, type);

    if (type == PAGINATION_ID) { /* the source may name the next id itself */
        (void)check_idle(check, "page.next_header", "page.type",
                         "is for page.type token or url only");
        return;
    }
    if (!is_next_type(type)) {
        static const char *const paths[] = { "page.next", "page.next_header" };

        for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
            if (!check_is_as_near(check, paths[i], "page.type"))
                continue;
            check_error(check, "spec.page.exclusive", paths[i],
                        "is not allowed with page.type %.*s", STR_ARG(word));
            check_hint(check, "remove it, or set page.type to token or url");
        }
        return;
    }
    if (has_path && has_header) {
        check_error(check, "spec.page.next-twice", "page.next_header",
                    "cannot be combined with next");
        check_hint(check,
                   "remove one of the two: the next page is named in the body or in a header");
    }
    if (!has_path && !has_header && check_is_missing(check, "page.next") &&
        check_is_missing(check, "page.next_header")) {
        check_error(check,
                    type == PAGINATION_TOKEN ? "spec.page.token-needs-next"
                                             : "spec.page.url-needs-next",
                    "page.next", "is missing; page.type %.*s requires it", STR_ARG(word));
        check_hint(
            check,
            type == PAGINATION_TOKEN
                ? "write the path of the next token, such as $.meta.next_cursor"
                : "write the path of the next URL, such as $.links.next, or next_header: Link");
    }
}

static void check_base(const struct check *check, int type)
{
    if (type == PAGINATION_PAGE && check_is_missing(check, "page.base")) {
        check_error(check, "spec.page.base-missing", "page.base",
                    "is missing; page.type page requires it");
        check_hint(check, "set the number of the first page, 0 or 1");
    }
    if (is_next_type(type) && check_is_as_near(check, "page.base", "page.type")) {
        check_error(check, "spec.page.exclusive", "page.base", "is not allowed with page.type %.*s",
                    STR_ARG(code_of(&PAGINATION_TYPE_CODES, type)));
        check_hint(check, "remove it, or set page.type: page");
    } else if (type != PAGINATION_PAGE)
        (void)check_idle(check, "page.base", "page.type", "is for page.type page only");
}

/* A size that the provider decides on cannot be requested. */
static void check_fixed_size(const struct check *check)
{
    if (check_is_missing(check, "page.size")) {
        check_error(check, "spec.page.size-missing", "page.size",
                    "is missing; page.size_fixed requires it");
        check_hint(check, "set how many records a full page of the provider has");
    }
    if (!check->is_unclear && (uses_page(check, "size") || uses_page(check, "limit"))) {
        check_error(check, "spec.page.size-fixed", "page.size_fixed",
                    "is true, but the size is sent");
        check_hint(check, "remove it, or ${page.size} from the request");
    }
    (void)check_idle(check, "page.size_min", "page.size_fixed", "has no effect with size_fixed");
    (void)check_idle(check, "page.size_max", "page.size_fixed", "has no effect with size_fixed");
}

static void check_sent_size(const struct check *check)
{
    if (check->is_unclear || check->role != ENDPOINT_SEARCH || !check_is_own(check, "page.size") ||
        uses_page(check, "size") || uses_page(check, "limit"))
        return;
    check_error(check, "spec.page.not-sent", "page.size", "is never sent");
    check_hint(check,
               "put ${page.size} into a parameter: query: { rows: \"${page.size}\" }; or set "
               "size_fixed: true if the provider decides on the size of its pages");
}

static void check_size(const struct check *check, int type)
{
    if (resolution_bool(&check->in, "page.size_fixed"))
        check_fixed_size(check);
    else if (check_is_missing(check, "page.size") &&
             (is_counted(type) || uses_page(check, "size"))) {
        check_error(check, "spec.page.size-missing", "page.size", "is missing");
        check_hint(check, "set the number of records to request per page");
    }
    if (check_is_more(check, "page.size", "page.size_max")) {
        check_error(check, "spec.page.size-over-max", "page.size", "is more than size_max");
        check_hint(check, "lower it; the provider returns no larger pages");
    }
    if (check_is_more(check, "page.size_min", "page.size")) {
        check_error(check, "spec.page.size-under-min", "page.size", "is less than size_min");
        check_hint(check, "raise it, or lower size_min");
    }
    if (check_is_more(check, "page.size", "page.cap")) {
        check_error(check, "spec.page.size-over-cap", "page.size", "is more than cap");
        check_hint(check, "lower it; one query returns no more records");
    }
    if (!resolution_bool(&check->in, "page.size_fixed"))
        check_sent_size(check);
}

/* A walk that sends the same request for every page would never end. */
static void check_sent(const struct check *check, int type)
{
    static const struct {
        int type;
        const char *name, *other;
    } needed[] = {
        { PAGINATION_OFFSET, "offset", "limit" },
        { PAGINATION_PAGE, "no", NULL },
        { PAGINATION_TOKEN, "token", NULL },
    };
    static const struct {
        const char *name;
        unsigned types;
    } known[] = {
        { "no", 1U << PAGINATION_PAGE },      { "offset", 1U << PAGINATION_OFFSET },
        { "limit", 1U << PAGINATION_OFFSET }, { "token", 1U << PAGINATION_TOKEN },
        { "url", 1U << PAGINATION_URL },
    };

    for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
        if (needed[i].type != type || check->is_unclear || uses_page(check, needed[i].name) ||
            (needed[i].other != NULL && uses_page(check, needed[i].other)))
            continue;
        check_error(check, "spec.page.not-sent", "page.type",
                    "is %.*s, but ${page.%s} is never sent",
                    STR_ARG(code_of(&PAGINATION_TYPE_CODES, type)), needed[i].name);
        check_hint(check, "put it into a parameter, or every request would return the first page");
    }
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (!uses_page(check, known[i].name) || (known[i].types >> type & 1U) != 0)
            continue;
        check_error(check, "spec.page.variable", "page.type",
                    "is %.*s, but a template uses page.%s, which this type does not have",
                    STR_ARG(code_of(&PAGINATION_TYPE_CODES, type)), known[i].name);
        check_hint(check, "change page.type or the template");
    }
}

static void check_tokens(const struct check *check, int type)
{
    const bool is_replayable = resolution_bool(&check->in, "page.replayable");

    if (type != PAGINATION_TOKEN) {
        (void)check_idle(check, "page.initial", "page.type", "is for page.type token only");
        (void)check_idle(check, "page.same_token", "page.type", "is for page.type token only");
    }
    if (!is_next_type(type)) {
        (void)check_idle(check, "page.replayable", "page.type",
                         "is for page.type token or url only");
        (void)check_idle(check, "page.tail_probe", "page.type",
                         "is for page.type token or url only");
        return;
    }
    if (is_replayable && resolution_code(&check->in, "page.same_token") == SAME_TOKEN_CONTINUE) {
        check_error(check, "spec.page.same-token", "page.same_token",
                    "is continue, but the same request returns the same page again");
        check_hint(check,
                   "set replayable: false if this is a scroll; otherwise the walk would never end");
    }
    if (!is_replayable && resolution_bool(&check->in, "page.tail_probe")) {
        check_error(check, "spec.page.tail-probe", "page.tail_probe",
                    "requests the last page again, but replayable is false");
        check_hint(check, "remove it, or set replayable: true if pages stay the same");
    }
}

static void check_time(const struct check *check, int type)
{
    const bool filters = resolution_bool(&check->in, "window.updated_since");

    if (type == PAGINATION_TIME && !filters &&
        !(check_is_set(check, "page.order_by") &&
          resolution_bool(&check->in, "window.monotonic"))) {
        check_error(check, "spec.page.time-needs-window", "page.type",
                    "is time, but the source neither filters by time nor lists by time");
        check_hint(check,
                   "set window.updated_since: true, or page.order_by with window.monotonic: true");
    }
    if (type == PAGINATION_TIME && !check->is_unclear && check->is_timed &&
        check_window_type(check) == CURSOR_TIME && check->role == ENDPOINT_SEARCH &&
        !check_uses(check, TEMPLATE_WINDOW, "from") && !check_uses(check, TEMPLATE_WINDOW, "to") &&
        !check_uses(check, TEMPLATE_WINDOW, "last")) {
        check_error(check, "spec.page.not-sent", "page.type",
                    "is time, but ${window.from} is never sent");
        check_hint(check, "put it into a parameter, or every request would return the first page");
    }
    if (!resolution_bool(&check->in, "page.bridge_to_time"))
        return;
    if (check_is_missing(check, "page.order_by") || !filters || type == PAGINATION_TIME ||
        type == PAGINATION_SINGLE) {
        check_error(check, "spec.page.bridge", "page.bridge_to_time",
                    "requires page.order_by, window.updated_since and a page.type that has pages");
        check_hint(check, "the walk continues from the date of the last record, so the list must "
                          "be sorted by date and the request must send the window");
    }
}

/* Re-slicing by id requires a cap, a total that shows when it is reached, and a range in the
 * request. */
static void check_ids(const struct check *check)
{
    if (check_is_missing(check, "page.id_max")) {
        (void)check_idle(check, "page.id_min", "page.id_max", "requires id_max");
        return;
    }
    if (check->role >= 0 && check->role != ENDPOINT_SEARCH) {
        if (check_is_own(check, "page.id_max"))
            (void)check_idle(check, "page.id_max", "role",
                             "is for endpoints that are requested by window");
        return;
    }
    if (check_is_missing(check, "page.cap"))
        (void)check_idle(check, "page.id_max", "page.cap", "requires page.cap");
    if (check_is_more(check, "page.id_min", "page.id_max")) {
        check_error(check, "spec.page.id-range", "page.id_min", "is more than id_max");
        check_hint(check, "lower it; they are the smallest and the largest possible id");
    }
    if (check_lacks_total(check)) {
        check_error(check, "spec.page.ids-need-total", "page.id_max",
                    "requires response.total, which shows whether a slice is above the cap");
        check_hint(check, "write the path of the number of matches");
    }
    if (!check->is_unclear && (!check_uses(check, TEMPLATE_SLICE, "from") ||
                               (!check_uses(check, TEMPLATE_SLICE, "last") &&
                                !check_uses(check, TEMPLATE_SLICE, "to")))) {
        check_error(check, "spec.page.ids-not-sent", "page.id_max",
                    "is set, but no template sends the range");
        check_hint(check,
                   "put ${slice.from} and ${slice.last} into parameters; as part of a longer "
                   "one: ${default(concat(' AND id:', slice.from, '-', slice.last), '')}");
    }
}

void check_page(struct check *check)
{
    const int type = check->page_type;

    if (check_is_missing(check, "page.type") && check->role == ENDPOINT_SEARCH) {
        check_error(check, "spec.page.type-missing", "page.type", "is missing");
        check_hint(check, "set it to offset, page, token, url, time or id, or to single when "
                          "one response has everything");
    }
    if (type < 0)
        return;
    check_next(check, type);
    check_base(check, type);
    check_size(check, type);
    check_sent(check, type);
    check_tokens(check, type);
    check_time(check, type);
    check_ids(check);
}
