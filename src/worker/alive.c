/* The file is overwritten in place: a line of fixed length, so that nobody reads half of it. It is
 * not brought to disk, for it means nothing after a crash, and a slow disk must not hold the
 * service up. */
#include "worker/alive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/instant.h"
#include "cli/file.h"
#include "data/date.h"

#define BEAT_US (5 * US_PER_SECOND)

enum { FILE_BYTES_MAX = 64 };

static bool write_time(const char *path, int64_t now_us, struct error *err)
{
    char line[INSTANT_TEXT_MAX + 1];
    size_t len = instant_format(instant_floor(now_us, US_PER_SECOND), line);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    bool ok;

    line[len++] = '\n';
    ok = fd >= 0 && pwrite(fd, line, len, 0) == (ssize_t)len;
    if (!ok)
        (void)error_set(err, ERROR_REQUEST, "alive.write", "write %.500s: %s", path,
                        strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return ok;
}

/* Who reads the file knows this host's calendar, and not the store's time. */
static int64_t calendar_us(struct clock *clock)
{
    struct clock_host host;

    clock_host(clock, &host);
    return host.calendar_us;
}

bool alive_begin(struct alive *alive, struct clock *clock, struct error *err)
{
    alive->next_us = clock_monotonic_us(clock) + BEAT_US;
    return alive->path == NULL || write_time(alive->path, calendar_us(clock), err);
}

void alive_beat(struct alive *alive, struct clock *clock, struct log *log)
{
    const int64_t monotonic_us = clock_monotonic_us(clock);
    struct error err;
    bool ok;

    if (alive->path == NULL || monotonic_us < alive->next_us)
        return;
    alive->next_us = monotonic_us + BEAT_US;
    ok = write_time(alive->path, calendar_us(clock), &err);
    if (!ok && !alive->is_failing)
        log_event(log, LOG_WARN, "alive file not written", LOG_STR("code", str_of(err.code)),
                  LOG_STR("error", str_of(err.text)));
    alive->is_failing = !ok;
}

void alive_end(struct alive *alive)
{
    if (alive->path != NULL)
        (void)unlink(alive->path);
}

bool alive_read(struct arena *arena, const char *path, int64_t *at_us, struct error *err)
{
    struct date date;
    struct error reason;
    struct str text;

    if (!file_read(arena, path, FILE_BYTES_MAX, &text, &reason) ||
        !date_parse(date_format_find(STR("auto")), str_trim(text), &date, &reason))
        return error_set(err, ERROR_TRANSIENT, "alive.none", "%s", reason.text);
    *at_us = date.at_us;
    return true;
}
