/* status: patra status [SOURCE]: how things stand, for whoever is on call. */
#ifndef PATRA_CMD_STATUS_H
#define PATRA_CMD_STATUS_H

#include <stdio.h>

#include "cmd/command.h"
#include "cmd/trouble.h"
#include "port/store_cursor.h"
#include "port/store_pause.h"
#include "port/store_status.h"

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

struct status_source {
    struct str code;
    struct partition_count_list counts; /* since status.since_us */
    struct cursor_list cursors;
    struct pause_list pauses;
    struct status_task_list running;
    struct trouble_list troubles;
    struct open_count open;
};

struct status_source_list {
    struct status_source *items;
    size_t count;
};

struct status_gate {
    struct gate_row row;
    int64_t used_hour;
    int64_t used_day;
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

/* status_show.c */
bool status_print(const struct status *status, struct arena *arena, FILE *out,
                  struct error *err) MUST_CHECK;
bool status_print_json(const struct status *status, struct arena *arena, FILE *out,
                       struct error *err) MUST_CHECK;

#endif
