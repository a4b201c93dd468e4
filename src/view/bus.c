/* Buses as JSON. */
#include "view/bus.h"

#include "view/members.h"

void view_bus_write(struct json_writer *w, const struct subscription *row)
{
    view_write_subscription(w, STR("bus"), row);
}

void view_bus_list_write(struct json_writer *w, const struct subscription_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].kind == SUBSCRIPTION_RELAY)
            view_bus_write(w, &list->items[i]);
    }
    json_write_end(w);
}
