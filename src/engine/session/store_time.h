/* store_time: the time that all processes on a store share, and whether it can be believed.
 *
 *      store_time(store, clock, &time, err)    before anything is written by it: plans, leases,
 *                                              sources
 *      store_time_in_force(store, clock, ...)  before a person puts something in force from now on
 *      store_time_look(store, clock, ...)      to show it
 *      store_time_of_rates(store, clock, ...)  for rates and slots, also within a transaction
 *
 * On PostgreSQL it is the server's time. On SQLite it is the host's. The `clock` follows it from
 * then on, so that whoever only reads can ask the clock. The store keeps a mark of the latest time
 * it has seen, written every CLOCK_MARK_US of use, and each reading is compared with it
 * (core/clock_jump.h):
 *
 *      steady   the mark moves on. After a small step back the time is slow, and never before the
 *               mark: hence store_time_in_force, which writes it at once
 *      ahead    the host's calendar was set ahead. The time goes on from the mark; a person may
 *               say that the calendar is right (patra clock accept)
 *      behind   L1 "store.clock": nothing is begun until the clock is right again, or a person
 *               says that it is
 *
 * Outside of transactions only.
 *
 * Rates must not go by a calendar: set ahead, it would fill every bucket, and two processes that
 * read different ones would fill it in turn. Their time is that of the mark, and goes on from there
 * as the host is up, so that it is the same for all processes at any moment. Whoever writes a mark
 * that is not on this line shifts rates and slots by the difference in the same transaction.
 */
#ifndef PATRA_ENGINE_SESSION_STORE_TIME_H
#define PATRA_ENGINE_SESSION_STORE_TIME_H

#include "core/clock_jump.h"
#include "port/clock.h"
#include "port/store.h"
#include "port/store_mark.h"

struct store_time {
    int64_t now_us;
    enum clock_jump jump;
    int64_t by_us;
    int64_t seen_us;      /* the latest time before this; 0: none */
    int64_t calendar_us;  /* of the host, or the server */
    struct store_mark at; /* to be saved, as a mark of now */
    bool has_line;        /* the mark is of this start of this host */
    int64_t off_line_us;  /* how far now_us is after the mark and the time since then */
};

bool store_time_look(struct store *store, struct clock *clock, struct store_time *time,
                     struct error *err) MUST_CHECK;

/* Notes it in the store. */
bool store_time(struct store *store, struct clock *clock, struct store_time *time,
                struct error *err) MUST_CHECK;

/* Notes it to the instant. */
bool store_time_in_force(struct store *store, struct clock *clock, struct store_time *time,
                         struct error *err) MUST_CHECK;

bool store_time_of_rates(struct store *store, struct clock *clock, int64_t *now_us,
                         struct error *err) MUST_CHECK;

/* Makes the error of a time that is behind. Returns false. */
bool store_time_refuse(const struct store_time *time, struct error *err);

#endif
