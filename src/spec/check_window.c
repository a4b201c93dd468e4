/* Checks of windows: they can be sliced, requested and advanced. */
#include "core/align.h"
#include "core/source_codes.h"
#include "spec/check_context.h"

static void check_widths(const struct check *check)
{
    const int align = resolution_code(&check->in, "window.align");
    const int granularity = resolution_code(&check->in, "window.granularity");
    const int64_t min_us = resolution_number(&check->in, "window.min");

    if (check_is_more(check, "window.min", "window.max")) {
        check_error(check, "spec.window.max-below-min", "window.max", "is less than min");
        check_hint(check,
                   "raise it, or lower min; the longest slice cannot be shorter than the shortest");
    }
    if (granularity >= 0 && check_is_set(check, "window.min") &&
        min_us < granularity_us((enum granularity)granularity)) {
        check_error(check, "spec.window.min-below-granularity", "window.min",
                    "is shorter than window.granularity (%.*s)",
                    STR_ARG(code_of(&GRANULARITY_CODES, granularity)));
        check_hint(check, "raise it; shorter slices would fetch the same records again");
    }
    if (align <= ALIGN_NONE)
        return;
    if (check_is_set(check, "window.max") &&
        resolution_number(&check->in, "window.max") < align_length_min_us((enum align_unit)align)) {
        check_error(check, "spec.window.align", "window.align", "is longer than the longest slice");
        check_hint(check, "align to a unit no longer than window.max, or raise window.max");
    }
    if (check_is_set(check, "window.size") && resolution_number(&check->in, "window.size") <
                                                  align_length_min_us((enum align_unit)align)) {
        check_error(check, "spec.window.size-below-align", "window.size", "is shorter than align");
        check_hint(check, "raise it; the first window would be empty after alignment");
    }
}

static void check_filter(const struct check *check)
{
    const bool filters = resolution_bool(&check->in, "window.updated_since");
    const bool has_order = check_is_set(check, "page.order_by");

    if (filters && !check->uses[TEMPLATE_WINDOW] && !check->is_unclear &&
        check->page_type != PAGINATION_TIME) {
        check_error(check, "spec.window.not-sent", "window.updated_since",
                    "is true, but no template sends the window");
        check_hint(check, "put ${window.from} and ${window.to} into a parameter");
    }
    if (!filters && (!has_order || !resolution_bool(&check->in, "window.client_filter"))) {
        check_error(check, "spec.window.unfiltered", "window.updated_since",
                    "is false, which requires page.order_by and window.client_filter");
        check_hint(check, "set both, or use UPDATE instead of HARVEST");
    }
    if (resolution_bool(&check->in, "window.client_filter") && !check->has_phase &&
        check_is_missing(check, "response.updated_at")) {
        check_error(check, "spec.window.client-filter", "window.client_filter",
                    "requires response.updated_at");
        check_hint(check, "write the path of a record's date");
    }
    if (resolution_bool(&check->in, "window.monotonic") && !has_order)
        (void)check_idle(check, "window.monotonic", "page.order_by", "requires page.order_by");
}

/* An operation driven by id has a window too, but only size and align matter to it. */
static void check_idle_window(const struct check *check)
{
    static const char *const paths[] = {
        "window.key",           "window.granularity", "window.updated_since", "window.lag",
        "window.lookback",      "window.max",         "window.min",           "window.overlap",
        "window.client_filter", "window.monotonic",   "window.start",         "window.beyond_now",
    };

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        if (check_is_own(check, paths[i]))
            (void)check_idle(check, paths[i], "role",
                             "is for endpoints that are requested by window");
    }
}

void check_window(struct check *check)
{
    if (!check->is_timed) {
        if (check->is_by_id)
            check_idle_window(check);
        return;
    }
    if (check_is_missing(check, "window.key")) {
        check_error(check, "spec.window.key-missing", "window.key", "is missing");
        check_hint(check, "name the date, id or token that windows are requested by, such as "
                          "updated_at");
    }
    check_feed(check);
    if (check_window_type(check) != CURSOR_TIME)
        return;
    check_widths(check);
    check_filter(check);
}
