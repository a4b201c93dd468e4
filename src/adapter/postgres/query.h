/* query: a prepared statement on a PostgreSQL connection, once.
 *
 *      struct query q;
 *
 *      query_init(&q, postgres, FIND);
 *      set_text(&q, FIND_TYPE, type);              // $1; an enum names the places, from 1
 *      return read_pauses(&q.rows, arena, list, err);      // adapter/sql/rows.h
 *
 * Values travel in binary both ways, so instants, reals and bytes arrive exactly. The first row
 * that is asked for sends the statement. The first failure is remembered and told by the end,
 * rows_finish() or query_run(), which must always come. A text is prepared once per connection and
 * known by its address, so it must be a constant or live as long as the session; every use of it
 * must set every place, by the same functions.
 */
#ifndef PATRA_ADAPTER_POSTGRES_QUERY_H
#define PATRA_ADAPTER_POSTGRES_QUERY_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "adapter/sql/rows.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "core/codes.h"
#include "core/window.h"
#include "port/store_lineage.h"

struct postgres_store;

enum { QUERY_PLACES_MAX = 48, QUERY_UNSENT = -1 };

struct query {
    struct rows rows; /* first: what it answers, and how that is read */
    struct postgres_store *owner;
    const char *sql;
    int count;       /* the highest place set */
    uint64_t places; /* a bit for each that is set */
    Oid types[QUERY_PLACES_MAX];
    const char *values[QUERY_PLACES_MAX]; /* NULL: NULL */
    int lengths[QUERY_PLACES_MAX];
    int formats[QUERY_PLACES_MAX];
    char numbers[QUERY_PLACES_MAX][8]; /* in network order */
    PGresult *result;
    int row;       /* the current one; before the first: */
    int bad_text;  /* the place whose text no store can keep; 0 = none */
    char uuid[37]; /* the one viewed last */
};

void query_init(struct query *q, struct postgres_store *owner, const char *sql);

void set_i64(struct query *q, int place, int64_t value);
void set_time(struct query *q, int place, int64_t value_us);
void set_time_opt(struct query *q, int place, bool is_set, int64_t value_us);
void set_i64_opt(struct query *q, int place, bool is_set, int64_t value);
void set_bool(struct query *q, int place, bool value);
void set_text(struct query *q, int place, struct str value);
void set_text_opt(struct query *q, int place, bool is_set, struct str value);
void set_json(struct query *q, int place, struct str value); /* for jsonb */
void set_bytes(struct query *q, int place, struct str value);
void set_bytes_opt(struct query *q, int place, bool is_set, struct str value);
void set_code(struct query *q, int place, const struct code_table *table, int value);
void set_code_opt(struct query *q, int place, bool is_set, const struct code_table *table,
                  int value);
void set_id(struct query *q, int place, int64_t id); /* 0 is NULL */
/* Two places; both NULL when the window is not valid. */
void set_window(struct query *q, int place, struct window window);
void set_lineage(struct query *q, int place, const struct lineage *lineage); /* six places */

/* A value as text, its type taken from where it stands: for columns known by description only. */
void set_written(struct query *q, int place, bool is_set, struct str value);

/* A value in binary form of any type; NULL: NULL. The memory must live until query_finish(). */
void query_set(struct query *q, int place, Oid type, const char *value, size_t length);

/* Arrays, for unnest(): a column of many rows in one place. */
enum array_type {
    ARRAY_I64,
    ARRAY_TIME,
    ARRAY_TEXT,
    ARRAY_BYTES,
    ARRAY_BOOL,
    ARRAY_JSON,
};

struct array {
    enum array_type type;
    struct buf bytes;
    int64_t count;
    bool bad_text;
};

void array_init(struct array *array, struct arena *arena, enum array_type type);
void array_add_null(struct array *array);
void array_add_i64(struct array *array, int64_t value); /* also times */
void array_add_bool(struct array *array, bool value);
void array_add_text(struct array *array, struct str value); /* also bytes and JSON */
void array_add_id(struct array *array, int64_t id);         /* 0 is NULL */
void array_add_i64_opt(struct array *array, bool is_set, int64_t value);
void array_add_code(struct array *array, const struct code_table *table, int value);
void set_array(struct query *q, int place, struct array *array);

bool query_is_ready(const struct query *q); /* all places hold what can be sent */
bool query_prepare(struct query *q, struct error *err) MUST_CHECK; /* the text; nothing is sent */
bool query_finish(struct query *q, struct error *err) MUST_CHECK;
bool query_run(struct query *q, int64_t *changes, struct error *err) MUST_CHECK;

#endif
