/* The calendar of a host that has been up for a known time. */
#include "adapter/system/steady_clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "adapter/system/system.h"
#include "core/clock_jump.h"

static const char BOOT_FILE[] = "/proc/sys/kernel/random/boot_id";

static int64_t read_clock(clockid_t id)
{
    struct timespec at;

    if (clock_gettime(id, &at) != 0)
        return 0;
    return at.tv_sec * US_PER_SECOND + at.tv_nsec / 1000;
}

static void host_of(struct clock *clock, struct clock_host *host)
{
    const struct steady_clock *steady = (const struct steady_clock *)clock;

    memcpy(host->boot, steady->boot, sizeof(host->boot));
    host->calendar_us = read_clock(CLOCK_REALTIME);
    host->up_us = read_clock(CLOCK_BOOTTIME);
}

static void follow(struct clock *clock, int64_t began_us)
{
    struct steady_clock *steady = (struct steady_clock *)clock;

    (void)pthread_mutex_lock(&steady->lock);
    steady->began_us = began_us;
    steady->has_server = false;
    steady->is_slow = true;
    steady->slow_us = read_clock(CLOCK_BOOTTIME);
    (void)pthread_mutex_unlock(&steady->lock);
}

static void follow_server(struct clock *clock, int64_t began_us)
{
    struct steady_clock *steady = (struct steady_clock *)clock;

    (void)pthread_mutex_lock(&steady->lock);
    steady->began_us = began_us;
    steady->has_server = true;
    (void)pthread_mutex_unlock(&steady->lock);
}

/* The calendar is behind, by no more than a step. */
static int64_t slow_down(struct steady_clock *steady, int64_t up_us, int64_t calendar_us)
{
    if (!steady->is_slow) {
        steady->is_slow = true;
        steady->slow_us = up_us;
    }
    return clock_slow_us(steady->began_us + steady->slow_us, up_us - steady->slow_us, calendar_us);
}

static int64_t judge(struct steady_clock *steady, int64_t up_us, int64_t calendar_us)
{
    const int64_t ahead_us = calendar_us - (steady->began_us + up_us);
    int64_t now_us = calendar_us;

    if (steady->has_server || ahead_us > CLOCK_STEP_MAX_US)
        return steady->began_us + up_us;
    if (ahead_us < 0 && ahead_us >= -CLOCK_STEP_MAX_US)
        now_us = slow_down(steady, up_us, calendar_us);
    if (now_us == calendar_us) {
        steady->began_us = calendar_us - up_us;
        steady->is_slow = false;
    }
    return now_us;
}

static int64_t now_us(struct clock *clock)
{
    struct steady_clock *steady = (struct steady_clock *)clock;
    int64_t now_us;

    (void)pthread_mutex_lock(&steady->lock);
    now_us = judge(steady, read_clock(CLOCK_BOOTTIME), read_clock(CLOCK_REALTIME));
    (void)pthread_mutex_unlock(&steady->lock);
    return now_us;
}

/* Without the file, which only Linux has, every start of patra is one of the host: a jump is
 * noticed while patra runs, and not between two runs. */
static void read_boot(char boot[CLOCK_BOOT_MAX])
{
    FILE *file = fopen(BOOT_FILE, "re");
    size_t len = 0;

    if (file != NULL) {
        len = fread(boot, 1, CLOCK_BOOT_MAX - 1, file);
        (void)fclose(file);
    }
    while (len > 0 && boot[len - 1] == '\n')
        len--;
    boot[len] = '\0';
}

void steady_clock_init(struct steady_clock *steady)
{
    steady->clock = system_clock();
    steady->clock.now_us = now_us;
    steady->clock.host = host_of;
    steady->clock.follow = follow;
    steady->clock.follow_server = follow_server;
    read_boot(steady->boot);
    (void)pthread_mutex_init(&steady->lock, NULL);
    steady->began_us = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_BOOTTIME);
}
