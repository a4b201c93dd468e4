/* Paging: each type has what it needs, and nothing of another type's; pages can be walked to the
 * end, and not for ever.
 */
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

static bool uses(const struct check *check, enum template_scope scope, const char *name)
{
    for (size_t i = 0; i < template_variables_count; i++) {
        if (template_variables[i].scope == scope && strcmp(template_variables[i].name, name) == 0)
            return (check->variable_uses >> i & 1U) != 0;
    }
    return false;
}

static bool uses_page(const struct check *check, const char *name)
{
    return uses(check, TEMPLATE_PAGE, name);
}

static void check_next(const struct check *check, int type)
{
    const bool has_path = check_is_set(check, "page.next");
    const bool has_header = check_is_set(check, "page.next_header");
    const struct str word = code_of(&PAGINATION_TYPE_CODES, type);

    if (!is_next_type(type)) {
        static const char *const paths[] = { "page.next", "page.next_header" };

        for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
            if (!check_is_as_near(check, paths[i], "page.type"))
                continue;
            check_error(check, "spec.page.exclusive", paths[i], "has no place in paging by %.*s",
                        STR_ARG(word));
            check_hint(check, "it is for type token or url; take it out, or change page.type");
        }
        return;
    }
    if (has_path && has_header) {
        check_error(check, "spec.page.next-twice", "page.next_header", "stands beside next");
        check_hint(check, "the next page is told in the body or in a header");
    }
    if (!has_path && !has_header && check_is_missing(check, "page.next") &&
        check_is_missing(check, "page.next_header")) {
        check_error(check,
                    type == PAGINATION_TOKEN ? "spec.page.token-needs-next"
                                             : "spec.page.url-needs-next",
                    "page.next", "is missing, and paging by %.*s needs it", STR_ARG(word));
        check_hint(check,
                   type == PAGINATION_TOKEN
                       ? "where the next token is, such as $.meta.next_cursor"
                       : "where the next URL is, such as $.links.next; or next_header: Link");
    }
}

static void check_base(const struct check *check, int type)
{
    if (type == PAGINATION_PAGE && check_is_missing(check, "page.base")) {
        check_error(check, "spec.page.base-missing", "page.base",
                    "is missing, and paging by page needs it");
        check_hint(check, "the number of the first page, 0 or 1");
    }
    if (is_next_type(type) && check_is_as_near(check, "page.base", "page.type")) {
        check_error(check, "spec.page.exclusive", "page.base", "has no place in paging by %.*s",
                    STR_ARG(code_of(&PAGINATION_TYPE_CODES, type)));
        check_hint(check, "it is for type page; take it out, or change page.type");
    } else if (type != PAGINATION_PAGE)
        (void)check_idle(check, "page.base", "page.type", "is for paging by page alone");
}

static void check_size(const struct check *check, int type)
{
    if (check_is_missing(check, "page.size") && (is_counted(type) || uses_page(check, "size"))) {
        check_error(check, "spec.page.size-missing", "page.size", "is missing");
        check_hint(check, "how many records to ask for per page");
    }
    if (check_is_more(check, "page.size", "page.size_max")) {
        check_error(check, "spec.page.size-over-max", "page.size", "is more than size_max");
        check_hint(check, "the provider gives no larger pages");
    }
    if (check_is_more(check, "page.size_min", "page.size")) {
        check_error(check, "spec.page.size-under-min", "page.size", "is less than size_min");
        check_hint(check, "size_min is how small a page may be made");
    }
    if (check_is_more(check, "page.size", "page.cap")) {
        check_error(check, "spec.page.size-over-cap", "page.size", "is more than cap");
        check_hint(check, "one query hands out no more records");
    }
    if (!check->is_unclear && check->role == ENDPOINT_SEARCH && check_is_own(check, "page.size") &&
        !uses_page(check, "size") && !uses_page(check, "limit")) {
        check_error(check, "spec.page.not-sent", "page.size", "is never sent");
        check_hint(check,
                   "put ${page.size} into a parameter, e.g. query: { rows: \"${page.size}\" }");
    }
}

/* A walk that sends the same request for every page never ends. */
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
        check_hint(check, "every page would be the first; put it into a parameter");
    }
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (!uses_page(check, known[i].name) || (known[i].types >> type & 1U) != 0)
            continue;
        check_error(check, "spec.page.variable", "page.type",
                    "is %.*s, but a template uses page.%s, which it does not have",
                    STR_ARG(code_of(&PAGINATION_TYPE_CODES, type)), known[i].name);
        check_hint(check, "change page.type or the template");
    }
}

static void check_tokens(const struct check *check, int type)
{
    const bool is_replayable = resolution_bool(&check->in, "page.replayable");

    if (type != PAGINATION_TOKEN) {
        (void)check_idle(check, "page.initial", "page.type", "is for paging by token alone");
        (void)check_idle(check, "page.same_token", "page.type", "is for paging by token alone");
    }
    if (!is_next_type(type)) {
        (void)check_idle(check, "page.replayable", "page.type", "is for paging by token or url");
        (void)check_idle(check, "page.tail_probe", "page.type", "is for paging by token or url");
        return;
    }
    if (is_replayable && resolution_code(&check->in, "page.same_token") == SAME_TOKEN_CONTINUE) {
        check_error(check, "spec.page.same-token", "page.same_token",
                    "is continue, but the same request gives the same page again");
        check_hint(check, "the walk would never end; a scroll has replayable: false");
    }
    if (!is_replayable && resolution_bool(&check->in, "page.tail_probe")) {
        check_error(check, "spec.page.tail-probe", "page.tail_probe",
                    "would ask again for a page that can not be asked for again");
        check_hint(check, "take it out, or say replayable: true if pages stay the same");
    }
}

static void check_time(const struct check *check, int type)
{
    const bool filters = resolution_bool(&check->in, "window.updated_since");

    if (type == PAGINATION_TIME && !filters &&
        !(check_is_set(check, "page.order_by") &&
          resolution_bool(&check->in, "window.monotonic"))) {
        check_error(check, "spec.page.time-needs-window", "page.type",
                    "is time, but the source neither filters by time nor lists in its order");
        check_hint(check,
                   "window.updated_since: true, or page.order_by with window.monotonic: true");
    }
    if (!resolution_bool(&check->in, "page.bridge_to_time"))
        return;
    if (check_is_missing(check, "page.max_pages") || !filters || type == PAGINATION_TIME ||
        type == PAGINATION_SINGLE) {
        check_error(check, "spec.page.bridge", "page.bridge_to_time",
                    "needs max_pages, window.updated_since and pages to bridge from");
        check_hint(check, "at max_pages the rest of the window is cut instead");
    }
}

/* Cutting by ids: there must be a cap, a count that tells when it is met, and a range to ask for.
 */
static void check_ids(const struct check *check)
{
    if (check_is_missing(check, "page.id_max")) {
        (void)check_idle(check, "page.id_min", "page.id_max", "needs id_max");
        return;
    }
    if (check->role >= 0 && check->role != ENDPOINT_SEARCH) {
        if (check_is_own(check, "page.id_max"))
            (void)check_idle(check, "page.id_max", "role",
                             "is for endpoints that are asked for windows");
        return;
    }
    if (check_is_missing(check, "page.cap"))
        (void)check_idle(check, "page.id_max", "page.cap", "is for sources with a cap");
    if (check_is_more(check, "page.id_min", "page.id_max")) {
        check_error(check, "spec.page.id-range", "page.id_min", "is more than id_max");
        check_hint(check, "the least and the greatest id there can be");
    }
    if (check_is_missing(check, "response.total")) {
        check_error(check, "spec.page.ids-need-total", "page.id_max",
                    "needs response.total: else nobody knows that a slice is above the cap");
        check_hint(check, "say where the answer has its count");
    }
    if (!check->is_unclear &&
        (!uses(check, TEMPLATE_SLICE, "from") ||
         (!uses(check, TEMPLATE_SLICE, "last") && !uses(check, TEMPLATE_SLICE, "to")))) {
        check_error(check, "spec.page.ids-not-sent", "page.id_max",
                    "is there, but no template sends the range");
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
        check_hint(check, "offset, page, token, url, time, or single when one answer is all");
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
