/* quarantine: records that could not be judged, as people and programs see them. */
#ifndef PATRA_VIEW_QUARANTINE_H
#define PATRA_VIEW_QUARANTINE_H

#include "data/json_write.h"
#include "port/store_quarantine.h"
#include "view/reader.h"

struct view_quarantine_list {
    struct quarantined *items; /* without their bytes, by id */
    size_t count;
    bool is_full;                    /* as many as filter.limit allows: there may be later ones */
    struct quarantine_sum_list sums; /* open ones of the filter's source, whatever the page */
};

/* "source.unknown" (L2) where the filter names a source that does not exist. */
bool view_quarantine_list(const struct view_reader *reader, const struct quarantine_filter *filter,
                          struct view_quarantine_list *list, struct error *err) MUST_CHECK;
void view_quarantine_list_write(struct json_writer *w, const struct view_quarantine_list *list);

/* "OPEN", or what became of it. */
struct str view_quarantine_state(const struct quarantined *record);

/* "quarantine.unknown" (L2) when there is no such record. */
bool view_quarantined(const struct view_reader *reader, int64_t id, struct quarantined *record,
                      struct error *err) MUST_CHECK;

/* With its bytes: "payload" where they are UTF-8, else "payloadBase64", which is coded in the
 * arena. False when the arena has no room for that. */
bool view_quarantined_write(struct json_writer *w, struct arena *arena,
                            const struct quarantined *record, struct error *err) MUST_CHECK;

#endif
