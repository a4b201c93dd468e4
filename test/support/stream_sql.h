/* stream_sql: what must hold of the stream, by SQL of the test's own. */
#ifndef PATRA_TEST_SUPPORT_STREAM_SQL_H
#define PATRA_TEST_SUPPORT_STREAM_SQL_H

/* Of a store at rest, with nothing left to publish: every event of the outbox is in the stream
 * once, in its own lane; the positions of each lane are 1, 2, 3 ...; the events of each record are
 * in the order of their versions, none left out. */
void stream_sql_check(const char *dsn);

#endif
