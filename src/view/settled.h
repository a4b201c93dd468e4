/* settled: what became of a quarantined record that a person retried or dropped. */
#ifndef PATRA_VIEW_SETTLED_H
#define PATRA_VIEW_SETTLED_H

#include "data/json_write.h"
#include "engine/execute/quarantine_retry.h"

struct view_settled {
    int64_t id;
    struct str outcome;
    const struct quarantine_retried *retried; /* NULL: it was dropped, or was not open */
};

struct str view_retried_word(enum quarantine_outcome outcome); /* "still bad" */
void view_settled_write(struct json_writer *w, const struct view_settled *settled);

#endif
