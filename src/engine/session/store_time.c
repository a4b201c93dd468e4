/* The time of a store, compared with the latest that it has seen. */
#include "engine/session/store_time.h"

#include <string.h>

#define CLOCK_MARK_US (10 * US_PER_SECOND)
/* A calendar is not exactly as fast as the host is up; that much is no step. */
#define CLOCK_DRIFT_US (20 * US_PER_MS)

/* A mark, and what the host or the server says beside it. */
struct reading {
    struct store_mark mark;
    struct clock_host host;
    int64_t up_us; /* of this host, also where the rest is a server's */
    bool has_server;
    bool has_line;
};

static bool read_both(struct store *store, struct clock *clock, struct reading *reading,
                      struct error *err)
{
    int64_t server_us = 0;

    if (!store_mark_load(store, &reading->mark, &reading->has_server, &server_us, err))
        return false;
    clock_host(clock, &reading->host);
    reading->up_us = reading->host.up_us;
    if (reading->has_server)
        reading->host = (struct clock_host){ .calendar_us = server_us };
    reading->has_line = reading->mark.is_there && reading->host.boot[0] != '\0' &&
                        strcmp(reading->host.boot, reading->mark.boot) == 0 &&
                        reading->host.up_us >= reading->mark.up_us;
    return true;
}

static int64_t line_us(const struct reading *reading)
{
    return reading->mark.seen_us + (reading->host.up_us - reading->mark.up_us);
}

/* A server that is behind is followed, too: this host's calendar knows no better. */
static void lead(struct clock *clock, const struct reading *reading,
                 const struct clock_finding *finding)
{
    const int64_t began_us = finding->now_us - reading->up_us;

    if (reading->has_server)
        clock_follow_server(clock, began_us);
    else if (finding->jump != CLOCK_BEHIND)
        clock_follow(clock, began_us);
}

bool store_time_look(struct store *store, struct clock *clock, struct store_time *time,
                     struct error *err)
{
    struct clock_finding finding;
    struct reading reading;

    if (!read_both(store, clock, &reading, err))
        return false;
    finding =
        clock_jump_find(&(struct clock_mark){ .is_there = reading.mark.is_there,
                                              .seen_us = reading.mark.seen_us,
                                              .is_same_boot = reading.has_line,
                                              .up_us = reading.mark.up_us },
                        &(struct clock_reading){ reading.host.calendar_us, reading.host.up_us });
    *time = (struct store_time){
        .now_us = finding.now_us,
        .jump = finding.jump,
        .by_us = finding.by_us,
        .seen_us = reading.mark.seen_us,
        .calendar_us = reading.host.calendar_us,
        .at = { .is_there = true, .seen_us = finding.now_us, .up_us = reading.host.up_us },
        .has_line = reading.has_line,
        .off_line_us = reading.has_line ? finding.now_us - line_us(&reading) : 0
    };
    memcpy(time->at.boot, reading.host.boot, sizeof(time->at.boot));
    lead(clock, &reading, &finding);
    return true;
}

bool store_time_of_rates(struct store *store, struct clock *clock, int64_t *now_us,
                         struct error *err)
{
    struct reading reading;

    if (!read_both(store, clock, &reading, err))
        return false;
    *now_us = reading.has_server ? reading.host.calendar_us
              : reading.has_line ? line_us(&reading)
                                 : clock_now_us(clock);
    return true;
}

bool store_time_refuse(const struct store_time *time, struct error *err)
{
    char seen[INSTANT_TEXT_MAX], now[INSTANT_TEXT_MAX];

    (void)instant_format(time->seen_us, seen);
    (void)instant_format(time->calendar_us, now);
    return error_set(err, ERROR_TRANSIENT, "store.clock",
                     "the clock says %s, and this store has seen %s: set the clock right, or, if "
                     "it is right now and was wrong then, run: patra clock accept",
                     now, seen);
}

/* Where the mark is still the one that was looked at: another process may have been first. */
static bool save_shifted(struct store *store, const struct store_time *time, struct error *err)
{
    struct store_mark mark;
    bool has_server;
    int64_t server_us;

    if (!store_begin(store, err))
        return false;
    if (store_mark_load(store, &mark, &has_server, &server_us, err) &&
        (mark.seen_us != time->seen_us || (store_mark_shift(store, time->off_line_us, err) &&
                                           store_mark_save(store, &time->at, false, err))) &&
        store_commit(store, err))
        return true;
    store_rollback(store);
    return error_wrap(err, "note the latest time");
}

static bool is_off_line(const struct store_time *time)
{
    return time->off_line_us > CLOCK_DRIFT_US || time->off_line_us < -CLOCK_DRIFT_US;
}

/* The mark is of another start of the host, and a little later than its calendar: without a mark of
 * this start the time would stand still until the calendar has caught up. */
static bool is_stuck(const struct store_time *time)
{
    return !time->has_line && time->at.boot[0] != '\0' && time->now_us > time->calendar_us;
}

static bool note(struct store *store, struct clock *clock, int64_t age_us, struct store_time *time,
                 struct error *err)
{
    assert(store->state == STORE_IDLE);
    if (!store_time_look(store, clock, time, err))
        return false;
    if (time->jump == CLOCK_BEHIND)
        return store_time_refuse(time, err);
    if (is_stuck(time))
        return store_mark_save(store, &time->at, true, err);
    if (time->now_us - time->seen_us < age_us)
        return true;
    return is_off_line(time) ? save_shifted(store, time, err)
                             : store_mark_save(store, &time->at, false, err);
}

bool store_time(struct store *store, struct clock *clock, struct store_time *time,
                struct error *err)
{
    return note(store, clock, CLOCK_MARK_US, time, err);
}

bool store_time_in_force(struct store *store, struct clock *clock, struct store_time *time,
                         struct error *err)
{
    return note(store, clock, 0, time, err);
}
