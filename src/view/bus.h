/* bus: the buses that are applied, as programs see them. */
#ifndef PATRA_VIEW_BUS_H
#define PATRA_VIEW_BUS_H

#include "data/json_write.h"
#include "port/store_subscription.h"

void view_bus_write(struct json_writer *w, const struct subscription *row);

/* Those of the list that are buses. */
void view_bus_list_write(struct json_writer *w, const struct subscription_list *list);

#endif
