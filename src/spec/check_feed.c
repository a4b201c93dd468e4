/* Checks of feeds: endpoints whose HARVEST continues from an id or a token (window.type), not from
 * an instant. What only acts on windows of time is refused there, and the other way round. */
#include "core/cursor.h"
#include "core/source_codes.h"
#include "spec/check_context.h"

static void check_all_idle(const struct check *check, const char *const *paths, size_t count,
                           const char *reason)
{
    for (size_t i = 0; i < count; i++)
        (void)check_idle(check, paths[i], "window.type", "%s", reason);
}

/* ---- what does not act ---- */

static void check_time_settings(const struct check *check)
{
    static const char *const paths[] = {
        "window.granularity", "window.updated_since", "window.lag",       "window.lookback",
        "window.size",        "window.align",         "window.max",       "window.min",
        "window.overlap",     "window.client_filter", "window.monotonic", "window.start",
        "window.beyond_now",  "page.bridge_to_time",  "page.cap",         "page.id_min",
        "page.id_max",
    };

    check_all_idle(check, paths, ARRAY_LEN(paths), "is for window.type time only");
}

static void check_id_settings(const struct check *check)
{
    static const char *const paths[] = { "window.start_id", "window.lookback_ids",
                                         "response.sequence", "response.latest" };

    check_all_idle(check, paths, ARRAY_LEN(paths), "is for window.type id only");
}

static void check_token_settings(const struct check *check)
{
    static const char *const paths[] = { "response.sync_token", "window.bridge" };

    check_all_idle(check, paths, ARRAY_LEN(paths), "is for window.type token only");
}

/* Variables of window.* that the type does not have. */
static void check_variables(const struct check *check, enum cursor_type type)
{
    static const struct {
        const char *name;
        enum cursor_type type;
    } variables[] = {
        { "from", CURSOR_TIME },   { "to", CURSOR_TIME }, { "last", CURSOR_TIME },
        { "after", CURSOR_ID },    { "next", CURSOR_ID }, { "token", CURSOR_TOKEN },
        { "since", CURSOR_TOKEN },
    };

    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        if (variables[i].type == type || !check_uses(check, TEMPLATE_WINDOW, variables[i].name))
            continue;
        check_error(check, "spec.window.variable", "window.type",
                    "is %.*s, but a template uses window.%s, which this type does not have",
                    STR_ARG(code_of(&CURSOR_TYPE_CODES, (int)type)), variables[i].name);
        check_hint(check, "change window.type or the template");
    }
}

/* ---- ids ---- */

static void check_sent(const struct check *check)
{
    if (check->is_unclear || check_uses(check, TEMPLATE_WINDOW, "after") ||
        check_uses(check, TEMPLATE_WINDOW, "next"))
        return;
    check_error(check, "spec.window.not-sent", "window.type",
                "is id, but no template sends the id to continue from");
    check_hint(check, "put ${window.after} into a parameter, or ${window.next} where the source's "
                      "filter includes the id itself");
}

/* A log of changes has a record once per change. Read again, its older entries would replace the
 * newer ones, unless dates tell them apart. */
static void check_lookback(const struct check *check)
{
    if (!check_is_set(check, "window.lookback_ids") || !check_is_set(check, "response.sequence") ||
        check->has_phase || !check_is_missing(check, "response.updated_at"))
        return;
    check_error(check, "spec.window.lookback-ids", "window.lookback_ids",
                "requires response.updated_at where response.sequence is not the record's id");
    check_hint(check, "older changes are read again; their dates must show that they are older");
}

static void check_ids(const struct check *check)
{
    const struct str start = resolution_text(&check->in, "window.start_id");

    check_sent(check);
    check_lookback(check);
    check_token_settings(check);
    if (check_is_set(check, "window.start_id") && !cursor_id_is_valid(start)) {
        check_error(check, "spec.window.start-id", "window.start_id", "is not a whole number");
        check_hint(check, "ids of a feed are compared as whole numbers of up to %d digits",
                   CURSOR_ID_DIGITS_MAX);
    }
    if (check->page_type == PAGINATION_TIME) {
        check_error(check, "spec.window.page-type", "page.type", "is time, but window.type is id");
        check_hint(check, "use id: each page then begins after the highest id received");
    }
}

/* ---- tokens ---- */

static void check_tokens(const struct check *check)
{
    const bool is_first_page =
        check->page_type == PAGINATION_URL ||
        (check->page_type == PAGINATION_TOKEN && check_uses(check, TEMPLATE_PAGE, "token"));

    check_id_settings(check);
    if (check_is_missing(check, "response.sync_token")) {
        check_error(check, "spec.window.sync-token", "response.sync_token",
                    "is missing; window.type token requires it");
        check_hint(check, "write the path of the token that ends a sync, such as $.nextSyncToken");
    }
    if (!check->is_unclear && !is_first_page && !check_uses(check, TEMPLATE_WINDOW, "token")) {
        check_error(check, "spec.window.not-sent", "window.type",
                    "is token, but no template sends the token of the last sync");
        check_hint(check, "put ${window.token} into a parameter");
    }
    if (!check->is_unclear &&
        check_is_set(check, "window.bridge") != check_uses(check, TEMPLATE_WINDOW, "since")) {
        check_error(check, "spec.window.bridge", "window.bridge",
                    "and ${window.since} in a template require each other");
        check_hint(check, "put ${window.since} into the parameter that filters by date, and set "
                          "how far before the last sync it reaches: bridge: 1d");
    }
    if (check->page_type == PAGINATION_TIME || check->page_type == PAGINATION_ID) {
        check_error(check, "spec.window.page-type", "page.type",
                    "is %.*s, but window.type is token",
                    STR_ARG(code_of(&PAGINATION_TYPE_CODES, check->page_type)));
        check_hint(check, "use token, url, page, offset or single");
    }
}

/* ---- all types ---- */

enum cursor_type check_window_type(const struct check *check)
{
    const int type = resolution_code(&check->in, "window.type");

    return type < 0 ? CURSOR_TIME : (enum cursor_type)type;
}

void check_feed(const struct check *check)
{
    const enum cursor_type type = check_window_type(check);

    check_variables(check, type);
    if (type != CURSOR_TIME) {
        check_time_settings(check);
        if (type == CURSOR_ID)
            check_ids(check);
        else
            check_tokens(check);
        return;
    }
    check_id_settings(check);
    check_token_settings(check);
    if (check->page_type == PAGINATION_ID) {
        check_error(check, "spec.window.page-type", "page.type",
                    "is id, which requires window.type: id");
        check_hint(check, "set window.type: id, or use time");
    }
}
