/* Tests: who is woken when, in virtual time, over stores that only pass notes on. */
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/wake/notifier.h"
#include "played_wake.h"
#include "seeded_random.h"
#include "test.h"
#include "virtual_clock.h"

#define BEGIN_US INT64_C(1767225600000000)

struct site {
    struct virtual_clock clock;
    struct seeded_random random;
    struct played_wake heard; /* the waiter's session */
    struct played_wake sent;  /* the notifier's */
    struct wake *wake;
    struct waiter *waiter;
    struct notifier *notifier;
    int stop_fd;
    struct log log; /* into a file */
};

static int64_t log_now_us(void *context)
{
    (void)context;
    return BEGIN_US;
}

static void begin(struct site *site, enum wake_channel channel)
{
    struct error err = { 0 };

    virtual_clock_init(&site->clock, BEGIN_US);
    seeded_random_init(&site->random, 1);
    played_wake_open(&site->heard);
    played_wake_open(&site->sent);
    site->sent.peer = &site->heard;
    site->stop_fd = eventfd(0, EFD_CLOEXEC);
    site->log = (struct log){ .fd = fileno(tmpfile()), .level = LOG_DEBUG, .now_us = log_now_us };
    REQUIRE_OK(wake_open(&site->wake, &site->random.source, &err), err);
    REQUIRE_OK(waiter_open(&site->waiter,
                           &(struct waiter_parts){ .wake = site->wake,
                                                   .store = &site->heard.store,
                                                   .clock = &site->clock.clock,
                                                   .log = &site->log,
                                                   .channel = channel,
                                                   .stop_fd = site->stop_fd },
                           &err),
               err);
    REQUIRE_OK(notifier_open(&site->notifier,
                             &(struct notifier_parts){ .wake = site->wake,
                                                       .store = &site->sent.store,
                                                       .clock = &site->clock.clock,
                                                       .stop_fd = site->stop_fd },
                             &err),
               err);
}

static void end(struct site *site)
{
    notifier_close(site->notifier);
    waiter_close(site->waiter);
    wake_close(site->wake);
    played_wake_close(&site->heard);
    played_wake_close(&site->sent);
    (void)close(site->stop_fd);
    (void)close(site->log.fd);
}

static int64_t now_us(struct site *site)
{
    return clock_monotonic_us(&site->clock.clock);
}

/* The first wait of a session: it has just begun to listen. */
static void listen_first(struct site *site)
{
    CHECK_EQ(waiter_wait(site->waiter, US_PER_SECOND), WAITER_WOKEN, "what was before is unknown");
    CHECK_EQ(now_us(site), 0, "at once");
}

static int64_t turn(struct site *site)
{
    int64_t next_us;

    notifier_turn(site->notifier, &next_us);
    return next_us;
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

TEST(who_waits_is_woken_by_its_own_process_at_once)
{
    struct site site = { 0 };

    begin(&site, WAKE_OUTBOX);
    listen_first(&site);
    wake_listener(site.wake)->wrote_events(wake_listener(site.wake));
    CHECK_EQ(waiter_wait(site.waiter, US_PER_SECOND), WAITER_WOKEN, "a commit");
    CHECK_EQ(now_us(&site), 0, "no time has passed");
    CHECK_EQ(waiter_wait(site.waiter, US_PER_SECOND), WAITER_TIME, "and once");
    CHECK_EQ(now_us(&site), US_PER_SECOND, "the pause");
    wake_tell(site.wake, WAKE_STREAM);
    CHECK_EQ(waiter_wait(site.waiter, US_PER_SECOND), WAITER_TIME, "not by the other channel");
    end(&site);
}

TEST(notes_of_others_wake_and_probes_do_not)
{
    struct site site = { 0 };

    begin(&site, WAKE_STREAM);
    listen_first(&site);
    played_wake_note(&site.heard, WAKE_STREAM, "");
    played_wake_note(&site.heard, WAKE_STREAM, "");
    CHECK_EQ(waiter_wait(site.waiter, US_PER_SECOND), WAITER_WOKEN, "a note");
    CHECK_EQ(now_us(&site), 0, "no time has passed");
    played_wake_note(&site.heard, WAKE_STREAM, "probe:0000000000000000:1");
    CHECK_EQ(waiter_wait(site.waiter, US_PER_SECOND), WAITER_TIME, "both were taken");
    CHECK_EQ(now_us(&site), US_PER_SECOND, "somebody's probe is not about events");
    end(&site);
}

TEST(a_lost_note_costs_a_pause_and_nothing_else)
{
    struct site site = { .heard = { .is_deaf = true } };

    begin(&site, WAKE_OUTBOX);
    listen_first(&site);
    played_wake_note(&site.heard, WAKE_OUTBOX, "");
    CHECK_EQ(waiter_wait(site.waiter, 20 * US_PER_MS), WAITER_TIME, "not heard");
    CHECK_EQ(now_us(&site), 20 * US_PER_MS, "and looked for after the pause");
    end(&site);
}

TEST(who_waits_ends_when_it_is_stopped)
{
    struct site site = { 0 };

    begin(&site, WAKE_OUTBOX);
    listen_first(&site);
    wake_tell(site.wake, WAKE_OUTBOX);
    (void)!write(site.stop_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
    CHECK_EQ(waiter_wait(site.waiter, US_PER_HOUR), WAITER_STOPPED, "whatever else there is");
    CHECK(!waiter_sleep(site.waiter, US_PER_HOUR), "this way too");
    CHECK_EQ(now_us(&site), 0, "at once");
    end(&site);
}

/* A store that sends nothing is asked while a longer pause lasts. */
TEST(a_store_without_notes_is_asked)
{
    struct site site = { .heard = { .is_asked = true } };

    begin(&site, WAKE_STREAM);
    listen_first(&site);
    site.heard.asked = 0;
    CHECK_EQ(waiter_wait(site.waiter, US_PER_SECOND), WAITER_TIME, "nothing");
    CHECK_EQ(site.heard.asked, 21, "every 50 ms");
    played_wake_note(&site.heard, WAKE_STREAM, "");
    CHECK_EQ(waiter_wait(site.waiter, US_PER_SECOND), WAITER_WOKEN, "somebody has committed");
    end(&site);
}

/* N commits in t: at most 1 + t / 10 ms notes, the first at once and none too late. */
TEST(many_commits_are_few_notes)
{
    static const int64_t steps_us[] = { 100, 1000, 3000, 9999, 10000, 25000 };

    for (size_t i = 0; i < ARRAY_LEN(steps_us); i++) {
        struct site site = { 0 };
        int64_t oldest_us = -1; /* commit that no note has followed */
        int64_t latest_us = 0;  /* a note came after a commit */

        begin(&site, WAKE_OUTBOX);
        for (int n = 0; n < 1000; n++) {
            const int before = site.sent.sent[WAKE_OUTBOX];
            int64_t due_us;

            wake_tell(site.wake, WAKE_OUTBOX);
            if (oldest_us < 0)
                oldest_us = now_us(&site);
            for (due_us = turn(&site); due_us <= now_us(&site) + steps_us[i]; due_us = turn(&site))
                virtual_clock_advance(&site.clock,
                                      due_us > now_us(&site) ? due_us - now_us(&site) : 1);
            if (site.sent.sent[WAKE_OUTBOX] > before) {
                if (now_us(&site) - oldest_us > latest_us)
                    latest_us = now_us(&site) - oldest_us;
                oldest_us = -1;
            }
            CHECK(n > 0 || site.sent.sent[WAKE_OUTBOX] == 1, "the first at once");
            virtual_clock_advance(&site.clock, steps_us[i]);
        }
        CHECK(site.sent.sent[WAKE_OUTBOX] <= 1 + now_us(&site) / NOTIFIER_EVERY_US, "few");
        CHECK(site.sent.sent[WAKE_OUTBOX] >=
                  (steps_us[i] < NOTIFIER_EVERY_US
                       ? now_us(&site) / (NOTIFIER_EVERY_US + steps_us[i])
                       : 1000),
              "and not none");
        CHECK(latest_us <= NOTIFIER_EVERY_US + steps_us[i], "soon");
        end(&site);
    }
}

/* Notifies as time passes; waits as a loop does that finds nothing. */
static int64_t wait_for(struct site *site, int64_t for_us)
{
    const int64_t until_us = now_us(site) + for_us;
    int64_t waits = 0;

    while (now_us(site) < until_us) {
        (void)turn(site);
        CHECK(waiter_wait(site->waiter, US_PER_SECOND) != WAITER_STOPPED, "goes on");
        waits++;
    }
    return waits;
}

TEST(deafness_is_found_out_told_once_and_polled_around)
{
    struct site site = { 0 };
    int64_t began_us;

    begin(&site, WAKE_OUTBOX);
    (void)wait_for(&site, 5 * US_PER_MINUTE);
    CHECK(!waiter_is_deaf(site.waiter), "probes are heard");
    CHECK_EQ(count_lines(&site, "notifications"), 0, "nothing to tell");
    site.heard.is_deaf = true;
    began_us = now_us(&site);
    while (!waiter_is_deaf(site.waiter) && now_us(&site) - began_us < US_PER_HOUR)
        (void)wait_for(&site, US_PER_MS);
    CHECK(now_us(&site) - began_us <= WAKE_PROBE_EVERY_US + WAKE_PROBE_WAIT_US + 2 * US_PER_SECOND,
          "by the next probe");
    began_us = now_us(&site);
    CHECK_EQ(waiter_wait(site.waiter, US_PER_SECOND), WAITER_TIME, "polling");
    CHECK_EQ(now_us(&site) - began_us, WAKE_DEAF_US, "every 50 ms");
    (void)wait_for(&site, 10 * US_PER_MINUTE);
    CHECK_EQ(count_lines(&site, "notifications do not arrive"), 1, "told once");
    site.heard.is_deaf = false;
    (void)wait_for(&site, US_PER_MINUTE);
    CHECK(!waiter_is_deaf(site.waiter), "hears again");
    CHECK_EQ(count_lines(&site, "notifications arrive again"), 1, "told");
    began_us = now_us(&site);
    CHECK_EQ(waiter_wait(site.waiter, US_PER_SECOND), WAITER_TIME, "nothing comes");
    CHECK_EQ(now_us(&site) - began_us, US_PER_SECOND, "and the pause is its own again");
    end(&site);
}

/* A thread that is busy for long does not listen meanwhile; that is not deafness. */
TEST(who_looked_away_is_not_deaf)
{
    struct site site = { 0 };

    begin(&site, WAKE_OUTBOX);
    listen_first(&site);
    for (int i = 0; i < 20; i++) {
        (void)turn(&site);
        virtual_clock_advance(&site.clock, 20 * US_PER_SECOND);
        (void)waiter_wait(site.waiter, 0);
        CHECK(!waiter_is_deaf(site.waiter), "it heard the probe late");
    }
    end(&site);
}

TEST(a_session_that_was_lost_listens_again)
{
    struct error err = { 0 };
    struct site site = { 0 };

    begin(&site, WAKE_OUTBOX);
    listen_first(&site);
    site.heard.is_lost = true;
    (void)!write(site.heard.fd, &(uint64_t){ 1 }, sizeof(uint64_t));
    CHECK(waiter_wait(site.waiter, 10 * US_PER_MS) != WAITER_STOPPED, "the caller finds out");
    REQUIRE_OK(store_reconnect(&site.heard.store, &err), err);
    CHECK_EQ(waiter_wait(site.waiter, US_PER_SECOND), WAITER_WOKEN, "what was missed is unknown");
    CHECK_EQ(site.heard.listens, 2, "listens");
    played_wake_note(&site.heard, WAKE_OUTBOX, "");
    CHECK_EQ(waiter_wait(site.waiter, US_PER_SECOND), WAITER_WOKEN, "and hears");
    end(&site);
}

TEST(a_note_that_could_not_be_sent_is_sent_later)
{
    struct site site = { 0 };

    begin(&site, WAKE_OUTBOX);
    site.sent.is_lost = true;
    wake_tell(site.wake, WAKE_OUTBOX);
    (void)turn(&site);
    CHECK_EQ(site.sent.sent[WAKE_OUTBOX], 1, "with a new session, at once");
    end(&site);
}

/* A command that ends soon has no notifier. */
TEST(what_nobody_has_sent_is_sent_at_the_end)
{
    struct site site = { 0 };

    begin(&site, WAKE_OUTBOX);
    wake_flush(site.wake, &site.sent.store);
    CHECK_EQ(site.sent.sent[WAKE_OUTBOX], 0, "nothing happened");
    wake_tell(site.wake, WAKE_OUTBOX);
    wake_flush(site.wake, &site.sent.store);
    wake_flush(site.wake, &site.sent.store);
    CHECK_EQ(site.sent.sent[WAKE_OUTBOX], 1, "once");
    end(&site);
}
