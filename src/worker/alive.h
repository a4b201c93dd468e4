/* alive: a file by which others see that a service is at work.
 *
 *      patra serve --alive-file FILE       writes the time into FILE every five seconds
 *      patra alive FILE                    exit code 0 while that is not long ago
 *
 * The main thread writes it between its turns. If it hangs, for example in the store, the time gets
 * old. The file appears when the service works, and goes when it ends, so it serves as a check of
 * readiness as well. It is a plain file: the check works in a container without a network, a shell
 * or the store, and does not restart a service whose database is away.
 */
#ifndef PATRA_WORKER_ALIVE_H
#define PATRA_WORKER_ALIVE_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/log.h"
#include "port/clock.h"

struct alive {
    const char *path; /* NULL: nothing is written */
    int64_t next_us;  /* monotonic */
    bool is_failing;
};

#define ALIVE_OPTION                                                                     \
    {                                                                                    \
        "alive-file", "FILE", "Write the time to FILE every 5 seconds; see patra alive." \
    }

/* Writes the file for the first time. Fails with "alive.write" (L2). */
bool alive_begin(struct alive *alive, struct clock *clock, struct error *err) MUST_CHECK;
/* Writes it again where it is time. A failure is logged when it begins. */
void alive_beat(struct alive *alive, struct clock *clock, struct log *log);
void alive_end(struct alive *alive); /* removes the file */

/* When it was last written. Fails with "alive.none" (L1): there is no such file, or no time in it.
 */
bool alive_read(struct arena *arena, const char *path, int64_t *at_us,
                struct error *err) MUST_CHECK;

#endif
