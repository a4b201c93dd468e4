/* What must hold of the stream, counted by SQL. */
#include "stream_sql.h"

#include <stdio.h>
#include <string.h>

#include "sql.h"
#include "test.h"

/* lane, pos, id */
#define POSTGRES_STREAM                                                                  \
    "(SELECT s.lane, s.first_pos + e.n - 1 AS pos, e.id FROM ing_stream AS s CROSS JOIN" \
    " LATERAL unnest(s.outbox_ids) WITH ORDINALITY AS e (id, n))"
#define SQLITE_STREAM "(SELECT lane, pos, outbox_id AS id FROM ing_stream)"

static const struct {
    const char *label;
    const char *sql; /* counts what must not be; %s: the stream */
} RULES[] = {
    { "events that are not in the stream",
      "SELECT count(*) FROM (SELECT id FROM ing_outbox EXCEPT SELECT id FROM %s AS s) AS t" },
    { "events that are there twice",
      "SELECT count(*) FROM (SELECT id FROM %s AS s GROUP BY id HAVING count(*) > 1) AS t" },
    { "what is no event",
      "SELECT count(*) FROM (SELECT id FROM %s AS s EXCEPT SELECT id FROM ing_outbox) AS t" },
    { "events in another lane",
      "SELECT count(*) FROM %s AS s JOIN ing_outbox AS o ON o.id = s.id WHERE o.lane <> s.lane" },
    { "lanes with gaps in their positions, or positions twice",
      "SELECT count(*) FROM (SELECT lane FROM %s AS s GROUP BY lane HAVING min(pos) <> 1"
      " OR max(pos) <> count(*) OR count(DISTINCT pos) <> count(*)) AS t" },
    { "lanes that do not know their last position",
      "SELECT count(*) FROM ing_stream_lane AS l WHERE l.last_pos <>"
      " (SELECT count(*) FROM %s AS s WHERE s.lane = l.lane)" },
    { "events of a record out of order",
      "SELECT count(*) FROM (SELECT o.version - coalesce(lag(o.version) OVER (PARTITION BY"
      " o.record_id ORDER BY s.pos), 0) AS step FROM %s AS s JOIN ing_outbox AS o ON o.id = s.id)"
      " AS t WHERE step <> 1" },
};

void stream_sql_check(const char *dsn)
{
    const bool is_postgres = strncmp(dsn, "postgres", 8) == 0;
    char sql[1024];

    for (size_t i = 0; i < ARRAY_LEN(RULES); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(sql, sizeof(sql), RULES[i].sql,
                       is_postgres ? POSTGRES_STREAM : SQLITE_STREAM);
#pragma GCC diagnostic pop
        CHECK_EQ(sql_number(dsn, sql), 0, RULES[i].label);
    }
    CHECK_EQ(sql_number(dsn, "SELECT cursor_id - horizon_id FROM ing_stream_head"), 0,
             "nothing is open");
}
