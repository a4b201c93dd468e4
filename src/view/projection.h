/* projection: the projections that are applied, as programs see them. */
#ifndef PATRA_VIEW_PROJECTION_H
#define PATRA_VIEW_PROJECTION_H

#include "data/json_write.h"
#include "port/store_subscription.h"

void view_projection_write(struct json_writer *w, const struct subscription *row);

/* Those of the list that are projections. */
void view_projection_list_write(struct json_writer *w, const struct subscription_list *list);

#endif
