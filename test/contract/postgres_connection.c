/* What only a connection can do: be refused, be lost, come back. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adapter/sql/statement.h"
#include "contract.h"
#include "port/store_pause.h"
#include "postgres.h"

static bool any_call(struct store *store, struct error *err)
{
    struct pause_list list;

    return store_pause_list(store, contract_arena(), STR(""), &list, err);
}

TEST(a_lost_connection_is_transient_and_can_be_made_again)
{
    struct store *store = contract_store();
    struct error err = { 0 };

    REQUIRE_OK(any_call(store, &err), err);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(postgres_stop(&err), err);
    for (int i = 0; i < 2; i++) {
        CHECK(!any_call(store, &err), "the server is gone");
        CHECK_EQ(err.level, ERROR_TRANSIENT, err.text);
        CHECK_STR(str_of(err.code), STR("store.lost"), err.text);
    }
    store_rollback(store);
    CHECK(!store_reconnect(store, &err), "still gone");
    CHECK_EQ(err.level, ERROR_TRANSIENT, err.text);
    CHECK_STR(str_of(err.code), STR("store.lost"), err.text);
    REQUIRE_OK(postgres_start(&err), err);
    REQUIRE_OK(store_reconnect(store, &err), err);
    REQUIRE_OK(any_call(store, &err), err);
    contract_end();
}

/* A failover: the server that answers is a standby for a while, and then another one is not. */
TEST(a_server_that_is_read_only_is_waited_for)
{
    struct store *store = contract_store();
    struct pause pause = { .kind = PAUSE_PAUSED,
                           .source = STR("s"),
                           .reason = STR("r"),
                           .created_by = STR("me"),
                           .created_us = 1 };
    struct error err = { 0 };
    bool added;

    REQUIRE_OK(
        statement_run(statement_of(store, "SET default_transaction_read_only = on"), NULL, &err),
        err);
    CHECK(!store_pause_add(store, &pause, &added, &err), "read-only");
    CHECK_EQ(err.level, ERROR_TRANSIENT, err.text);
    CHECK(store_error_is_lost(&err), "a new session may find the primary");
    store_rollback(store);
    REQUIRE_OK(store_reconnect(store, &err), err);
    REQUIRE_OK(store_pause_add(store, &pause, &added, &err), err);
    contract_end();
}

static pid_t backend_of(struct store *store)
{
    struct rows *rows = &statement_of(store, "SELECT CAST(pg_backend_pid() AS bigint)")->rows;
    struct error err = { 0 };
    int64_t pid = 0;

    while (rows_next(rows))
        pid = rows_i64(rows);
    REQUIRE_OK(rows_finish(rows, &err), err);
    return (pid_t)pid;
}

/* Without the fix this call never returns. */
TEST(a_process_that_stops_gives_up_a_database_that_hangs)
{
    struct store *store = contract_store();
    const struct store_patience patience = { .stop_fd = eventfd(1, EFD_CLOEXEC) };
    struct error err = { 0 };
    pid_t pid;

    REQUIRE_OK(any_call(store, &err), err); /* prepared */
    pid = backend_of(store);
    store->patience = &patience;
    REQUIRE(kill(pid, SIGSTOP) == 0, "a backend of ours");
    CHECK(!any_call(store, &err), "no answer");
    CHECK(kill(pid, SIGCONT) == 0, "goes on");
    CHECK(store_error_is_lost(&err), err.text);
    CHECK(strstr(err.text, "does not respond") != NULL, err.text);
    store->patience = NULL;
    (void)close(patience.stop_fd);
    REQUIRE_OK(store_reconnect(store, &err), err);
    REQUIRE_OK(any_call(store, &err), err);
    contract_end();
}

TEST(a_commit_without_an_answer_is_told_apart)
{
    struct store *store = contract_store();
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(postgres_stop(&err), err);
    CHECK(!store_commit(store, &err), "no answer");
    CHECK_EQ(err.level, ERROR_TRANSIENT, err.text);
    CHECK_STR(str_of(err.code), STR("store.commit_unknown"), err.text);
    REQUIRE_OK(postgres_start(&err), err);
    contract_end();
}

TEST(a_database_or_user_that_is_not_there_is_no_transient_fault)
{
    static const struct {
        const char *from;
        const char *to;
        enum error_level level;
        const char *code;
    } cases[] = {
        { "postgresql:///t", "postgresql:///no_such_", ERROR_REQUEST, "store.missing" },
        { "user=patra", "user=nobody_here", ERROR_FATAL, "store.auth" },
        { "host=/tmp/", "host=/tmp/nowhere/", ERROR_TRANSIENT, "store.lost" },
    };
    const char *dsn = contract_new_database();

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *at = strstr(dsn, cases[i].from);
        struct store *store = NULL;
        struct error err = { 0 };
        char other[512];

        if (at == NULL)
            TEST_SKIP("the server's address was given from outside");
        (void)snprintf(other, sizeof(other), "%.*s%s%s", (int)(at - dsn), dsn, cases[i].to,
                       at + strlen(cases[i].from));
        CHECK(!store_open(str_of(other), NULL, &store, &err), other);
        CHECK_EQ(err.level, cases[i].level, err.text);
        CHECK_STR(str_of(err.code), str_of(cases[i].code), err.text);
    }
    contract_end();
}

TEST(a_lock_keeps_others_waiting_until_the_transaction_ends)
{
    struct store *store = NULL, *other = NULL;
    const struct store_options options = { .busy_timeout_us = 50000 };
    struct error err = { 0 };
    const char *dsn = contract_new_database();

    REQUIRE_OK(store_open(str_of(dsn), &options, &other, &err), err);
    REQUIRE_OK(store_open(str_of(dsn), &options, &store, &err), err);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_lock(store, STR("a"), &err), err);
    REQUIRE_OK(store_begin(other, &err), err);
    REQUIRE_OK(store_lock(other, STR("b"), &err), err);
    CHECK(!store_lock(other, STR("a"), &err), "held");
    CHECK_EQ(err.level, ERROR_TRANSIENT, err.text);
    CHECK_STR(str_of(err.code), STR("store.busy"), err.text);
    store_rollback(other);
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_begin(other, &err), err);
    CHECK(store_lock(other, STR("a"), &err), "free again");
    store_rollback(other);
    store_close(other);
    store_close(store);
    contract_end();
}

/* ---- a process that stops between two statements that it sends ---- */

enum { NOTE_BYTES = 100000 }; /* more than libpq keeps before it sends */

static const char ADD_NOTE[] = "INSERT INTO note (text) VALUES (:text)";

/* Waits until the other session waits for its client, and fails if the server takes it for active:
 * then its limit for a session that is idle in a transaction would never end it. */
static const char IDLE_IN_TRANSACTION[] =
    "DO $$ DECLARE other record; BEGIN"
    "  FOR i IN 1..1000 LOOP"
    "    SELECT state, wait_event INTO other FROM pg_stat_activity"
    "     WHERE datname = current_database() AND backend_type = 'client backend'"
    "       AND pid <> pg_backend_pid() AND query LIKE 'INSERT INTO note%';"
    "    EXIT WHEN FOUND AND other.wait_event = 'ClientRead';"
    "    PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();"
    "  END LOOP;"
    "  ASSERT other.state = 'idle in transaction', coalesce(other.state, 'no session');"
    "END $$";

static void send_note(struct store *store, struct str text)
{
    struct statement *st = statement_of(store, ADD_NOTE);
    struct error err = { 0 };

    bind_text(st, ":text", text);
    REQUIRE_OK(statement_send(st, &(struct statement_send){ .expected = 1 }, &err), err);
}

TEST(a_session_that_has_sent_statements_counts_as_idle_in_its_transaction)
{
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn);
    struct error err = { 0 };
    char *text = arena_alloc(contract_arena(), NOTE_BYTES);
    bool as_expected;

    memset(text, 'x', NOTE_BYTES);
    contract_sql(dsn, "CREATE TABLE note (text text)");
    REQUIRE_OK(store_begin(store, &err), err);
    for (int i = 0; i < 3; i++)
        send_note(store, (struct str){ text, NOTE_BYTES });
    contract_sql(dsn, IDLE_IN_TRANSACTION);
    REQUIRE_OK(statements_settle(store, &as_expected, &err), err);
    CHECK(as_expected, "each statement added its row");
    REQUIRE_OK(store_commit(store, &err), err);
    contract_sql(dsn, "DO $$ BEGIN ASSERT (SELECT count(*) FROM note) = 3; END $$");
    store_close(store);
    contract_end();
}
