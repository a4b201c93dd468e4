/* poller: a process that asks one question all the time, on a session of its own, by the database's
 * own library: what readers of a table see while something happens to it. */
#ifndef PATRA_TEST_SUPPORT_POLLER_H
#define PATRA_TEST_SUPPORT_POLLER_H

#include <stdint.h>
#include <sys/types.h>

struct poller {
    pid_t pid;
    int end; /* a byte: it ends */
    int told;
};

struct poller_report {
    int64_t polls;
    int64_t wrong; /* answers that were not the wanted text, or none */
    int64_t longest_us;
    char first_wrong[256];
};

/* `wanted` is the first value of the first row, as a text. dsn as in sql.h. */
struct poller poller_start(const char *dsn, const char *sql, const char *wanted);
struct poller_report poller_end(struct poller *poller);

#endif
