/* Retried and dropped records as JSON. */
#include "view/settled.h"

struct str view_retried_word(enum quarantine_outcome outcome)
{
    static const struct str words[] = { [QUARANTINE_STORED] = STR_INIT("stored"),
                                        [QUARANTINE_KNOWN] = STR_INIT("known"),
                                        [QUARANTINE_STILL_BAD] = STR_INIT("still bad"),
                                        [QUARANTINE_SETTLED] = STR_INIT("settled before") };

    return words[outcome];
}

void view_settled_write(struct json_writer *w, const struct view_settled *settled)
{
    const struct quarantine_retried *retried = settled->retried;

    json_write_object(w);
    json_write_member_i64(w, STR("id"), settled->id);
    json_write_member_str(w, STR("outcome"), settled->outcome);
    if (retried != NULL && retried->provider_id.len > 0)
        json_write_member_str(w, STR("recordId"), retried->provider_id);
    if (retried != NULL && retried->change.len > 0)
        json_write_member_str(w, STR("change"), retried->change);
    if (retried != NULL && retried->reason.len > 0) {
        json_write_member_str(w, STR("reason"), retried->reason);
        json_write_member_str(w, STR("detail"), retried->detail);
    }
    json_write_end(w);
}
