/* scheduled: the operations of a source that fire by themselves. */
#ifndef PATRA_ENGINE_SCHEDULE_SCHEDULED_H
#define PATRA_ENGINE_SCHEDULE_SCHEDULED_H

#include "base/attr.h"
#include "core/schedule.h"
#include "spec/source.h"

struct scheduled {
    struct str source;
    struct str operation; /* its name in the source */
    struct str endpoint;
    bool is_harvest;
    struct schedule schedule;
    const struct error *fault; /* the schedule cannot be read; NULL: it can */
    int64_t since_us;          /* ticks after it are due: when it came into force */
};

struct scheduled_list {
    struct scheduled *items;
    size_t count;
};

/* False when its file says that it must not be triggered. */
bool schedule_is_enabled(const struct source *source);

/* Adds those that are enabled, with texts of their own. */
bool scheduled_add(struct arena *arena, const struct source *source, struct scheduled_list *list,
                   struct error *err) MUST_CHECK;

#endif
