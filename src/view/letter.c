/* Dead letters as JSON. */
#include "view/outbox.h"

static void write_letter(struct json_writer *w, const struct letter *letter)
{
    json_write_object(w);
    json_write_member_str(w, STR("eventId"), letter->dead.event_id);
    json_write_member_str(w, STR("type"), letter->dead.aggregate_type);
    json_write_member_str(w, STR("key"), letter->dead.aggregate_id);
    json_write_member_i64(w, STR("version"), letter->dead.version);
    json_write_member_i64(w, STR("tries"), letter->dead.attempts);
    json_write_member_str(w, STR("reason"), letter->dead.reason);
    json_write_member_instant(w, STR("deadAt"), letter->dead.dead_us);
    if (letter->is_redriven) {
        json_write_member_instant(w, STR("redrivenAt"), letter->redriven_us);
        json_write_member_str(w, STR("redrivenBy"), letter->redriven_by);
    }
    json_write_end(w);
}

void view_letter_list_write(struct json_writer *w, const struct letter_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++)
        write_letter(w, &list->items[i]);
    json_write_end(w);
}
