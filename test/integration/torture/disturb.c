/* Triggers, processes, operators, faults and outages, chosen by chance. */
#include "disturb.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/instant.h"
#include "sql.h"
#include "strike.h"
#include "test.h"

/* ---- triggers ---- */

/* Some instant of the world so far, at a whole hour. */
static void any_instant(struct site *site, char text[32])
{
    const int64_t first_us =
        instant_from_civil((struct civil){ .year = 2026, .month = 1, .day = 4 });
    const int64_t hours = (site->now_us - first_us) / US_PER_HOUR;

    instant_format(first_us + random_between(&site->random, 0, hours) * US_PER_HOUR, text);
}

/* Two of them, a few hours to some days apart. */
static void any_window(struct site *site, char from[32], char to[32])
{
    char other[32];

    do {
        any_instant(site, from);
        any_instant(site, to);
    } while (strcmp(from, to) == 0);
    if (strcmp(from, to) > 0) {
        memcpy(other, from, sizeof(other));
        memcpy(from, to, sizeof(other));
        memcpy(to, other, sizeof(other));
    }
}

static const char *ids_file(struct site *site)
{
    static char path[4096];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/ids", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL, "a file of ids");
    for (int i = 0; i < 30; i++)
        (void)fprintf(file, "r%08d\n", (int)random_between(&site->random, 1, 4200));
    REQUIRE(fclose(file) == 0, "a file of ids");
    return path;
}

struct words {
    const char *argv[16];
    size_t count;
};

static void add(struct words *words, const char *word)
{
    words->argv[words->count++] = word;
}

static void add_option(struct words *words, const char *name, const char *value)
{
    add(words, name);
    add(words, value);
}

static const char *any_operation(struct site *site, const struct site_source *source)
{
    static const char *const operations[] = { "harvest", "harvest", "harvest",
                                              "harvest", "harvest", "backfill",
                                              "replay",  "replay",  "update" };
    const int64_t count = (int64_t)ARRAY_LEN(operations) - !source->has_update;

    return operations[random_between(&site->random, 0, count)];
}

/* By a trigger, or by the command that plans and works. */
static void begin_operation(struct site *site, bool is_trigger)
{
    const struct site_source *source = site_any_source(site);
    const char *operation = any_operation(site, source);
    struct words words = { { "patra" }, 1 };
    char from[32], to[32];

    add_option(&words, is_trigger ? "trigger" : operation, source->name);
    add(&words, is_trigger ? operation : "--json");
    add_option(&words, "--store", site->dsn);
    site_to(site, to);
    if (strcmp(operation, "backfill") == 0) {
        add_option(&words, "--from", SITE_FROM);
        add_option(&words, "--to", SITE_START);
    } else if (strcmp(operation, "replay") == 0) {
        any_window(site, from, to);
        add_option(&words, "--from", from);
        add_option(&words, "--to", to);
    } else if (strcmp(operation, "harvest") == 0) {
        add_option(&words, "--to", to);
    } else if (random_chance(&site->random, 50)) {
        add_option(&words, "--ids", ids_file(site));
    }
    (void)site_spawn(site, 0, words.argv);
}

/* ---- processes ---- */

static int64_t store_bytes(const struct site *site)
{
    struct stat info;

    return stat(site->dsn, &info) == 0 ? info.st_size : 0;
}

static void begin_worker(struct site *site)
{
    static const char *const leases[] = { "1s", "1s", "2s", "1m", "1h" };
    static const char *const workers[] = { "1", "2", "4", "8" };
    const char *lease = leases[random_between(&site->random, 0, 5)];
    const char *count = workers[random_between(&site->random, 0, 4)];
    const int kind = (int)random_between(&site->random, 0, 10);
    int64_t disk_bytes = 0;

    if (!site->is_postgres && random_chance(&site->random, 20))
        disk_bytes = store_bytes(site) + random_between(&site->random, 0, 1 << 18);
    if (kind < 6)
        (void)site_spawn(site, disk_bytes,
                         (const char *const[]){ "patra", "work", "--drain", "--lease", lease,
                                                "--workers", count, "--store", site->dsn, NULL });
    else if (kind < 8)
        (void)site_spawn(site, disk_bytes,
                         (const char *const[]){ "patra", "work", "--lease", lease, "--workers",
                                                count, "--store", site->dsn, NULL });
    else
        (void)site_spawn(site, disk_bytes,
                         (const char *const[]){ "patra", "serve", "--lease", lease, "--workers",
                                                count, "--store", site->dsn, NULL });
}

static void stop_or_continue(struct site *site, struct site_process *process)
{
    site_say(site, "%s %d", process->is_stopped ? "continue" : "stop", (int)process->pid);
    (void)kill(process->pid, process->is_stopped ? SIGCONT : SIGSTOP);
    process->is_stopped = !process->is_stopped;
    process->stopped_ms = site_now_ms();
}

/* Longer than most leases. One that has SQLite's lock lets nobody write, and each command would
 * wait for that as long as it can: a history of nothing else. */
enum { STOPPED_MS_MAX = 4000 };

static void continue_stopped(struct site *site)
{
    for (int i = 0; i < SITE_PROCESSES_MAX; i++) {
        struct site_process *process = &site->processes[i];

        if (process->pid != 0 && process->is_stopped &&
            site_now_ms() - process->stopped_ms > STOPPED_MS_MAX)
            stop_or_continue(site, process);
    }
}

static void hit_process(struct site *site)
{
    struct site_process *process = site_any_process(site);
    const int kind = (int)random_between(&site->random, 0, 10);

    if (process == NULL)
        return;
    if (kind < 5) {
        site_say(site, "kill %d", (int)process->pid);
        (void)kill(process->pid, SIGKILL);
        process->is_killed = true;
        site->kills++;
        site_reap(site, process);
    } else if (kind < 7) {
        site_say(site, "terminate %d", (int)process->pid);
        (void)kill(process->pid, SIGTERM);
        if (random_chance(&site->random, 30))
            (void)kill(process->pid, SIGTERM);
    } else {
        stop_or_continue(site, process);
        site->stops++;
    }
}

/* ---- operators ---- */

static void endpoint_name(const struct site_source *source, char text[SITE_TEXT_MAX])
{
    (void)snprintf(text, SITE_TEXT_MAX, "%s/%s", source->name, source->endpoint);
}

static void pause_or_resume(struct site *site)
{
    const struct site_source *source = site_any_source(site);
    const bool is_endpoint = random_chance(&site->random, 30);
    char name[SITE_TEXT_MAX];

    endpoint_name(source, name);
    (void)SITE_COMMAND(site, "patra", random_chance(&site->random, 30) ? "pause" : "resume",
                       is_endpoint ? name : source->name);
}

static void cancel_plan(struct site *site)
{
    const int64_t last = sql_number(site->dsn, "SELECT coalesce(max(id), 0) FROM ing_plan");
    char plan[32];

    if (last == 0)
        return;
    (void)snprintf(plan, sizeof(plan), "%lld",
                   (long long)(last - random_between(&site->random, 0, last < 4 ? last : 4)));
    (void)SITE_COMMAND(site, "patra", "plan", "cancel", plan);
}

static void cancel_task(struct site *site)
{
    const int64_t task = sql_number(site->dsn, "SELECT coalesce(min(id), 0) FROM ing_task"
                                               " WHERE status_code IN"
                                               " ('QUEUED', 'DISPATCHED', 'EXECUTING')");
    char id[32];

    if (task == 0)
        return;
    (void)snprintf(id, sizeof(id), "%lld", (long long)(task + random_between(&site->random, 0, 5)));
    (void)SITE_COMMAND(site, "patra", "task", "cancel", id);
}

static int64_t cursor_us(const struct site *site, const struct site_source *source)
{
    char sql[512];

    (void)snprintf(sql, sizeof(sql),
                   "SELECT coalesce(%s, 0) FROM ing_cursor WHERE provenance_code = '%s'"
                   " AND operation_code = 'HARVEST'",
                   site->is_postgres
                       ? "(extract(epoch FROM max(normalized_instant)) * 1000000)::bigint"
                       : "max(normalized_instant)",
                   source->name);
    return sql_number(site->dsn, sql);
}

/* Only back: forward gives up what lies between. */
static void reset_cursor(struct site *site)
{
    const struct site_source *source = site_any_source(site);
    const int64_t first_us =
        instant_from_civil((struct civil){ .year = 2026, .month = 1, .day = 8 });
    const int64_t hours = (cursor_us(site, source) - first_us) / US_PER_HOUR;
    char to[32];

    if (hours <= 0)
        return;
    instant_format(first_us + random_between(&site->random, 0, hours) * US_PER_HOUR, to);
    (void)SITE_COMMAND(site, "patra", "cursor", "reset", source->name, "--to", to, "--yes");
}

static void operate(struct site *site)
{
    const struct site_source *source = site_any_source(site);

    switch (random_between(&site->random, 0, 13)) {
    case 0:
    case 1:
        pause_or_resume(site);
        break;
    case 2:
        cancel_plan(site);
        break;
    case 13:
        cancel_task(site);
        break;
    case 3:
        reset_cursor(site);
        break;
    case 4:
        (void)SITE_COMMAND(site, "patra", "cursor", "rebuild", source->name);
        break;
    case 5:
    case 6:
        (void)site_apply(site, source, (int)random_between(&site->random, 0, 10));
        break;
    case 7:
        (void)SITE_COMMAND(site, "patra", "quarantine", "retry", source->name);
        break;
    case 8:
        (void)SITE_COMMAND(site, "patra", "quarantine", "drop", source->name, "--yes");
        break;
    case 9:
        (void)SITE_COMMAND(site, "patra", "cursor", "show", source->name);
        break;
    case 10:
        (void)SITE_COMMAND(site, "patra", "task", "list", "--source", source->name);
        break;
    default:
        (void)SITE_COMMAND(site, "patra", "status");
        break;
    }
}

/* ---- the upstream ---- */

static const struct {
    const char *kind;
    const char *rule;
    bool spoils;
} faults[] = {
    { "500", "rate=0.3 times=9 kind=status code=500", false },
    { "500", "times=40 kind=status code=500", false },
    { "503", "rate=0.2 times=2 kind=status code=503 retry_after=1", false },
    { "429", "rate=0.2 times=2 kind=status code=429 retry_after=1", false },
    { "429", "rate=0.2 times=5 kind=status code=429 body=html", false },
    { "400", "rate=0.1 times=3 kind=status code=400", false },
    { "404", "rate=0.1 times=3 kind=status code=404", false },
    { "401", "rate=0.1 times=1 kind=status code=401", false },
    { "reset", "rate=0.2 times=9 kind=reset at=before", false },
    { "reset", "rate=0.2 times=9 kind=reset at=reply", false },
    { "reset", "rate=0.2 times=9 kind=reset at=mid keep=50", false },
    { "close", "rate=0.2 times=9 kind=close", false },
    { "stall", "rate=0.1 times=3 kind=stall at=mid ms=3000", false },
    { "stall", "rate=0.3 times=9 kind=stall at=before ms=300", false },
    { "drip", "rate=0.1 times=3 kind=drip bps=20000", false },
    { "truncate", "rate=0.2 times=9 kind=truncate keep=50", false },
    { "truncate", "rate=0.2 times=9 kind=truncate keep=50 length=short", false },
    { "truncate", "rate=0.2 times=9 kind=truncate keep=50 length=chunked", false },
    { "garbage", "rate=0.2 times=9 kind=garbage bytes=300", false },
    { "html", "rate=0.2 times=9 kind=html", false },
    { "html", "rate=0.2 times=9 kind=html keep_type", false },
    { "empty", "rate=0.2 times=9 kind=empty", false },
    { "oversize", "rate=0.1 times=2 kind=oversize mb=5", false },
    { "utf16", "rate=0.2 times=5 kind=charset charset=utf16", false },
    { "redirect", "rate=0.1 times=3 kind=redirect code=302", false },
    { "body_error", "rate=0.2 times=9 kind=body_error", false },
    { "empty_page", "rate=0.2 times=1 kind=empty_page", false },
    { "repeat_page", "rate=0.2 times=5 kind=repeat_page", false },
    { "shift_page", "rate=0.2 times=5 kind=shift_page", false },
    { "repeat_token", "rate=0.2 times=5 kind=repeat_token", false },
    { "expired_token", "rate=0.2 times=5 kind=expired_token", false },
    { "moving_total", "rate=0.2 times=5 kind=moving_total", false },
    { "next_elsewhere", "rate=0.1 times=2 kind=next_elsewhere", false },
    { "record_no_id", "rate=0.2 times=3 kind=record_no_id", true },
    { "record_no_date", "rate=0.2 times=3 kind=record_no_date", true },
    { "record_bad_date", "rate=0.2 times=3 kind=record_bad_date", true },
    { "429", "rate=0.1 times=1 kind=status code=429 retry_after=4102444800", false },
    { "503", "rate=0.1 times=1 kind=status code=503 retry_after=3600000", false },
    { "429", "rate=0.1 times=1 kind=status code=429 retry_after=date+11000d", false },
};

static void set_fault(struct site *site, bool with_spoilt)
{
    const struct site_source *source = site_any_source(site);
    const size_t i = (size_t)random_between(&site->random, 0, (int64_t)ARRAY_LEN(faults));
    char rule[SITE_TEXT_MAX], name[64];

    (void)snprintf(name, sizeof(name), " %s ", faults[i].kind);
    if ((faults[i].spoils && !with_spoilt) || strstr(source->not_faults, name) != NULL)
        return;
    (void)snprintf(rule, sizeof(rule), "path=%s %s", source->path, faults[i].rule);
    (void)site_ask(site, "POST", "/_sim/faults", rule);
    site_say(site, "fault: %s", rule);
    site->faults++;
}

/* ---- one of them ---- */

void disturb(struct site *site, bool with_spoilt)
{
    const int kind = (int)random_between(&site->random, 0, 100);

    site_reap_ended(site);
    continue_stopped(site);
    if (kind < 20)
        begin_operation(site, true);
    else if (kind < 26)
        begin_operation(site, false);
    else if (kind < 46)
        begin_worker(site);
    else if (kind < 62)
        hit_process(site);
    else if (kind < 72)
        operate(site);
    else if (kind < 85)
        set_fault(site, with_spoilt);
    else if (kind < 87) {
        (void)site_ask(site, "DELETE", "/_sim/faults", "");
        site_say(site, "no faults");
    } else if (kind < 92)
        site_advance(site, (int)random_between(&site->random, 1, 1200));
    else
        strike(site);
    site_sleep_ms(random_between(&site->random, 0, 200));
}

/* ---- rest ---- */

void calm(struct site *site)
{
    char name[SITE_TEXT_MAX];

    (void)site_ask(site, "DELETE", "/_sim/faults", "");
    site_say(site, "calm");
    for (int i = 0; i < SITE_PROCESSES_MAX; i++) {
        struct site_process *process = &site->processes[i];

        if (process->pid == 0)
            continue;
        (void)kill(process->pid, SIGCONT);
        (void)kill(process->pid, SIGTERM);
        site_reap(site, process);
    }
    strike_end(site); /* nobody stands still with a lock any more */
    for (int i = 0; i < site->source_count; i++) {
        const struct site_source *source = &site_sources[site->sources[i]];

        endpoint_name(source, name);
        (void)SITE_COMMAND(site, "patra", "resume", source->name);
        (void)SITE_COMMAND(site, "patra", "resume", name);
        if (source->has_update)
            (void)SITE_COMMAND(site, "patra", "resume", "generic-details/record");
        REQUIRE(site_apply(site, source, 0), "apply");
    }
    /* An hour passes: leases of the dead run out, and so do their slots at the upstream. By no
     * instant of a row: those may have been written while the clock was ahead. */
    sql_run(site->dsn, site->is_postgres
                           ? "UPDATE ing_task SET leased_until = to_timestamp(0)"
                             " WHERE leased_until IS NOT NULL"
                           : "UPDATE ing_task SET leased_until = 0 WHERE leased_until IS NOT NULL");
    sql_run(site->dsn, site->is_postgres ? "UPDATE ing_rate_permit SET expires_at = now()"
                                         : "UPDATE ing_rate_permit SET expires_at = 0");
}
