/* kill_site: processes that are killed (SIGKILL) at any moment and started again, or put to sleep
 * (SIGSTOP) for longer than their leases, to wake up and find that others are at work.
 *
 * Writers come first and are not put to sleep: they would hold locks. What a process does is the
 * test's; here are the two that several tests have, a writer and `patra publish`.
 */
#ifndef PATRA_TEST_KILL_SITE_H
#define PATRA_TEST_KILL_SITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "port/store.h"
#include "random.h"

enum { KILL_SITE_MAX = 16 };

struct kill_site {
    const char *dsn;
    int processes, writers;
    void (*run)(const char *dsn, int number, uint64_t seed); /* in the process; never returns */
    struct random random;
    pid_t pids[KILL_SITE_MAX];
    bool is_asleep[KILL_SITE_MAX];
    uint64_t starts;
    int kills[KILL_SITE_MAX]; /* of each */
    int sleeps;
};

void kill_site_begin(struct kill_site *site);
void kill_site_disturb(struct kill_site *site); /* one of them, by chance */
int kill_site_kills(const struct kill_site *site);
void kill_site_end(struct kill_site *site); /* all of them */

/* Writers are killed. The others wake, are told to end (SIGTERM), and must exit with 0, however
 * short a time ago they were started. */
void kill_site_finish(struct kill_site *site);

/* PATRA_KILLS, or else this. */
int kill_site_wanted(int otherwise);

/* Waits for a server that is being started. */
struct store *kill_site_store(const char *dsn);

/* Transactions over so many keys, a few of them changed again and again; some transactions roll
 * back, some stay open for a while. Never returns. */
void kill_site_write(const char *dsn, int keys, uint64_t seed);
/* The same with longer pauses between transactions. */
void kill_site_write_slowly(const char *dsn, int keys, int pause_ms_max, uint64_t seed);

/* patra publish with a lease of 400 ms, of `only` this bus; NULL: of all. Never returns. */
void kill_site_publish(const char *dsn, const char *only);

/* Becomes patra with these arguments. Never returns. */
void kill_site_become(const char *const *arguments);
#define KILL_SITE_BECOME(...) kill_site_become((const char *const[]){ "patra", __VA_ARGS__, NULL })

void kill_site_sleep(int64_t ms);

#endif
