/* status: the state of every source and rate gate, and what needs a person. */
#ifndef PATRA_VIEW_STATUS_H
#define PATRA_VIEW_STATUS_H

#include "core/alert.h"
#include "data/json_write.h"
#include "engine/schedule/fire.h"
#include "port/store_pause.h"
#include "port/store_quarantine.h"
#include "port/store_record_read.h"
#include "port/store_status.h"
#include "view/clock.h"
#include "view/cursor.h"
#include "view/doubt.h"
#include "view/gate.h"
#include "view/outbox.h"
#include "view/reader.h"
#include "view/trouble.h"

struct view_running { /* a task under way */
    struct task task;
    int64_t started_us; /* of its run; 0: it has none yet */
    int64_t batch_us;   /* of its last batch; 0: none */
};

struct view_running_list {
    struct view_running *items;
    size_t count;
};

/* Tasks of a partition that an earlier failure or refusal has put off; 500 are counted at most. */
struct view_put_off {
    int64_t count;
    int64_t until_us;  /* when the first of them is due */
    struct str reason; /* why that one was put off, as its last error says it */
};

/* A harvest with a schedule whose cursor is far behind and does not move: see status_behind.c. */
struct view_behind {
    struct str operation; /* its name in the source */
    int64_t at_us;        /* where the cursor is */
    int64_t behind_us;
    int64_t still_us; /* how long it has not moved */
};

struct view_behind_list {
    struct view_behind *items;
    size_t count;
};

struct view_source_status {
    struct str code;
    int64_t records;                    /* not deleted */
    struct partition_count_list counts; /* since view_status.since_us */
    struct view_put_off *put_off;       /* one for each of the counts */
    struct view_cursor_list cursors;
    struct pause_list pauses;
    struct view_running_list running;
    struct trouble_list troubles;
    struct open_count open;
    bool takes_signals; /* an update takes them; not looked up where there are none */
    struct view_doubt doubts[FETCH_DOUBTS]; /* since view_status.since_us */
    struct quarantine_sum_list quarantine;
    struct schedule_view_list schedules;
    struct view_behind_list behind;
    bool is_disabled; /* by its file */
};

struct view_source_status_list {
    struct view_source_status *items;
    size_t count;
};

struct view_status {
    int64_t now_us; /* the store's clock */
    int64_t since_us;
    struct store_time time; /* whether the clock can be believed */
    struct view_source_status_list sources;
    struct view_gate_list gates;
    struct view_subscription_list subscriptions; /* none where the filter names a source */
    struct alert_limits limits;                  /* beyond which something is wrong */
    struct alert_finding_list
        needs; /* what needs a person, and what to do; none: nothing is wrong */
};

struct view_status_filter {
    struct str source; /* '': all, and also the gates that belong to none of them */
};

/* Gathers and judges. "source.unknown" (L2) where the filter names a source that does not exist. */
bool view_status(const struct view_reader *reader, const struct view_status_filter *filter,
                 struct view_status *status, struct error *err) MUST_CHECK;

/* Fills source->behind; its schedules must be known. */
bool view_status_behind(const struct view_reader *reader, struct view_source_status *source,
                        int64_t now_us, struct error *err) MUST_CHECK;

/* Fills needs from the rest, by status->limits. */
bool view_status_judge(struct view_status *status, struct arena *arena,
                       struct error *err) MUST_CHECK;

void view_status_write(struct json_writer *w, const struct view_status *status);

#endif
