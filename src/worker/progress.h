/* progress: how far a harvest is, how fast, and how long it will take. Only arithmetic: events of
 * executors go in (engine/execute/executor.h), numbers come out; no terminal, no lock, no clock.
 *
 *      progress_see(&progress, worker, event);     every event of an executor
 *      progress_slices(&progress, total, ended);   now and then: as the store counts them
 *      progress_tick(&progress, now_us);           now and then: for what is per second
 *      view = progress_view(&progress, now_us);
 *
 * How far: the slices that ended, and of those under way the share of their records received, where
 * the source gives a total. How fast: over the last PROGRESS_SPAN_US, so that a pause shows and the
 * slow first minute is forgotten. How long: what is left at that speed, and at the speed since the
 * start. The two are the ends of a range; it is unknown while they are far apart, so that what is
 * shown does not swing.
 */
#ifndef PATRA_WORKER_PROGRESS_H
#define PATRA_WORKER_PROGRESS_H

#include "base/buf.h"
#include "base/instant.h"
#include "engine/execute/executor.h"

enum { PROGRESS_WORKERS_MAX = 64, PROGRESS_SAMPLES = 31 };

/* A sample a second. */
#define PROGRESS_SPAN_US ((PROGRESS_SAMPLES - 1) * US_PER_SECOND)

enum progress_state { WORKER_IDLE, WORKER_WORKING, WORKER_WAITING };

struct progress_worker {
    enum progress_state state;
    int64_t until_us; /* WAITING, IDLE: 0 when unknown */
    enum wait_reason reason;
    bool has_worked; /* on any task */
    bool has_total;
    int64_t total; /* records of its slice, as the source says */
    int64_t received;
};

struct progress_sums {
    int64_t tasks; /* ended, by this process */
    int64_t given_back;
    int64_t batches;
    int64_t created;
    int64_t updated;
    int64_t same_date; /* of those: under the date they had */
    int64_t future;    /* of all: with a date that is not believed */
    int64_t unchanged; /* and older ones */
    int64_t deleted;
    int64_t quarantined;
    int64_t lost_ids;             /* ids without a record */
    int64_t refused_ids;          /* of these, refused by the source */
    int64_t doubts[FETCH_DOUBTS]; /* slices with this doubt */
    int64_t requests;
    int64_t retries;
    int64_t throttled;
    int64_t bytes;
    int64_t waited_us; /* for permits and between attempts; of all workers */
};

struct progress_sample {
    int64_t at_us;
    int64_t units; /* thousandths of slices */
    int64_t records;
    int64_t requests;
};

struct progress {
    int64_t started_us;
    int64_t slices;
    int64_t slices_ended;
    int64_t tasks_counted; /* sums.tasks when the store last counted the slices */
    int64_t worker_count;
    struct progress_worker workers[PROGRESS_WORKERS_MAX];
    struct progress_sums sums;
    struct progress_sample samples[PROGRESS_SAMPLES]; /* a ring */
    size_t sample_count;
    size_t sample_next;
    int64_t put_off_us; /* when the last task that was given back is due again; 0: none was */
    enum wait_reason put_off_reason;
    int64_t trouble_us; /* when the store last failed; 0: never */
    char trouble[256];
    int64_t allowed_per_1000s; /* requests, by the rate gate; 0: unknown */
};

/* Times are those of the events: calendar time, as the executors report it. */
void progress_init(struct progress *progress, int64_t worker_count, int64_t now_us);
void progress_see(struct progress *progress, int64_t worker, const struct executor_event *event);
void progress_slices(struct progress *progress, int64_t total, int64_t ended);
void progress_allowed(struct progress *progress, int64_t per_1000s);
void progress_tick(struct progress *progress, int64_t now_us);

struct progress_view {
    int64_t elapsed_us;
    int64_t slices;
    int64_t slices_ended;
    int64_t permille;
    int64_t records; /* received, of every kind */
    struct progress_sums sums;
    int64_t records_per_1000s; /* thousandths per second */
    int64_t requests_per_1000s;
    int64_t allowed_per_1000s; /* requests, by the rate gate; 0: unknown */
    struct progress_eta {
        bool is_known;
        int64_t least_us;
        int64_t most_us;
    } eta;
    int64_t waited_us; /* by each worker that has worked, on average */
    int64_t working;
    int64_t waiting;
    struct progress_wait { /* the earliest wait */
        int64_t until_us;  /* 0: unknown */
        int64_t left_us;
        enum wait_reason reason;
    } wait;          /* of the workers that are waiting */
    bool is_resting; /* no worker works or waits, and tasks are due later: */
    struct progress_wait rest;
    const char *trouble; /* "": the store works */
};

struct progress_view progress_view(const struct progress *progress, int64_t now_us);

/* ---- as text: progress_text.c ---- */

struct progress_style {
    int width; /* columns; lines are never longer */
    bool color;
    bool unicode;
};

enum { PROGRESS_LINES_MAX = 6 };

/* The block that is repainted: up to PROGRESS_LINES_MAX lines, each with its newline. `title` says
 * what is being done: "crossref harvest". */
void progress_block(const struct progress_view *view, struct str title,
                    const struct progress_style *style, struct buf *out);

/* One plain line, for logs and pipes, without its newline. */
void progress_line(const struct progress_view *view, struct str title, struct buf *out);

#endif
