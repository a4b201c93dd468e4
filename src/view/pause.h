/* pause: what is paused or stopped, as programs see it. */
#ifndef PATRA_VIEW_PAUSE_H
#define PATRA_VIEW_PAUSE_H

#include "data/json_write.h"
#include "port/store_pause.h"

void view_pause_list_write(struct json_writer *w, const struct pause_list *list);

#endif
