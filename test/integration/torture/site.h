/* site: a store, a simulator whose world moves, several sources, and the processes that work on
 * them, for tests that do everything at once.
 *
 * The simulator's clock is the test's: sources are triggered up to "now" on that clock, never
 * beyond, because a window that was read before its records appeared would count as complete.
 */
#ifndef PATRA_TEST_TORTURE_SITE_H
#define PATRA_TEST_TORTURE_SITE_H

#include <stdbool.h>
#include <sys/types.h>

#include "child.h"
#include "random.h"
#include "run.h"

/* Backfills have what lies before START, harvests what comes after; the world begins at BEGIN. */
#define SITE_FROM "2026-01-04T00:00:00Z"
#define SITE_START "2026-01-08T00:00:00Z"
#define SITE_BEGIN "2026-01-10T00:00:00Z"

enum { SITE_SOURCES_MAX = 8, SITE_PROCESSES_MAX = 6, SITE_TEXT_MAX = 256, SITE_PATH_MAX = 4096 };

/* The audit's limits, and the highest rate that a source is ever configured with. */
enum { SITE_RATE = 40, SITE_BURST = 10 };

struct site_source {
    const char *name;
    const char *file;
    const char *endpoint; /* whose records are kept */
    const char *protocol;
    const char *base;      /* http.base_url, after the server's */
    const char *path;      /* of its requests */
    const char *page_size; /* the setting; NULL: the path has it */
    const char *field;     /* a setting that changes what is read */
    const char *field_other;
    const char *more[3];    /* settings it needs */
    const char *not_faults; /* faults that do not show in its responses, between blanks */
    bool has_update;
};

extern const struct site_source site_sources[SITE_SOURCES_MAX];

struct site_process {
    pid_t pid; /* 0: none */
    bool is_stopped;
    int64_t stopped_ms; /* by site_now_ms() */
    bool is_killed;
    bool is_short; /* of disk: may end with an error */
};

struct site {
    const char *dsn;
    bool is_postgres;
    uint64_t seed;
    struct sim sim;
    struct random random;
    int64_t now_us; /* on the simulator's clock */
    int sources[SITE_SOURCES_MAX];
    int source_count;
    bool has_long_slices;
    bool is_narrow; /* few requests at once, and slower ones after a refusal */
    struct site_process processes[SITE_PROCESSES_MAX];
    char log[SITE_PATH_MAX];
    char backup[SITE_PATH_MAX]; /* of SQLite's file */
    bool has_backup;
    char clock_file[SITE_PATH_MAX]; /* by how much the clock of the host is wrong */
    /* for the report */
    int kills, stops, faults;
    struct {
        int jumps, holders, replaced, standby, silent;
    } strikes;
};

/* Where its files are. */
const char *site_folder(void);

void site_begin(struct site *site, const char *dsn, uint64_t seed);
void site_end(struct site *site);

void site_sleep_ms(int64_t ms);
int64_t site_now_ms(void); /* monotonic */
/* The clock of the host is ahead by this, for all processes (shifted_clock.c). */
void site_set_clock(struct site *site, int64_t seconds);

/* A line into the log that the processes write to, too. */
void site_say(struct site *site, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The source in force from now on; variant 0 is what it begins and ends with. False:
 * the store was out of reach. */
bool site_apply(struct site *site, const struct site_source *source, int variant);
const struct site_source *site_any_source(struct site *site);

/* A request to the simulator; returns the response's body, valid until the next call. */
const char *site_ask(struct site *site, const char *method, const char *path, const char *body);
/* Time passes in the simulator's world. */
void site_advance(struct site *site, int minutes);
/* Where triggers end: now, less the lag. */
void site_to(const struct site *site, char text[32]);

/* A process of the site, or NULL where all places are taken. disk_bytes: no file grows beyond; 0:
 * any. `argv` ends with NULL. */
struct site_process *site_spawn(struct site *site, int64_t disk_bytes, const char *const *argv);
struct site_process *site_any_process(struct site *site);
/* Waits for its end, and fails the test if nothing here explains how it ended. */
void site_reap(struct site *site, struct site_process *process);
/* Those that have ended by themselves. */
void site_reap_ended(struct site *site);
/* Runs a command to its end; its exit code. It must not have crashed. */
int site_command(struct site *site, const char *const *argv);

#define SITE_SPAWN(site, ...) site_spawn(site, 0, (const char *const[]){ __VA_ARGS__, NULL })
#define SITE_COMMAND(site, ...) \
    site_command(site, (const char *const[]){ __VA_ARGS__, "--store", (site)->dsn, NULL })

#endif
