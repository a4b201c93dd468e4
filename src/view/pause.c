/* Pauses as JSON. */
#include "view/pause.h"

void view_pause_list_write(struct json_writer *w, const struct pause_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        const struct pause *pause = &list->items[i];

        json_write_object(w);
        json_write_member_str(w, STR("source"), pause->source);
        json_write_member_str(w, STR("endpoint"), pause->endpoint);
        json_write_member_str(w, STR("kind"), code_of(&PAUSE_KIND_CODES, (int)pause->kind));
        json_write_member_instant(w, STR("since"), pause->created_us);
        json_write_member_str(w, STR("by"), pause->created_by);
        json_write_member_str(w, STR("reason"), pause->reason);
        json_write_end(w);
    }
    json_write_end(w);
}
