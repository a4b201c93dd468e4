/* What only a server shows: sessions that are deaf, cut off, or on a server that was restarted. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "adapter/sql/session.h"
#include "contract.h"
#include "engine/wake/notifier.h"
#include "postgres.h"
#include "seeded_random.h"
#include "sql.h"
#include "virtual_clock.h"

struct site {
    const char *dsn;
    struct virtual_clock clock;
    struct seeded_random random;
    struct store *heard;
    struct store *sent;
    struct wake *wake;
    struct waiter *waiter;
    struct notifier *notifier;
    struct log log;
};

static int64_t log_now_us(void *context)
{
    (void)context;
    return NOW_US;
}

static void begin(struct site *site)
{
    struct error err = { 0 };

    site->dsn = contract_migrated(contract_new_database());
    virtual_clock_init(&site->clock, NOW_US);
    seeded_random_init(&site->random, 1);
    site->heard = contract_open(site->dsn);
    site->sent = contract_open(site->dsn);
    site->log = (struct log){ .fd = fileno(tmpfile()), .level = LOG_DEBUG, .now_us = log_now_us };
    REQUIRE_OK(wake_open(&site->wake, &site->random.source, &err), err);
    REQUIRE_OK(waiter_open(&site->waiter,
                           &(struct waiter_parts){ .wake = site->wake,
                                                   .store = site->heard,
                                                   .clock = &site->clock.clock,
                                                   .log = &site->log,
                                                   .channel = WAKE_OUTBOX,
                                                   .stop_fd = CLOCK_NO_WAKE },
                           &err),
               err);
    REQUIRE_OK(notifier_open(&site->notifier,
                             &(struct notifier_parts){ .wake = site->wake,
                                                       .store = site->sent,
                                                       .clock = &site->clock.clock,
                                                       .stop_fd = CLOCK_NO_WAKE },
                             &err),
               err);
    CHECK_EQ(waiter_wait(site->waiter, 0), WAITER_WOKEN, "it begins to listen");
}

static void end(struct site *site)
{
    notifier_close(site->notifier);
    waiter_close(site->waiter);
    wake_close(site->wake);
    store_close(site->heard);
    store_close(site->sent);
    (void)close(site->log.fd);
    contract_end();
}

static void turn(struct site *site)
{
    int64_t next_us;

    notifier_turn(site->notifier, &next_us);
}

/* A probe is sent; when it can be heard, it has arrived at the socket. */
static void probe(struct site *site, bool arrives)
{
    struct pollfd socket = { .fd = store_wake_fd(site->heard), .events = POLLIN };

    virtual_clock_advance(&site->clock, WAKE_PROBE_EVERY_US);
    turn(site);
    if (arrives)
        CHECK_EQ(poll(&socket, 1, 20000), 1, "arrives");
    virtual_clock_advance(&site->clock, WAKE_PROBE_WAIT_US);
    (void)waiter_wait(site->waiter, 0);
}

static int count_lines(const struct site *site, const char *event)
{
    char lines[8192];
    const ssize_t length = pread(site->log.fd, lines, sizeof(lines) - 1, 0);
    int count = 0;

    REQUIRE(length >= 0, "the log");
    lines[length] = '\0';
    for (const char *at = lines; (at = strstr(at, event)) != NULL; at++)
        count++;
    return count;
}

/* As behind a pooler that gives the session's server to others. */
TEST(a_session_that_does_not_hear_is_found_out)
{
    struct error err = { 0 };
    struct site site = { 0 };

    begin(&site);
    for (int i = 0; i < 3; i++)
        probe(&site, true);
    CHECK(!waiter_is_deaf(site.waiter), "it hears");
    REQUIRE_OK(sql_session_of(site.heard)
                   ->driver->run_script(sql_session_of(site.heard), "UNLISTEN *", &err),
               err);
    for (int i = 0; i < 3; i++) {
        probe(&site, false);
        CHECK(waiter_is_deaf(site.waiter), "it does not");
    }
    CHECK_EQ(count_lines(&site, "notifications do not arrive"), 1, "told once");
    REQUIRE_OK(sql_session_of(site.heard)
                   ->driver->run_script(sql_session_of(site.heard), "LISTEN patra_outbox", &err),
               err);
    probe(&site, true);
    CHECK(!waiter_is_deaf(site.waiter), "it hears again");
    end(&site);
}

/* The wait ends, the caller's next call fails, and the next session hears. */
static void check_recovers(struct site *site)
{
    struct pollfd socket = { .fd = store_wake_fd(site->heard), .events = POLLIN };
    enum waiter_end end = WAITER_TIME;
    struct store_schema schema;
    struct error err = { 0 };

    /* The server's last words may arrive before the end of the connection. */
    for (int i = 0; i < 100 && end == WAITER_TIME; i++) {
        CHECK_EQ(poll(&socket, 1, 20000), 1, "the end of the session is seen");
        end = waiter_wait(site->waiter, 0);
    }
    CHECK_EQ(end, WAITER_WOKEN, "and ends the wait");
    CHECK(!store_schema(site->heard, &schema, &err), "the caller finds out");
    REQUIRE_OK(store_reconnect(site->heard, &err), err);
    CHECK_EQ(waiter_wait(site->waiter, US_PER_HOUR), WAITER_WOKEN, "listens again");
    virtual_clock_advance(&site->clock, US_PER_HOUR);
    wake_tell(site->wake, WAKE_OUTBOX);
    (void)waiter_wait(site->waiter, 0); /* its own process's ring */
    turn(site);
    socket.fd = store_wake_fd(site->heard);
    CHECK_EQ(poll(&socket, 1, 20000), 1, "a note arrives");
    CHECK_EQ(waiter_wait(site->waiter, US_PER_HOUR), WAITER_WOKEN, "heard");
    CHECK(!waiter_is_deaf(site->waiter), "not deaf");
}

TEST(sessions_that_were_cut_off_hear_again)
{
    struct site site = { 0 };

    begin(&site);
    (void)sql_number(site.dsn, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                               " WHERE datname = current_database() AND pid <> pg_backend_pid()");
    check_recovers(&site);
    end(&site);
}

TEST(after_the_server_was_restarted_everybody_hears_again)
{
    struct error err = { 0 };
    struct site site = { 0 };

    begin(&site);
    REQUIRE_OK(postgres_stop(&err), err);
    REQUIRE_OK(postgres_start(&err), err);
    check_recovers(&site);
    end(&site);
}
