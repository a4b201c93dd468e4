/* sql: a look into a database from outside, by its own library. */
#ifndef PATRA_TEST_SUPPORT_SQL_H
#define PATRA_TEST_SUPPORT_SQL_H

#include <stdint.h>

#include "base/arena.h"

/* The first value of the first row as a number; ends the test when there is none. dsn as patra
 * takes it: a SQLite file or postgresql://. */
int64_t sql_number(const char *dsn, const char *sql);

/* All rows: values with '|' between them, '~' for NULL, a line end after each row. It lives in the
 * arena. */
struct str sql_rows(struct arena *arena, const char *dsn, const char *sql);

/* How many endpoints have another number of records than is kept for them. */
#define SQL_WRONG_TALLIES                                                                      \
    "SELECT count(*) FROM ing_record_endpoint AS e WHERE"                                      \
    " (SELECT coalesce(sum(t.live), 0) FROM ing_record_tally AS t WHERE t.endpoint_id = e.id)" \
    " <> (SELECT count(*) FROM ing_record_state AS r WHERE r.endpoint_id = e.id"               \
    "   AND NOT r.deleted) OR"                                                                 \
    " (SELECT coalesce(sum(t.deleted), 0) FROM ing_record_tally AS t"                          \
    "   WHERE t.endpoint_id = e.id)"                                                           \
    " <> (SELECT count(*) FROM ing_record_state AS r WHERE r.endpoint_id = e.id AND r.deleted)"

/* A statement that gives nothing back; ends the test when it fails. */
void sql_run(const char *dsn, const char *sql);

/* Keeps all others from writing for so long; a SQLite file's only. Where somebody else does that
 * already, it leaves it at that. */
void sql_hold(const char *path, int64_t ms);

#endif
