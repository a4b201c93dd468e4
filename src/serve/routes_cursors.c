/* Cursors: how far each source is. */
#include "serve/call.h"
#include "view/cursor.h"

static struct view_cursor_filter filter_of(const struct call *call)
{
    return (struct view_cursor_filter){
        .source = call_text(call, "source"),
        .has_operation = call_has(call, "operation"),
        .operation = (enum operation)call_number(call, "operation"),
        .namespace_prefix = call_text(call, "namespace"),
    };
}

static bool list_cursors(struct call *call, struct error *err)
{
    struct view_cursor_filter filter = filter_of(call);
    struct view_cursor_list list;

    if (!view_cursor_list(&call->reader, &filter, &list, err))
        return false;
    view_cursor_list_write(&call->w, &list);
    return true;
}

static bool show_cursors(struct call *call, struct error *err)
{
    const struct view_cursor_filter filter = filter_of(call);
    struct view_cursor_details details;

    if (!view_cursor_details(&call->reader, &filter, call_number(call, "events"), &details, err))
        return false;
    view_cursor_details_write(&call->w, &details);
    return true;
}

#define OPERATION_PARAM                                                                        \
    {                                                                                          \
        .name = "operation", .place = IN_QUERY, .kind = PARAM_CODE, .codes = &OPERATION_CODES, \
        .help = "Only the cursors of this operation."                                          \
    }
#define NAMESPACE_PARAM \
    PARAM_WORD("namespace", IN_QUERY, "Only cursors whose namespace key begins with this.")

static const struct route ROUTES[] = {
    { .method = "GET",
      .path = "/v1/cursors",
      .name = "listCursors",
      .summary = "Cursors, and how far each lags",
      .command = "patra cursor list --json",
      .access = ROUTE_READS,
      .params = { PARAM_WORD("source", IN_QUERY, "Only of this source."), OPERATION_PARAM,
                  NAMESPACE_PARAM },
      .run = list_cursors },
    { .method = "GET",
      .path = "/v1/cursors/{source}",
      .name = "showCursors",
      .summary = "The cursors of a source, what holds them back, and their last events",
      .command = "patra cursor show SOURCE --json",
      .access = ROUTE_READS,
      .params = { PARAM_WORD("source", IN_PATH, "The source."),
                  OPERATION_PARAM,
                  NAMESPACE_PARAM,
                  { .name = "events",
                    .place = IN_QUERY,
                    .kind = PARAM_NUMBER,
                    .most = 1000,
                    .otherwise = 5,
                    .help = "How many of their last events." } },
      .run = show_cursors },
};

const struct route_group ROUTES_CURSORS = { "Cursors", ROUTES, ARRAY_LEN(ROUTES) };
