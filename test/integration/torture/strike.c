/* Strikes at the store and at the clock, chosen by chance. */
#include "strike.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "postgres.h"
#include "sql.h"
#include "test.h"

/* ---- SQLite ---- */

static void signal_processes(struct site *site, int number)
{
    for (int i = 0; i < SITE_PROCESSES_MAX; i++) {
        if (site->processes[i].pid != 0 && !site->processes[i].is_stopped)
            (void)kill(site->processes[i].pid, number);
    }
}

static void take_backup(struct site *site)
{
    char sql[SITE_PATH_MAX + 64];

    site_say(site, "a backup is taken");
    (void)unlink(site->backup);
    (void)snprintf(sql, sizeof(sql), "VACUUM INTO '%s'", site->backup);
    sql_run(site->dsn, sql);
    site->has_backup = true;
}

/* How many files of that name a process has open. */
static int open_files(pid_t pid, const char *name)
{
    char folder[64], path[SITE_PATH_MAX], link[SITE_PATH_MAX];
    const struct dirent *entry;
    DIR *files;
    int count = 0;

    (void)snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
    files = opendir(folder);
    while (files != NULL && (entry = readdir(files)) != NULL) {
        ssize_t len;

        (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        len = readlink(path, link, sizeof(link) - 1);
        link[len > 0 ? len : 0] = '\0';
        count += strcmp(link, name) == 0;
    }
    if (files != NULL)
        (void)closedir(files);
    return count;
}

/* Each session of SQLite opens the file first and its log by name a moment later. In between, it
 * would take the log of another file for its own, and spoil that one: SQLite's own warning, which
 * no program can heed for it. So nobody may be there when the file changes. */
static bool is_anybody_opening(struct site *site)
{
    char log[SITE_PATH_MAX + 8];

    (void)snprintf(log, sizeof(log), "%s-wal", site->dsn);
    for (int i = 0; i < SITE_PROCESSES_MAX; i++) {
        const pid_t pid = site->processes[i].pid;

        if (pid != 0 && open_files(pid, site->dsn) != open_files(pid, log))
            return true;
    }
    return false;
}

enum { OPENING_TRIES = 40, OPENING_STEP_MS = 20 };

static bool stand_still(struct site *site)
{
    for (int i = 0; i < OPENING_TRIES; i++) {
        signal_processes(site, SIGSTOP);
        site_sleep_ms(OPENING_STEP_MS);
        if (!is_anybody_opening(site))
            return true;
        signal_processes(site, SIGCONT);
        site_sleep_ms(OPENING_STEP_MS);
    }
    return false;
}

/* A backup knows nothing of the requests since it was made. Nobody restores one faster than a
 * bucket fills again (SITE_BURST of SITE_RATE). */
enum { RESTORE_MS = 400 };

/* Nobody was asked to stop before. Who has the old file open must notice, and write no more; for
 * the moment of the change itself they stand still. */
static void restore_backup(struct site *site)
{
    static const char *const logs[] = { "-wal", "-shm" };
    char path[SITE_PATH_MAX + 8];

    if (!stand_still(site))
        return;
    site_say(site, "the backup is restored");
    for (size_t i = 0; i < ARRAY_LEN(logs); i++) {
        (void)snprintf(path, sizeof(path), "%s%s", site->dsn, logs[i]);
        (void)unlink(path);
    }
    REQUIRE(rename(site->backup, site->dsn) == 0, "restore");
    site_sleep_ms(RESTORE_MS);
    signal_processes(site, SIGCONT);
    site->has_backup = false;
    site->strikes.replaced++;
}

static void hit_sqlite(struct site *site)
{
    const int kind = (int)random_between(&site->random, 0, 10);

    if (kind < 4) {
        site_say(site, "the store is locked");
        sql_hold(site->dsn, random_between(&site->random, 0, 1500));
    } else if (site->has_backup)
        restore_backup(site);
    else
        take_backup(site);
}

/* ---- PostgreSQL ---- */

static void cut_sessions(struct site *site)
{
    site_say(site, "a session is cut off");
    (void)sql_number(site->dsn, "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM"
                                " pg_stat_activity WHERE datname = current_database() AND pid <>"
                                " pg_backend_pid() ORDER BY random() LIMIT 2) AS t");
}

static void stop_server(struct site *site)
{
    struct error err = { 0 };

    site_say(site, "PostgreSQL stops");
    REQUIRE_OK(postgres_stop(&err), err);
    site_sleep_ms(random_between(&site->random, 0, 800));
    REQUIRE_OK(postgres_start(&err), err);
}

static void make_standby(struct site *site)
{
    struct error err = { 0 };

    site_say(site, "PostgreSQL is a standby");
    REQUIRE_OK(postgres_demote(&err), err);
    site_sleep_ms(random_between(&site->random, 0, 3000));
    site_say(site, "PostgreSQL is the primary again");
    REQUIRE_OK(postgres_promote(&err), err);
    site->strikes.standby++;
}

/* Rarely for longer than patra waits for one that says nothing (15 s). */
static void freeze_server(struct site *site)
{
    const int64_t ms =
        random_chance(&site->random, 20) ? 17000 : random_between(&site->random, 100, 2500);

    site_say(site, "PostgreSQL is silent for %lld ms", (long long)ms);
    postgres_freeze();
    site_sleep_ms(ms);
    postgres_thaw();
    site->strikes.silent++;
}

static void hit_postgres(struct site *site)
{
    const int kind = (int)random_between(&site->random, 0, 10);

    if (kind < 4)
        cut_sessions(site);
    else if (kind < 6)
        stop_server(site);
    else if (kind < 8)
        make_standby(site);
    else
        freeze_server(site);
}

/* ---- the clock ---- */

/* Now and then somebody says that it is right although it is not. */
static void jump(struct site *site)
{
    static const int64_t far_s[] = { 2, 60, 3600, 2 * 86400 };
    const int64_t by_s = far_s[random_between(&site->random, 0, (int64_t)ARRAY_LEN(far_s))];
    const int64_t shift_s = random_between(&site->random, -by_s, by_s + 1);

    site_say(site, "the clock is wrong by %lld s", (long long)shift_s);
    site_set_clock(site, shift_s);
    site->strikes.jumps++;
    if (random_chance(&site->random, 30))
        (void)SITE_COMMAND(site, "patra", "clock", "accept", "--yes");
}

void strike_end(struct site *site)
{
    site_set_clock(site, 0);
    REQUIRE(SITE_COMMAND(site, "patra", "clock", "accept", "--yes") == 0, "the clock is right");
}

/* ---- slots of the dead ---- */

enum { HOLDER_MS_MAX = 3000, HOLDER_STEP_MS = 20 };

/* The pid is a part of the name under which a worker takes slots. */
static bool has_slot(const struct site *site, const struct site_process *process)
{
    char sql[128];

    (void)snprintf(sql, sizeof(sql),
                   "SELECT count(*) FROM ing_rate_permit WHERE owner LIKE '%%:%d:%%'",
                   (int)process->pid);
    return sql_number(site->dsn, sql) > 0;
}

static void kill_holder(struct site *site)
{
    const struct site_source *source = site_any_source(site);
    struct site_process *process;
    char rule[SITE_TEXT_MAX], to[32];
    int ms = 0;

    site_to(site, to);
    (void)snprintf(rule, sizeof(rule), "path=%s times=3 kind=stall at=before ms=3000",
                   source->path);
    (void)SITE_COMMAND(site, "patra", "trigger", source->name, "replay", "--from", SITE_FROM,
                       "--to", to);
    (void)site_ask(site, "POST", "/_sim/faults", rule);
    site_say(site, "fault: %s", rule);
    process = SITE_SPAWN(site, "patra", "work", "--drain", "--lease", "1s", "--workers", "4",
                         "--store", site->dsn);
    if (process == NULL)
        return;
    for (; ms < HOLDER_MS_MAX && !has_slot(site, process); ms += HOLDER_STEP_MS) {
        site_sleep_ms(HOLDER_STEP_MS);
        site_reap_ended(site);
        if (process->pid == 0)
            return; /* there was nothing to do */
    }
    site_say(site, "kill %d, which %s a slot", (int)process->pid,
             ms < HOLDER_MS_MAX ? "has" : "waits for");
    (void)kill(process->pid, SIGKILL);
    process->is_killed = true;
    site->strikes.holders += ms < HOLDER_MS_MAX;
    site_reap(site, process);
}

/* ---- one of them ---- */

void strike(struct site *site)
{
    const int kind = (int)random_between(&site->random, 0, 10);

    if (kind < 3)
        jump(site);
    else if (kind < 4)
        kill_holder(site);
    else if (site->is_postgres)
        hit_postgres(site);
    else
        hit_sqlite(site);
}
