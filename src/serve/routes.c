/* All routes, by group. */
#include "serve/route.h"

#include "base/str.h"

const struct route_group *const ROUTE_GROUPS[] = {
    &ROUTES_HEALTH,
    &ROUTES_WORK,
    &ROUTES_CURSORS,
    &ROUTES_RECORDS,
    &ROUTES_EVENTS,
    &ROUTES_CONTRACT,
    &ROUTES_ALERTS,
    &ROUTES_OPERATIONS,
    &ROUTES_TRACE,
    &ROUTES_PAGES,
    NULL,
};

bool route_is_page(const struct route *route)
{
    return route->type != NULL && str_eq(str_of(route->type), STR(PAGE_TYPE));
}
