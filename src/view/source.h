/* source: the sources in force, as programs see them. */
#ifndef PATRA_VIEW_SOURCE_H
#define PATRA_VIEW_SOURCE_H

#include "data/json_write.h"
#include "port/store_registry.h"

void view_source_list_write(struct json_writer *w, const struct registry_entry_list *list);

#endif
