/* Sources as JSON. */
#include "view/source.h"

void view_source_list_write(struct json_writer *w, const struct registry_entry_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        json_write_object(w);
        json_write_member_str(w, STR("source"), list->items[i].code);
        json_write_member_i64(w, STR("version"), list->items[i].version);
        json_write_member_instant(w, STR("changedAt"), list->items[i].changed_us);
        json_write_end(w);
    }
    json_write_end(w);
}
