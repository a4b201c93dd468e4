/* replay: the report on a batch that was replayed, as programs see it (engine/replay). */
#ifndef PATRA_VIEW_REPLAY_H
#define PATRA_VIEW_REPLAY_H

#include "data/json_write.h"
#include "engine/replay/replay.h"

struct view_replay {
    int64_t run_id;
    int64_t number;
    bool is_offline;
    bool is_by_current;     /* read by the source in force, not by the snapshot of then */
    bool is_source_changed; /* the source in force is not the one of then */
    const struct replay_report *report;
};

void view_replay_write(struct json_writer *w, const struct view_replay *view);

#endif
