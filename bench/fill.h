/* fill: a database of a bench's own, filled with many rows by SQL. */
#ifndef PATRA_BENCH_FILL_H
#define PATRA_BENCH_FILL_H

#include <stdbool.h>
#include <stdint.h>

struct fill {
    bool is_sqlite;
    const char *dsn;
    void *session; /* of the database's own library */
    char folder[64];
    char path[96];
};

/* A SQLite file in /tmp, or a PostgreSQL. False: it is not installed, or `only` ("sqlite",
 * "postgres"; empty: both) names the other one. The store's schema is the caller's part. */
bool fill_begin(struct fill *fill, bool is_sqlite, const char *only);
void fill_end(struct fill *fill);

/* Ends the program when it fails. */
void fill_run(struct fill *fill, const char *sql);

/* The same, with words: {series} is FROM the numbers n from 1 to `count`, {at X} an instant of
 * microseconds, {uuid} one of n, {bytes} the body of an event, {json} an empty object, {no}. */
void fill_rows(struct fill *fill, const char *sql, int64_t count);

#endif
