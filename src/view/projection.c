/* Projections as JSON. */
#include "view/projection.h"

#include "view/members.h"

void view_projection_write(struct json_writer *w, const struct subscription *row)
{
    view_write_subscription(w, STR("projection"), row);
}

void view_projection_list_write(struct json_writer *w, const struct subscription_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].kind == SUBSCRIPTION_PROJECTION)
            view_projection_write(w, &list->items[i]);
    }
    json_write_end(w);
}
