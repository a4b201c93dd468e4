/* Checks of an endpoint with a parent: it is requested by the ids of another endpoint's records. */
#include "spec/check_context.h"

static const struct registry_row *endpoint_row(const struct check *check, struct str endpoint)
{
    return source_row(check->source, REGISTRY_ENDPOINT, endpoint, STR(""));
}

static void check_parent(const struct check *check, struct str parent)
{
    const struct registry_row *row = endpoint_row(check, parent);

    if (row == NULL) {
        check_error(check, "spec.parent.unknown-endpoint", "parent",
                    "is %.*s, which is not an endpoint", STR_ARG(parent));
        check_hint(check, "write the name of the endpoint that lists the parents");
    } else if (row_text(row, "role").len > 0 &&
               !str_eq(row_text(row, "role"), code_of(&ENDPOINT_ROLE_CODES, ENDPOINT_SEARCH))) {
        check_error(check, "spec.parent.role", "parent", "is %.*s, whose role is not search",
                    STR_ARG(parent));
        check_hint(check, "write the endpoint that lists the parents; a child has no children");
    }
}

/* The details of a list are its own records, and cannot be children. */
static void check_not_details(const struct check *check)
{
    const struct registry_row *row = NULL;

    while ((row = source_next_endpoint(check->source, row)) != NULL) {
        if (!str_eq(row_text(row, "detail_endpoint"), check->in.endpoint))
            continue;
        check_error(check, "spec.parent.details", "parent",
                    "cannot be set: the endpoint has the details of %.*s", STR_ARG(row->endpoint));
        check_hint(check, "remove it, or request the children from an endpoint of their own");
        return;
    }
}

/* Each parent's list is walked by itself, and has no window. */
static void check_pages(const struct check *check)
{
    if (check->page_type == PAGINATION_TIME || check->page_type == PAGINATION_ID) {
        check_error(check, "spec.parent.pages", "page.type",
                    "must be single, page, offset, token or url: the list of a parent has no "
                    "window");
        check_hint(check, "request the pages by number, offset, token or url, or everything at "
                          "once (single)");
    } else if (check->page_type >= 0 && check->page_type != PAGINATION_SINGLE &&
               resolution_number(&check->in, "batch.id_batch_size") > 1) {
        check_error(check, "spec.parent.pages", "batch.id_batch_size",
                    "must be 1: the pages of several parents are lists of their own");
        check_hint(check, "remove it: it is 1 unless it is set");
    }
}

void check_child(const struct check *check)
{
    if (check_is_missing(check, "parent") || check->role < 0)
        return;
    if (check->role != ENDPOINT_DETAIL) {
        check_error(check, "spec.parent.role", "parent",
                    "is allowed only in an endpoint of role detail");
        check_hint(check, "set role: detail; an update requests it by the ids of the parents");
        return;
    }
    check_parent(check, resolution_text(&check->in, "parent"));
    check_not_details(check);
    check_pages(check);
}
