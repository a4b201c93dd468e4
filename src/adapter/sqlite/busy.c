/* Waiting for a file that another process writes to. */
#include <poll.h>
#include <stdatomic.h>
#include <time.h>

#include "adapter/sqlite/sqlite.h"
#include "base/instant.h"

/* SQLite says nothing when the lock is given back, so it is tried again. */
#define FIRST_US US_PER_MS
#define LAST_US (25 * US_PER_MS)

/* When the process is to end, it waits no longer than this, for all of its calls together. */
#define STOP_US US_PER_SECOND

static int64_t monotonic_us(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * US_PER_SECOND + at.tv_nsec / 1000;
}

static bool must_stop(const struct sqlite_session *sqlite)
{
    const struct store_patience *patience = sqlite->sql.store.patience;
    struct pollfd fd = { .fd = patience != NULL ? patience->stop_fd : -1, .events = POLLIN };

    return fd.fd >= 0 && poll(&fd, 1, 0) == 1;
}

static int64_t until_us(struct sqlite_session *sqlite, int64_t now_us)
{
    const int64_t patient_us = sqlite->busy_since_us + sqlite->file->busy_timeout_us;

    if (sqlite->stop_us == 0 && must_stop(sqlite))
        sqlite->stop_us = sqlite->sql.store.patience->give_up_us != NULL
                              ? atomic_load(sqlite->sql.store.patience->give_up_us)
                              : now_us + STOP_US;
    return sqlite->stop_us != 0 && sqlite->stop_us < patient_us ? sqlite->stop_us : patient_us;
}

/* Called by SQLite; `count` calls were made before for the same lock. 0: it is not waited for any
 * longer. */
static int wait_a_moment(void *context, int count)
{
    struct sqlite_session *sqlite = context;
    const int64_t now_us = monotonic_us();
    int64_t pause_us = count < 5 ? FIRST_US << count : LAST_US, left_us;
    struct timespec pause;

    if (count == 0)
        sqlite->busy_since_us = now_us;
    left_us = until_us(sqlite, now_us) - now_us;
    if (left_us <= 0)
        return 0;
    if (pause_us > LAST_US)
        pause_us = LAST_US;
    if (pause_us > left_us)
        pause_us = left_us;
    pause = (struct timespec){ .tv_nsec = pause_us * 1000 };
    (void)nanosleep(&pause, NULL);
    return 1;
}

void sqlite_wait_when_busy(struct sqlite_session *sqlite)
{
    (void)sqlite3_busy_handler(sqlite->db, wait_a_moment, sqlite);
}
