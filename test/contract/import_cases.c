/* Foreign outboxes over every store: once, in order, with nothing written but dispatch columns. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "import_rig.h"
#include "port/store_parked.h"
#include "port/store_subscription.h"
#include "sql.h"

/* What a service wrote, whatever is done with it. */
#define WRITTEN                                                                            \
    "SELECT ('x' || left(md5(string_agg(o::text, '|' ORDER BY id)), 15))::bit(60)::bigint" \
    " FROM (SELECT id, aggregate_type, aggregate_id, event_type, version, schema_version," \
    " payload, occurred_at, lock_token, locked_at FROM app_outbox) AS o"

static int64_t count_foreign(const struct import_rig *rig)
{
    return sql_number(rig->dsn, "SELECT count(*) FROM ing_outbox WHERE record_id IS NULL");
}

/* occurred_at is when a transaction began: here against the order of versions. */
TEST(rows_are_imported_once_in_the_order_of_versions_and_only_marked)
{
    struct import_rig rig;
    int64_t written;

    import_rig_begin(&rig, "outbox: app\ndatabase: env:APP\npage: 100\n");
    import_rig_sql(rig.db,
                   "INSERT INTO app_outbox (id, aggregate_type, aggregate_id, event_type, version,"
                   " schema_version, payload, occurred_at, lock_token)"
                   " SELECT gen_random_uuid(), 'video', 'v' || n % 37, 'VideoUpdated', n / 37 + 1,"
                   " 3, convert_to('{\"n\": ' || n || '}', 'UTF8'), '2026-01-01'::timestamptz - n *"
                   " interval '1 second', 'someone' FROM generate_series(0, 999) AS n");
    written = import_rig_number(rig.db, WRITTEN);
    CHECK_EQ(import_rig_drain(&rig), 1000, "all");
    import_rig_check(&rig, 1000);
    CHECK_EQ(import_rig_number(rig.db, WRITTEN), written, "the rows are as they were");
    CHECK_EQ(import_rig_number(rig.db, "SELECT sum(publish_attempts) FROM app_outbox"), 0,
             "no refusals");
    CHECK_EQ(import_rig_drain(&rig), 0, "and not again");
    CHECK_EQ(sql_number(rig.dsn, "SELECT count(*) FROM ing_outbox WHERE schema_version = 3 AND"
                                 " event_type = 'VideoUpdated' AND aggregate_type = 'video'"),
             1000, "what they say");
    import_rig_end(&rig);
}

/* ---- a crash between the two commits ---- */

static bool die(struct foreign_outbox *foreign, struct foreign_ids ids, struct error *err)
{
    (void)foreign;
    (void)ids;
    (void)err;
    (void)raise(SIGKILL);
    return false;
}

/* In a process of its own, which is killed when the events are committed and not marked. */
static void import_and_die(const struct import_rig *rig)
{
    const pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        struct import_rig own = *rig;
        struct foreign_ops ops;
        struct import_round round;
        struct error err;

        own.store = contract_open(rig->dsn);
        own.outbox = NULL;
        own.import = NULL;
        import_rig_reopen(&own, rig->foreign, "dying");
        ops = *own.outbox->ops;
        ops.mark = die;
        own.outbox->ops = &ops;
        (void)!import_round(own.import, NOW_US, &round, &err);
        _exit(1);
    }
    REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid, "a process");
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "was killed where it was meant");
}

TEST(a_process_that_is_killed_between_the_two_commits_repeats_nothing)
{
    struct import_round round;
    struct import_rig rig;

    import_rig_begin(&rig, NULL);
    for (int i = 1; i <= 20; i++)
        import_rig_add(rig.db, i % 2 == 0 ? "a" : "b", (i + 1) / 2);
    import_and_die(&rig);
    CHECK_EQ(count_foreign(&rig), 20, "they are imported");
    CHECK_EQ(import_rig_number(rig.db, "SELECT count(published_at) FROM app_outbox"), 0,
             "and not marked");
    import_rig_add(rig.db, "a", 11);
    CHECK(!import_rig_round(&rig).is_held, "the dead one has the lease");
    import_close(rig.import);
    rig.import = NULL;
    {
        struct error err = { 0 };

        REQUIRE_OK(import_open(&rig.import,
                               &(struct import_parts){ rig.store, rig.outbox, &rig.spec },
                               &(struct import_settings){ .owner = STR("next") }, &err),
                   err);
        REQUIRE_OK(import_round(rig.import, NOW_US + US_PER_HOUR, &round, &err), err);
    }
    CHECK(round.is_held, "until it ends");
    CHECK_EQ(round.repeated, 20, "only marked");
    CHECK_EQ(round.imported, 1, "but for the new one");
    import_rig_check(&rig, 21);
    import_rig_end(&rig);
}

/* ---- late commits ---- */

TEST(a_version_that_may_still_come_is_waited_for)
{
    struct import_round round;
    struct import_rig rig;
    PGconn *late;

    import_rig_begin(&rig, NULL);
    late = import_rig_connect(rig.foreign);
    import_rig_sql(late, "BEGIN");
    import_rig_add(late, "a", 1);
    import_rig_add(rig.db, "a", 2);
    import_rig_add(rig.db, "b", 1);
    round = import_rig_round(&rig);
    CHECK_EQ(round.imported, 1, "the other aggregate");
    for (int i = 0; i < 10; i++) {
        round = import_rig_round(&rig);
        CHECK_EQ(round.imported, 0, "as long as the writer is open");
        CHECK_EQ(round.gaps, 1, "it waits");
    }
    import_rig_sql(late, "COMMIT");
    CHECK_EQ(import_rig_drain(&rig), 2, "then both");
    import_rig_check(&rig, 3);
    PQfinish(late);
    import_rig_end(&rig);
}

/* Other writers come and go all the time. */
TEST(a_version_that_never_comes_is_known_by_who_was_writing)
{
    struct import_rig rig;
    PGconn *late, *other;

    import_rig_begin(&rig, NULL);
    late = import_rig_connect(rig.foreign);
    other = import_rig_connect(rig.foreign);
    import_rig_sql(late, "BEGIN");
    import_rig_add(late, "a", 1);
    import_rig_add(rig.db, "a", 2);
    CHECK_EQ(import_rig_round(&rig).gaps, 1, "waits");
    import_rig_sql(other, "BEGIN");
    import_rig_add(other, "z", 1);
    CHECK_EQ(import_rig_round(&rig).gaps, 1, "still");
    import_rig_sql(late, "ROLLBACK");
    CHECK_EQ(import_rig_round(&rig).imported, 1, "whoever else is writing");
    import_rig_sql(other, "COMMIT");
    CHECK_EQ(import_rig_drain(&rig), 1, "that one too");
    import_rig_check(&rig, 2);
    PQfinish(late);
    PQfinish(other);
    import_rig_end(&rig);
}

/* Nobody could know that it would come: its writer had not begun. */
static void check_late(const char *file, bool is_taken)
{
    struct import_rig rig;

    import_rig_begin(&rig, file);
    import_rig_add(rig.db, "a", 2);
    CHECK_EQ(import_rig_drain(&rig), 1, "nobody is writing");
    import_rig_add(rig.db, "a", 1);
    import_rig_add(rig.db, "a", 3);
    CHECK_EQ(import_rig_drain(&rig), is_taken ? 2 : 1, "the next one does not wait for it");
    CHECK_EQ(import_rig_number(rig.db, "SELECT count(*) FROM app_outbox WHERE version = 1 AND"
                                       " published_at IS NULL AND publish_attempts = 1"),
             is_taken ? 0 : 1, "refused");
    CHECK_EQ(sql_number(rig.dsn, "SELECT count(*) FROM ing_parked WHERE aggregate_id = 'a' AND"
                                 " last_error LIKE 'version 1 came after%'"),
             is_taken ? 0 : 1, "and people see it");
    import_rig_end(&rig);
}

TEST(a_version_that_comes_after_a_higher_one_is_refused_or_taken)
{
    check_late(NULL, false);
    check_late("outbox: app\ndatabase: env:APP\nlate: take\n", true);
}

/* ---- rows that cannot be events ---- */

#define INSERT                                                                                 \
    "INSERT INTO app_outbox (id, aggregate_type, aggregate_id, event_type, version, payload) " \
    "VALUES (gen_random_uuid(), "

TEST(what_cannot_be_an_event_is_refused_alone)
{
    static const char *const bad[] = {
        INSERT "'video', 'json', 'T', 1, 'not JSON')",
        INSERT "'video', 'zero', 'T', 0, '{}')",
        INSERT "'', 'type', 'T', 1, '{}')",
        INSERT "'video', '', 'T', 1, '{}')",
        INSERT "'video', repeat('k', 1025), 'T', 1, '{}')",
        INSERT "'video', 'event', '', 1, '{}')",
        INSERT "'video', 'large', 'T', 1,"
               " convert_to('\"' || repeat('x', 8 * 1024 * 1024) || '\"', 'UTF8'))",
    };
    struct import_round round;
    struct import_rig rig;

    import_rig_begin(&rig, NULL);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        import_rig_sql(rig.db, bad[i]);
    import_rig_add(rig.db, "json", 2);
    import_rig_add(rig.db, "good", 1);
    round = import_rig_round(&rig);
    CHECK_EQ(round.imported, 1, "the good one");
    CHECK_EQ(round.refused, (int64_t)ARRAY_LEN(bad), "the others");
    CHECK_EQ(import_rig_number(rig.db, "SELECT count(*) FROM app_outbox WHERE publish_attempts = 1"
                                       " AND next_retry_at > now() AND published_at IS NULL"),
             (int64_t)ARRAY_LEN(bad), "their dispatch columns say so");
    CHECK_EQ(sql_number(rig.dsn, "SELECT count(*) FROM ing_parked"), (int64_t)ARRAY_LEN(bad),
             "and people see them");
    CHECK_EQ(import_rig_round(&rig).refused, 0, "not again before their time");
    CHECK_EQ(import_rig_number(rig.db, "SELECT count(*) FROM app_outbox WHERE aggregate_id = 'json'"
                                       " AND version = 2 AND publish_attempts = 0"),
             1, "who waits for another one was not refused");
    import_rig_sql(rig.db, "UPDATE app_outbox SET payload = '{}', next_retry_at = NULL"
                           " WHERE aggregate_id = 'json'");
    CHECK_EQ(import_rig_drain(&rig), 2, "when it is mended, both in order");
    CHECK_EQ(sql_number(rig.dsn, "SELECT count(*) FROM ing_parked WHERE aggregate_id = 'json'"), 0,
             "and nothing is left to see");
    import_rig_end(&rig);
}

/* patra outbox retry; and a row that its service has given up. */
TEST(a_refused_key_is_tried_again_when_a_person_asks)
{
    const struct parked_query query = { .key = { SUBSCRIPTION_GROUP, STR_INIT("app") } };
    struct import_rig rig;
    struct import_round round;
    struct error err = { 0 };
    int64_t count;

    import_rig_begin(&rig, NULL);
    import_rig_sql(rig.db, INSERT "'video', 'a', 'T', 1, 'not JSON')");
    import_rig_sql(rig.db, INSERT "'video', 'b', 'T', 0, '{}')");
    CHECK_EQ(import_rig_round(&rig).refused, 2, "refused");
    import_rig_sql(rig.db, "UPDATE app_outbox SET payload = '{}' WHERE aggregate_id = 'a'");
    import_rig_sql(rig.db, "UPDATE app_outbox SET published_at = now() WHERE aggregate_id = 'b'");
    REQUIRE_OK(store_parked_retry(rig.store, &query, NOW_US, &count, &err), err);
    CHECK_EQ(count, 2, "both shall be tried");
    REQUIRE_OK(import_round(rig.import, NOW_US + 3 * US_PER_SECOND, &round, &err), err);
    CHECK_EQ(round.imported, 1, "the one that was mended");
    CHECK_EQ(sql_number(rig.dsn, "SELECT count(*) FROM ing_parked"), 0, "and the other is gone");
    import_rig_sql(rig.db, INSERT "'video', 'c', 'T', 1, 'not JSON')");
    CHECK_EQ(import_rig_round(&rig).refused, 1, "refused");
    import_rig_sql(rig.db, "UPDATE app_outbox SET next_retry_at = NULL, schema_version = 0,"
                           " payload = '{}' WHERE aggregate_id = 'c'");
    CHECK_EQ(import_rig_round(&rig).refused, 1, "for another reason");
    CHECK_EQ(sql_number(rig.dsn, "SELECT count(*) FROM ing_parked WHERE last_error LIKE 'the schema"
                                 " version%' AND attempts_ended = 2"),
             1, "which people see");
    import_rig_end(&rig);
}

TEST(bytes_are_published_as_they_are)
{
    struct import_rig rig;

    import_rig_begin(&rig, "outbox: app\ndatabase: env:APP\npayload: bytes\n");
    import_rig_sql(rig.db, INSERT "'video', 'p', 'T', 1, '\\x0a00ff')");
    CHECK_EQ(import_rig_drain(&rig), 1, "imported");
    CHECK_EQ(sql_number(rig.dsn, strncmp(rig.dsn, "postgres", 8) == 0
                                     ? "SELECT count(*) FROM ing_outbox WHERE body = '\\x0a00ff'"
                                     : "SELECT count(*) FROM ing_outbox WHERE body = x'0a00ff'"),
             1, "byte for byte");
    import_rig_end(&rig);
}

/* ---- other tables ---- */

static const char RENAMED[] = "outbox: app\n"
                              "database: env:APP\n"
                              "table: shop.Event Log\n"
                              "type_prefix: shop/\n"
                              "columns:\n"
                              "  id: no\n"
                              "  aggregate_type: aggregatetype\n"
                              "  aggregate_id: the \"id\"\n"
                              "  event_type: type\n"
                              "  version: revision\n"
                              "  payload: body\n"
                              "  occurred_at: at\n"
                              "  published_at: sent\n"
                              "  publish_attempts: tries\n"
                              "  next_retry_at: later\n"
                              "  last_error: why\n";

TEST(columns_and_tables_may_have_any_name)
{
    struct import_rig rig;

    import_rig_begin(&rig, RENAMED);
    import_rig_sql(rig.db,
                   "CREATE SCHEMA shop; CREATE TABLE shop.\"Event Log\" (no bigserial"
                   " PRIMARY KEY, aggregatetype text, \"the \"\"id\"\"\" bigint, type text,"
                   " revision int, body jsonb, at timestamp DEFAULT now(), sent"
                   " timestamptz, tries smallint, later timestamptz, why text);"
                   "INSERT INTO shop.\"Event Log\" (aggregatetype, \"the \"\"id\"\"\", type,"
                   " revision, body) VALUES ('order', 7, 'Placed', 1, '{\"a\": 1}'),"
                   " ('order', 7, 'Paid', 2, '[]'), ('order', 8, '', 1, '1')");
    CHECK_EQ(import_rig_drain(&rig), 2, "those that can be");
    CHECK_EQ(sql_number(rig.dsn, "SELECT count(*) FROM ing_outbox WHERE aggregate_type ="
                                 " 'shop/order' AND aggregate_id = '7'"),
             2, "with the prefix");
    CHECK_EQ(import_rig_number(rig.db, "SELECT count(*) FROM shop.\"Event Log\" WHERE sent IS NULL"
                                       " AND tries = 1 AND why LIKE '%type is empty%'"),
             1, "the reason is where the service wants it");
    import_rig_end(&rig);
}

static void check_refused(struct import_rig *rig, const char *what)
{
    struct import_round round;
    struct error err = { 0 };

    CHECK(!import_round(rig->import, NOW_US, &round, &err), "cannot be imported");
    CHECK(foreign_error_is_own(&err), err.code);
    CHECK(strstr(err.text, what) != NULL, err.text);
}

TEST(the_right_to_read_and_to_write_dispatch_columns_is_enough)
{
    char dsn[512];
    struct import_rig rig;
    static int number;

    import_rig_begin(&rig, NULL);
    import_rig_add(rig.db, "a", 1);
    (void)snprintf(dsn, sizeof(dsn), "CREATE ROLE importer%d LOGIN", ++number);
    import_rig_sql(rig.db, dsn);
    (void)snprintf(dsn, sizeof(dsn), "%.*simporter%d",
                   (int)(strstr(rig.foreign, "user=") + 5 - rig.foreign), rig.foreign, number);
    import_rig_reopen(&rig, dsn, "one");
    check_refused(&rig, "may not SELECT");
    (void)snprintf(dsn, sizeof(dsn), "GRANT SELECT ON app_outbox TO importer%d", number);
    import_rig_sql(rig.db, dsn);
    check_refused(&rig, "may not UPDATE published_at");
    (void)snprintf(dsn, sizeof(dsn),
                   "GRANT UPDATE (published_at, publish_attempts, next_retry_at) ON app_outbox"
                   " TO importer%d",
                   number);
    import_rig_sql(rig.db, dsn);
    import_rig_sql(rig.db, INSERT "'video', 'bad', 'T', 0, '{}')");
    import_rig_sql(rig.db, INSERT "'video', 'bad', 'T', 1, '{}')");
    CHECK_EQ(import_rig_drain(&rig), 1, "and that is all it needs");
    CHECK_EQ(import_rig_number(rig.db, "SELECT count(*) FROM app_outbox WHERE publish_attempts ="
                                       " 1"),
             1, "also to refuse");
    import_rig_end(&rig);
}

TEST(a_table_that_is_not_as_described_is_reported)
{
    struct import_rig rig;

    import_rig_begin(&rig, "outbox: app\ndatabase: env:APP\ncolumns: { payload: content }\n");
    check_refused(&rig, "no column content");
    import_rig_end(&rig);
    import_rig_begin(&rig, "outbox: app\ndatabase: env:APP\ntable: elsewhere\n");
    check_refused(&rig, "no table \"elsewhere\"");
    import_rig_end(&rig);
}

/* ---- sessions ---- */

TEST(a_session_that_was_cut_off_is_made_again)
{
    struct import_round round;
    struct error err = { 0 };
    struct import_rig rig;

    import_rig_begin(&rig, NULL);
    import_rig_add(rig.db, "a", 1);
    CHECK_EQ(import_rig_drain(&rig), 1, "imported");
    import_rig_add(rig.db, "a", 2);
    (void)import_rig_number(rig.db,
                            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                            " WHERE datname = current_database() AND pid <> pg_backend_pid()");
    CHECK(!import_round(rig.import, NOW_US, &round, &err), "fails once");
    CHECK(strcmp(err.code, "foreign.lost") == 0, err.code);
    CHECK_EQ(import_rig_drain(&rig), 1, "and goes on");
    import_rig_check(&rig, 2);
    import_rig_end(&rig);
}

TEST(an_importer_that_was_overtaken_adds_nothing)
{
    struct import_round round;
    struct error err = { 0 };
    struct import_rig rig;
    struct import *other;

    import_rig_begin(&rig, NULL);
    CHECK(import_rig_round(&rig).is_held, "the first has it");
    REQUIRE_OK(import_open(&other, &(struct import_parts){ rig.store, rig.outbox, &rig.spec },
                           &(struct import_settings){ .owner = STR("two") }, &err),
               err);
    REQUIRE_OK(import_round(other, NOW_US, &round, &err), err);
    CHECK(!round.is_held, "the second has not");
    REQUIRE_OK(import_round(other, NOW_US + US_PER_HOUR, &round, &err), err);
    CHECK(round.is_held, "until the lease ends");
    import_rig_add(rig.db, "a", 1);
    round = import_rig_round(&rig);
    CHECK(!round.is_held, "the first finds out");
    CHECK_EQ(round.imported, 0, "before it writes");
    CHECK_EQ(count_foreign(&rig), 0, "nothing");
    REQUIRE_OK(import_round(other, NOW_US + US_PER_HOUR, &round, &err), err);
    CHECK_EQ(round.imported, 1, "the second does it");
    import_close(other);
    import_rig_end(&rig);
}

/* ---- many writers ---- */

enum { WRITERS = 4, KEYS = 12, CHANGES = 150 };

struct writer {
    const char *dsn;
    int number;
    bool
        is_locked; /* it takes versions under the lock of the aggregate's row; else of a sequence */
    pthread_t thread;
};

static void *write_events(void *context)
{
    const struct writer *writer = context;
    PGconn *db = PQconnectdb(writer->dsn);
    unsigned seed = (unsigned)writer->number + 1;

    for (int i = 0; i < CHANGES; i++) {
        const int key = rand_r(&seed) % KEYS;
        char sql[1024];

        if (writer->is_locked)
            (void)snprintf(sql, sizeof(sql),
                           "BEGIN; WITH a AS (UPDATE agg SET version = version + 1 WHERE id = %d"
                           " RETURNING version) INSERT INTO app_outbox (id, aggregate_type,"
                           " aggregate_id, event_type, version, payload) SELECT gen_random_uuid(),"
                           " 'video', 'k%d', 'T', version, '{}' FROM a",
                           key, key);
        else
            (void)snprintf(sql, sizeof(sql),
                           "BEGIN; INSERT INTO app_outbox (id, aggregate_type, aggregate_id,"
                           " event_type, version, payload) VALUES (gen_random_uuid(), 'video',"
                           " 'k%d', 'T', nextval('versions'), '{}')",
                           key);
        PQclear(PQexec(db, sql));
        if (rand_r(&seed) % 4 == 0)
            PQclear(PQexec(db, "SELECT pg_sleep(0.005)")); /* it holds its transaction open */
        PQclear(PQexec(db, rand_r(&seed) % 5 == 0 ? "ROLLBACK" : "COMMIT"));
    }
    PQfinish(db);
    return NULL;
}

static void import_while_writing(bool is_locked)
{
    struct writer writers[WRITERS];
    struct import_rig rig;
    int64_t imported = 0, waited = 0, rows;

    import_rig_begin(&rig, "outbox: app\ndatabase: env:APP\npage: 50\n");
    import_rig_sql(rig.db, "CREATE TABLE agg (id int PRIMARY KEY, version bigint NOT NULL);"
                           "INSERT INTO agg SELECT n, 0 FROM generate_series(0, 99) AS n;"
                           "CREATE SEQUENCE versions");
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){ .dsn = rig.foreign, .number = i, .is_locked = is_locked };
        REQUIRE(pthread_create(&writers[i].thread, NULL, write_events, &writers[i]) == 0, "thread");
    }
    for (int i = 0; i < WRITERS; i++) {
        while (pthread_tryjoin_np(writers[i].thread, NULL) != 0) {
            const struct import_round round = import_rig_round(&rig);

            imported += round.imported;
            waited += round.gaps;
        }
    }
    imported += import_rig_drain(&rig);
    rows = import_rig_number(rig.db, "SELECT count(*) FROM app_outbox");
    CHECK_EQ(imported, rows, "all that were committed");
    import_rig_check(&rig, rows);
    test_note("%s: %lld rows, %lld waits for a version", is_locked ? "locked" : "sequence",
              (long long)rows, (long long)waited);
    import_rig_end(&rig);
}

TEST(order_holds_while_many_write_and_some_commit_late)
{
    import_while_writing(true);
    import_while_writing(false);
}
