/* fill: a database of a bench's own, filled with many rows by SQL.
 *
 * Filling takes longer than measuring. PATRA_BENCH_STORE names a database that is kept: a first run
 * fills it, and every later one only measures.
 */
#ifndef PATRA_BENCH_FILL_H
#define PATRA_BENCH_FILL_H

#include <stdbool.h>
#include <stdint.h>

struct fill {
    bool is_sqlite;
    bool is_kept; /* PATRA_BENCH_STORE */
    const char *dsn;
    void *session; /* of the database's own library */
    char folder[64];
    char path[96];
};

/* A SQLite file in /tmp, or a PostgreSQL. False: it is not installed, or `only` ("sqlite",
 * "postgres"; empty: both) or PATRA_BENCH_STORE names the other one. The store's schema is the
 * caller's part. */
bool fill_begin(struct fill *fill, bool is_sqlite, const char *only);
void fill_end(struct fill *fill);

/* Whether an earlier run has filled it; the statistics of the planner, and a mark for that. */
bool fill_is_done(struct fill *fill);
void fill_done(struct fill *fill);

/* Ends the program when it fails. */
void fill_run(struct fill *fill, const char *sql);

/* The same, with words: {series} is FROM the numbers n from 1 to `count`, {at X} an instant of
 * microseconds, {uuid} one of n, {bytes} the body of an event, {json} an empty object, {no}, {none}
 * no bytes. */
void fill_rows(struct fill *fill, const char *sql, int64_t count);

/* The statement that puts all events of the outbox into the stream. */
const char *fill_stream(const struct fill *fill);

#endif
