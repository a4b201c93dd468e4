/* values: the values of a statement in the forms that libpq sends. */
#ifndef PATRA_ADAPTER_POSTGRES_VALUES_H
#define PATRA_ADAPTER_POSTGRES_VALUES_H

#include <libpq-fe.h>

#include "adapter/sql/statement.h"
#include "base/arena.h"

/* PostgreSQL counts its instants from 2000-01-01. Its smallest and greatest number are its
 * infinities, and mean the same in patra: before and after all time. */
#define POSTGRES_EPOCH_US INT64_C(946684800000000)

static inline int64_t postgres_time(int64_t at_us)
{
    if (at_us == INT64_MAX || at_us < INT64_MIN + POSTGRES_EPOCH_US)
        return at_us > 0 ? INT64_MAX : INT64_MIN;
    return at_us - POSTGRES_EPOCH_US;
}

static inline int64_t postgres_time_back(int64_t time)
{
    return time == INT64_MAX || time == INT64_MIN ? time : time + POSTGRES_EPOCH_US;
}

/* From pg_type; they never change. */
enum {
    OID_BOOL = 16,
    OID_BYTEA = 17,
    OID_INT8 = 20,
    OID_TEXT = 25,
    OID_FLOAT8 = 701,
    OID_TIMESTAMPTZ = 1184,
    OID_NUMERIC = 1700,
    OID_UUID = 2950,
    OID_JSONB = 3802,
};

struct values { /* the arguments of PQexecPrepared() */
    int count;
    Oid types[STATEMENT_NAMES_MAX];
    const char *values[STATEMENT_NAMES_MAX]; /* NULL: NULL */
    int lengths[STATEMENT_NAMES_MAX];
    int formats[STATEMENT_NAMES_MAX];
    char numbers[STATEMENT_NAMES_MAX][8]; /* in network order */
};

/* The bound values, then each column as an array. Texts in binary are borrowed; arrays and other
 * texts are built in the arena. */
bool values_of(struct values *out, struct arena *arena, const struct statement *st,
               struct error *err) MUST_CHECK;

#endif
