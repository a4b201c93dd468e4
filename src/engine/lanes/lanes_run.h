/* lanes_run: runs a reader, round after round, until it is stopped or nothing is left.
 *
 * While there is something to do, rounds follow on each other. Otherwise it waits until the stream
 * has grown (engine/wake/wake.h), and always looks again after 5 ms, and each time nothing is
 * there twice as late, up to a second. A store that is out of reach is waited for, and so is what
 * the reader delivers to: new events do not make it try again sooner.
 */
#ifndef PATRA_ENGINE_LANES_LANES_RUN_H
#define PATRA_ENGINE_LANES_LANES_RUN_H

#include "engine/lanes/lanes.h"
#include "engine/wake/wake.h"

struct lanes_run {
    const char *what; /* "relay": for log lines and errors */
    struct str name;  /* of its subscription */
    struct str owner;
    struct store *store;  /* has its offsets; its clock is the one that all processes share */
    struct store *stream; /* has what it waits for; may be the same */
    struct clock *clock;
    struct random_source *random;
    struct log *log;   /* NULL: none */
    struct wake *wake; /* NULL: none; this process does not wake it */
    int wake_fd;       /* readable: end; CLOCK_NO_WAKE: none */
    bool is_draining;  /* ends when nothing is left; trouble is then an error */
    bool (*round)(void *context, int64_t now_us, struct lanes_round *round, struct error *err);
    void *context;
};

struct lanes_total {
    int64_t delivered;
    int64_t parked;
    int64_t dead;
    bool is_stopped; /* the subscription is, by its policy */
};

/* The caller gives the lanes back afterwards. *total may be NULL. */
bool lanes_run(const struct lanes_run *run, struct lanes_total *total,
               struct error *err) MUST_CHECK;

#endif
