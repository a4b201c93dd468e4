/* The sources of a site, its simulator, and the processes that it starts and reaps. */
#include "site.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/instant.h"
#include "test.h"

#define SIM_SOURCE(name) "test/data/sim-sources/" name ".yaml"

const struct site_source site_sources[SITE_SOURCES_MAX] = {
    { .name = "generic-page1",
      .file = SIM_SOURCE("generic-page1"),
      .endpoint = "records",
      .protocol = "generic",
      .path = "/generic/page1",
      .page_size = "endpoints.records.page.size",
      .field = "endpoints.records.fields.title=$.title",
      .field_other = "endpoints.records.fields.title=$.type",
      .not_faults = " " },
    { .name = "generic-token",
      .file = SIM_SOURCE("generic-token"),
      .endpoint = "records",
      .protocol = "generic",
      .path = "/generic/token",
      .page_size = "endpoints.records.page.size",
      .field = "endpoints.records.fields.title=$.title",
      .field_other = "endpoints.records.fields.title=$.type",
      .not_faults = " " },
    { .name = "generic-next",
      .file = SIM_SOURCE("generic-next"),
      .endpoint = "records",
      .protocol = "generic",
      .path = "/generic/next",
      .page_size = "endpoints.records.page.size",
      .field = "endpoints.records.fields.title=$.title",
      .field_other = "endpoints.records.fields.title=$.type",
      .not_faults = " " },
    { .name = "generic-time",
      .file = SIM_SOURCE("generic-time"),
      .endpoint = "records",
      .protocol = "generic",
      .path = "/generic/time",
      .page_size = "endpoints.records.page.size",
      .field = "endpoints.records.fields.title=$.title",
      .field_other = "endpoints.records.fields.title=$.type",
      .not_faults = " shift_page record_no_date empty_page " },
    { .name = "generic-details",
      .file = SIM_SOURCE("generic-details"),
      .endpoint = "list",
      .protocol = "generic",
      .path = "/generic/offset",
      .page_size = "endpoints.list.page.size",
      .field = "endpoints.record.fields.title=$.title",
      .field_other = "endpoints.record.fields.title=$.type",
      .not_faults = " record_no_date ",
      .has_update = true },
    { .name = "oai",
      .file = SIM_SOURCE("oai"),
      .endpoint = "records",
      .protocol = "oai",
      .path = "/oai/",
      .field = "endpoints.records.fields.title=o:metadata//*[local-name()='title']",
      .field_other = "endpoints.records.fields.title=o:metadata//*[local-name()='creator']",
      .more = { "endpoints.records.path=/oai/size10" },
      .not_faults = " shift_page " },
    { .name = "crossref",
      .file = "sources/crossref.yaml",
      .endpoint = "works",
      .protocol = "crossref",
      .base = "/crossref",
      .path = "/crossref/",
      .page_size = "endpoints.works.page.size",
      .field = "endpoints.works.fields.title.path=$.title[0]",
      .field_other = "endpoints.works.fields.title.path=$.type",
      .more = { "endpoints.works.window.max=1d", "endpoints.works.window.lookback=1d",
                "rate.provider_limit=40" },
      .not_faults = " " },
    { .name = "generic-single",
      .file = SIM_SOURCE("generic-single"),
      .endpoint = "records",
      .protocol = "generic",
      .path = "/generic/single",
      .field = "endpoints.records.fields.title=$.title",
      .field_other = "endpoints.records.fields.title=$.type",
      .not_faults = " " },
};

void site_say(struct site *site, const char *format, ...)
{
    FILE *file = fopen(site->log, "a");
    struct timespec now;
    va_list args;

    if (file == NULL)
        return;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    va_start(args, format);
    (void)fprintf(file, "---- %02d:%02d.%03d ", (int)(now.tv_sec / 60 % 60), (int)(now.tv_sec % 60),
                  (int)(now.tv_nsec / 1000000));
    (void)vfprintf(file, format, args);
    (void)fputc('\n', file);
    va_end(args);
    (void)fclose(file);
}

/* ---- the simulator ---- */

static int connect_to(const struct site *site)
{
    const char *colon = strrchr(site->sim.base, ':');
    struct sockaddr_in address = { .sin_family = AF_INET };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_port = htons((uint16_t)atoi(colon + 1));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0,
            "patra-sim is there");
    return fd;
}

const char *site_ask(struct site *site, const char *method, const char *path, const char *body)
{
    static char answer[1 << 20];
    char request[2048];
    const int len = snprintf(request, sizeof(request),
                             "%s %s HTTP/1.1\r\nHost: sim\r\nConnection: close\r\n"
                             "Content-Length: %zu\r\n\r\n%s",
                             method, path, strlen(body), body);
    const int fd = connect_to(site);
    size_t got = 0;
    ssize_t more;

    REQUIRE(write(fd, request, (size_t)len) == len, "ask patra-sim");
    while ((more = read(fd, answer + got, sizeof(answer) - 1 - got)) > 0)
        got += (size_t)more;
    answer[got] = '\0';
    (void)close(fd);
    REQUIRE(strncmp(answer, "HTTP/1.1 200", 12) == 0, answer);
    return strstr(answer, "\r\n\r\n") + 4;
}

void site_advance(struct site *site, int minutes)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/_sim/clock?advance=%dm", minutes);
    (void)site_ask(site, "POST", path, "");
    site->now_us += minutes * INT64_C(60000000);
    site_say(site, "the clock goes on by %d minutes", minutes);
}

void site_to(const struct site *site, char text[32])
{
    instant_format(site->now_us - INT64_C(60000000), text);
}

/* ---- processes ---- */

void site_sleep_ms(int64_t ms)
{
    const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

    (void)nanosleep(&time, NULL);
}

int64_t site_now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* It is replaced as a whole: processes read it at any moment. */
void site_set_clock(struct site *site, int64_t seconds)
{
    char next[SITE_PATH_MAX + 8];
    FILE *file;

    (void)snprintf(next, sizeof(next), "%s.next", site->clock_file);
    file = fopen(next, "w");
    REQUIRE(file != NULL && fprintf(file, "%lld", (long long)seconds) > 0 && fclose(file) == 0 &&
                rename(next, site->clock_file) == 0,
            "the clock");
}

static void become(const struct site *site, int64_t disk_bytes, const char *const *argv,
                   pid_t parent)
{
    const char *build = getenv("PATRA_BUILD");
    const int fd = open(site->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    const struct rlimit limit = { (rlim_t)disk_bytes, (rlim_t)disk_bytes };
    char program[4096];

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)snprintf(program, sizeof(program), "%s/%s", build != NULL ? build : "build", argv[0]);
    if (setenv("LD_PRELOAD", SHIFTED_CLOCK, 1) != 0 ||
        setenv("PATRA_TEST_SHIFT", site->clock_file, 1) != 0 || getppid() != parent || fd < 0 ||
        dup2(fd, 1) < 0 || dup2(fd, 2) < 0 ||
        (disk_bytes > 0 &&
         (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0)))
        _exit(127);
    (void)execv(program, (char *const *)(uintptr_t)argv);
    _exit(127);
}

static pid_t spawn(struct site *site, int64_t disk_bytes, const char *const *argv)
{
    const pid_t parent = getpid();
    char line[1024] = "";
    pid_t pid;

    for (size_t i = 0; argv[i] != NULL; i++) {
        const size_t len = strlen(line);

        (void)snprintf(line + len, sizeof(line) - len, " %s", argv[i]);
    }
    pid = fork();
    REQUIRE(pid >= 0, "fork");
    if (pid == 0)
        become(site, disk_bytes, argv, parent);
    site_say(site, "%d:%s", (int)pid, line);
    return pid;
}

struct site_process *site_spawn(struct site *site, int64_t disk_bytes, const char *const *argv)
{
    for (int i = 0; i < SITE_PROCESSES_MAX; i++) {
        struct site_process *process = &site->processes[i];

        if (process->pid != 0)
            continue;
        *process = (struct site_process){ .pid = spawn(site, disk_bytes, argv),
                                          .is_short = disk_bytes > 0 };
        return process;
    }
    return NULL;
}

struct site_process *site_any_process(struct site *site)
{
    struct site_process *some[SITE_PROCESSES_MAX];
    int count = 0;

    for (int i = 0; i < SITE_PROCESSES_MAX; i++) {
        if (site->processes[i].pid != 0)
            some[count++] = &site->processes[i];
    }
    return count == 0 ? NULL : some[random_between(&site->random, 0, count)];
}

/* 0 to 4 and 130 are exit codes that commands may have; all else is a crash. */
static void judge_end(struct site *site, pid_t pid, int status, bool is_killed)
{
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    char label[64];

    site_say(site, "%d ended with %d", (int)pid, code);
    if ((code >= 0 && code <= 4) || code == 130 || (is_killed && code == 128 + SIGKILL) ||
        code == 128 + SIGTERM) /* before it could listen */
        return;
    (void)snprintf(label, sizeof(label), "process %d ended with %d", (int)pid, code);
    CHECK(false, label);
}

void site_reap(struct site *site, struct site_process *process)
{
    int status;

    while (waitpid(process->pid, &status, 0) < 0)
        REQUIRE(errno == EINTR, "wait");
    judge_end(site, process->pid, status, process->is_killed);
    *process = (struct site_process){ 0 };
}

void site_reap_ended(struct site *site)
{
    for (int i = 0; i < SITE_PROCESSES_MAX; i++) {
        struct site_process *process = &site->processes[i];
        int status;

        if (process->pid == 0 || waitpid(process->pid, &status, WNOHANG) != process->pid)
            continue;
        judge_end(site, process->pid, status, process->is_killed);
        *process = (struct site_process){ 0 };
    }
}

int site_command(struct site *site, const char *const *argv)
{
    const pid_t pid = spawn(site, 0, argv);
    int status;

    while (waitpid(pid, &status, 0) < 0)
        REQUIRE(errno == EINTR, "wait");
    judge_end(site, pid, status, false);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- sources ---- */

const struct site_source *site_any_source(struct site *site)
{
    return &site_sources[site->sources[random_between(&site->random, 0, site->source_count)]];
}

enum { SETTINGS_MAX = 24 };

struct settings {
    const char *argv[2 * SETTINGS_MAX + 8];
    size_t count;
};

static void set(struct settings *settings, const char *text)
{
    REQUIRE(settings->count + 4 < ARRAY_LEN(settings->argv), "settings");
    settings->argv[settings->count++] = "--set";
    settings->argv[settings->count++] = text;
}

bool site_apply(struct site *site, const struct site_source *source, int variant)
{
    static const int sizes[] = { 10, 5, 25 };
    struct settings settings = { { "patra", "source", "apply", source->file }, 4 };
    char base[SITE_TEXT_MAX], rate[64], size[128];

    (void)snprintf(base, sizeof(base), "http.base_url=%s%s", site->sim.base,
                   source->base != NULL ? source->base : "");
    (void)snprintf(rate, sizeof(rate), "rate.per_second=%d",
                   variant % 2 == 0 ? SITE_RATE : SITE_RATE / 2);
    (void)snprintf(size, sizeof(size), "%s=%d", source->page_size, sizes[variant % 3]);
    set(&settings, base);
    set(&settings, rate);
    set(&settings, "rate.burst=10");
    set(&settings, site->is_narrow ? "rate.concurrency=3" : "rate.concurrency=64");
    set(&settings, site->is_narrow ? "rate.adaptive=true" : "rate.adaptive=false");
    if (site->is_narrow)
        set(&settings, "rate.min=10");
    set(&settings, "http.allow_plain_http=true");
    set(&settings, "http.read_timeout=2s");
    set(&settings, "http.body_max=4MiB");
    set(&settings, "http.inflated_max=8MiB");
    set(&settings, "retry.min_delay=1ms");
    set(&settings, "retry.max_delay=20ms");
    set(&settings, "window.start=" SITE_START);
    set(&settings, "window.lookback=1d");
    set(&settings, site->has_long_slices ? "window.max=1d" : "window.max=6h");
    set(&settings, "operations.harvest.enabled=false");
    if (source->page_size != NULL)
        set(&settings, size);
    for (size_t i = 0; i < ARRAY_LEN(source->more) && source->more[i] != NULL; i++)
        set(&settings, source->more[i]);
    set(&settings, variant % 5 == 4 ? source->field_other : source->field);
    settings.argv[settings.count++] = "--store";
    settings.argv[settings.count++] = site->dsn;
    return site_command(site, settings.argv) == 0;
}

/* ---- begin and end ---- */

const char *site_folder(void)
{
    const char *asked = getenv("PATRA_TORTURE_FOLDER");

    return asked != NULL ? asked : test_folder();
}

static void choose_sources(struct site *site)
{
    const int wanted = (int)random_between(&site->random, 3, 6);

    while (site->source_count < wanted) {
        const int source = (int)random_between(&site->random, 0, SITE_SOURCES_MAX);
        bool is_there = false;

        for (int i = 0; i < site->source_count; i++)
            is_there = is_there || site->sources[i] == source;
        if (!is_there)
            site->sources[site->source_count++] = source;
    }
}

/* The audit checks the rate only. It does not check Retry-After: a process that is killed, stopped
 * or locked out of the store after it received one cannot make the others wait. Nor does it check
 * concurrency: leases here are shorter than the silence a source is allowed, so when a process
 * loses its task, another sends its request again while the simulator still counts the first.
 */
static void start_sim(struct site *site)
{
    char seed[32], limits[SITE_SOURCES_MAX + 1][128];
    const char *options[32] = {
        "--records", "3000",       "--seed", seed,          "--now",
        SITE_BEGIN,  "--late-ppm", "30000",  "--audit-off", "repeat,retry_after",
        NULL
    };
    size_t count = 10;

    (void)snprintf(seed, sizeof(seed), "%u", (unsigned)(random_u64(&site->random) >> 40));
    for (int i = 0; i <= SITE_SOURCES_MAX; i++) {
        const char *path = i < SITE_SOURCES_MAX ? site_sources[i].path : "/generic/records";

        (void)snprintf(limits[i], sizeof(limits[i]), "path=%s rate=%d burst=%d slack=100ms", path,
                       SITE_RATE, SITE_BURST);
        options[count++] = "--limit";
        options[count++] = limits[i];
    }
    REQUIRE(sim_start(&site->sim, options), "patra-sim starts");
}

void site_begin(struct site *site, const char *dsn, uint64_t seed)
{
    const struct civil begin = { .year = 2026, .month = 1, .day = 10 };

    *site = (struct site){
        .dsn = dsn, .seed = seed, .random = { seed }, .now_us = instant_from_civil(begin)
    };
    site->is_postgres = strncmp(dsn, "postgres", 8) == 0;
    (void)snprintf(site->log, sizeof(site->log), "%s/%s%llu.log", site_folder(),
                   site->is_postgres ? "postgres" : "sqlite", (unsigned long long)seed);
    REQUIRE(setenv("PATRA_CONTACT", "somebody@example.org", 1) == 0, "environment");
    (void)snprintf(site->backup, sizeof(site->backup), "%s/backup.db", site_folder());
    (void)snprintf(site->clock_file, sizeof(site->clock_file), "%s/clock", site_folder());
    site_set_clock(site, 0);
    choose_sources(site);
    site->has_long_slices = random_chance(&site->random, 60);
    site->is_narrow = random_chance(&site->random, 40);
    start_sim(site);
    REQUIRE(SITE_COMMAND(site, "patra", "init") == 0, "init");
    for (int i = 0; i < site->source_count; i++)
        REQUIRE(site_apply(site, &site_sources[site->sources[i]], 0), "apply");
}

void site_end(struct site *site)
{
    sim_stop(&site->sim);
}
