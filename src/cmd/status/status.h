/* status: patra status [SOURCE]: how things stand, for whoever is on call. */
#ifndef PATRA_CMD_STATUS_STATUS_H
#define PATRA_CMD_STATUS_STATUS_H

#include <stdio.h>

#include "cli/command.h"
#include "cli/session.h"
#include "core/wait.h"
#include "engine/cursor/cursor_view.h"
#include "engine/gate/gate.h"
#include "engine/schedule_fire.h"
#include "port/store_cursor.h"
#include "port/store_pause.h"
#include "port/store_quarantine.h"
#include "port/store_status.h"
#include "spec/spec.h"
#include "view/trouble.h"

extern const struct command COMMAND_STATUS;

/* ---- what is known; views into one arena ---- */

struct status_task { /* under way */
    struct task task;
    int64_t started_us; /* of its run; 0: it has none yet */
    int64_t batch_us;   /* of its last batch; 0: none */
};

struct status_task_list {
    struct status_task *items;
    size_t count;
};

/* Tasks of a partition's queue that wait for a later time because of what happened to them. Where
 * the queue is long its first ones alone are looked at: these are tried first. */
struct status_put_off {
    int64_t count;
    int64_t until_us; /* of the one that is due first */
    struct str why;   /* its own words */
};

struct status_cursor {
    struct cursor cursor;
    struct cursor_way way;
};

struct status_cursor_list {
    struct status_cursor *items;
    size_t count;
};

struct status_source {
    struct str code;
    struct partition_count_list counts; /* since status.since_us */
    struct status_put_off *put_off;     /* of each of them */
    struct status_cursor_list cursors;
    struct pause_list pauses;
    struct status_task_list running;
    struct trouble_list troubles;
    struct open_count open;
    bool takes_signals; /* an update looks at them; not asked where there are none */
    struct quarantine_sum_list quarantine;
    struct schedule_view_list schedules;
    bool is_disabled; /* by its file */
};

struct status_source_list {
    struct status_source *items;
    size_t count;
};

/* A rate gate as its source's file wants it, and as it stands. */
struct status_gate {
    struct str key;
    bool is_configured;    /* false: of a source that is no more, or has another key by now */
    struct spec_rate rate; /* the settings of the first endpoint that shares it */
    struct str of;         /* "crossref/works", and others that share it */
    struct gate_view view;
};

struct status_gate_list {
    struct status_gate *items;
    size_t count;
};

struct status_need { /* what needs a person, and what to do */
    struct str text;
};

struct status_need_list {
    struct status_need *items;
    size_t count;
};

struct status {
    int64_t now_us;
    int64_t since_us;
    struct status_source_list sources;
    struct status_gate_list gates;
    struct status_need_list needs;
};

/* status_judge.c: fills needs from the rest. */
bool status_judge(struct status *status, struct arena *arena, struct error *err) MUST_CHECK;

/* status_gates.c: the gates of these sources, and all others that were ever asked. `source` '' =
 * all. */
bool status_gather_gates(struct session *session, struct status *status, struct str source,
                         struct error *err) MUST_CHECK;

/* What keeps a gate shut; false: it is open. */
bool status_gate_blocked(const struct status_gate *gate, int64_t now_us, int64_t *until_us,
                         enum wait_why *why);

/* status_show.c */
bool status_print(const struct status *status, struct arena *arena, FILE *out,
                  struct error *err) MUST_CHECK;

/* status_json.c */
bool status_print_json(const struct status *status, struct arena *arena, FILE *out,
                       struct error *err) MUST_CHECK;

#endif
