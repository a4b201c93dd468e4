/* The arithmetic of progress, on events made by hand. */
#include "test.h"
#include "worker/progress.h"

#define T0 INT64_C(1767225600000000)
#define SECONDS(n) (T0 + (n)*US_PER_SECOND)

static struct progress progress;

static void see(int64_t worker, enum executor_event_kind kind)
{
    const struct ending done = { .kind = ENDING_FINAL, .status = TASK_SUCCEEDED };
    const struct task task = { .id = 1 };

    progress_see(&progress, worker,
                 &(struct executor_event){ .kind = kind,
                                           .task = &task,
                                           .now_us = T0,
                                           .ending = kind == EXECUTOR_ENDED ? &done : NULL });
}

static void batch(int64_t worker, int64_t created, const char *digest)
{
    const struct commit_result commit = { .is_held = true, .created = created };
    const struct fetch_batch fetched = {
        .kind = FETCH_PAGE,
        .response_digest = str_of(digest),
        .counts = { .requests = 2, .retries = 1, .throttled = 1, .bytes = 1000, .waited_us = 5 }
    };

    progress_see(&progress, worker,
                 &(struct executor_event){
                     .kind = EXECUTOR_BATCH, .now_us = T0, .batch = &fetched, .commit = &commit });
}

TEST(what_batches_bring_is_summed_up)
{
    const struct commit_result commit = {
        .created = 1, .updated = 2, .unchanged = 3, .older = 4, .deleted = 5, .quarantined = 6
    };
    const struct fetch_lost_id lost[2] = { { .reason = FETCH_LOST_MISSING },
                                           { .reason = FETCH_LOST_REFUSED } };
    const struct fetch_batch fetched = { .response_digest = STR("{}"),
                                         .lost = lost,
                                         .lost_count = 2 };
    struct progress_view view;

    progress_init(&progress, 2, T0);
    batch(0, 10, "{}");
    progress_see(
        &progress, 1,
        &(struct executor_event){ .kind = EXECUTOR_BATCH, .batch = &fetched, .commit = &commit });
    view = progress_view(&progress, SECONDS(1));
    CHECK_EQ(view.records, 10 + 21, "records of every kind");
    CHECK_EQ(view.sums.created, 11, "new");
    CHECK_EQ(view.sums.unchanged, 7, "older ones are not news either");
    CHECK_EQ(view.sums.lost_ids, 2, "ids without a record");
    CHECK_EQ(view.sums.refused_ids, 1, "one of them refused");
    CHECK_EQ(view.sums.requests, 2, "requests");
    CHECK_EQ(view.sums.bytes, 1000, "bytes");
    CHECK_EQ(view.sums.throttled, 1, "429");
}

TEST(how_far_counts_slices_and_what_came_of_those_under_way)
{
    struct progress_view view;

    progress_init(&progress, 2, T0);
    CHECK_EQ(progress_view(&progress, T0).permille, 0, "nothing is known");
    progress_slices(&progress, 10, 4);
    CHECK_EQ(progress_view(&progress, T0).permille, 400, "four of ten");
    see(0, EXECUTOR_STARTED);
    batch(0, 25, "{\"total\":50}");
    see(1, EXECUTOR_STARTED);
    batch(1, 25, "{\"total\":null}");
    CHECK_EQ(progress_view(&progress, T0).permille, 450, "half of one; the other is unknown");
    batch(0, 100, "{\"total\":50}");
    view = progress_view(&progress, T0);
    CHECK_EQ(view.permille, 500, "a slice is never more than a slice");
    CHECK_EQ(view.working, 2, "both work");
    see(0, EXECUTOR_ENDED);
    CHECK_EQ(progress_view(&progress, T0).permille, 500, "also before the store has counted it");
    progress_slices(&progress, 10, 10);
    CHECK_EQ(progress_view(&progress, T0).permille, 1000, "all");
    CHECK_EQ(progress_view(&progress, T0).eta.most_us, 0, "nothing is left");
}

TEST(rates_are_those_of_the_last_half_minute)
{
    struct progress_view view;

    progress_init(&progress, 1, T0);
    batch(0, 1000, "{}");
    for (int s = 1; s <= 10; s++)
        progress_tick(&progress, SECONDS(s));
    view = progress_view(&progress, SECONDS(10));
    CHECK_EQ(view.records_per_1000s, 100 * 1000, "1000 in ten seconds");
    CHECK_EQ(view.requests_per_1000s, 200, "2 in ten seconds");
    for (int s = 11; s <= 40; s++)
        progress_tick(&progress, SECONDS(s));
    view = progress_view(&progress, SECONDS(40));
    CHECK_EQ(view.records_per_1000s, 0, "nothing came for half a minute");
    batch(0, 300, "{}");
    view = progress_view(&progress, SECONDS(40));
    CHECK_EQ(view.records_per_1000s, 10 * 1000, "300 in thirty seconds");
    CHECK_EQ(progress_view(&progress, SECONDS(200)).records_per_1000s, 300 * INT64_C(1000) / 160,
             "since the last sample, when all are old");
}

TEST(how_long_follows_the_speed)
{
    struct progress_eta eta;

    progress_init(&progress, 1, T0);
    progress_slices(&progress, 100, 0);
    CHECK(!progress_view(&progress, SECONDS(5)).eta.is_known, "no speed, no time");
    progress_slices(&progress, 100, 20);
    CHECK(!progress_view(&progress, SECONDS(4)).eta.is_known, "too early to tell");
    eta = progress_view(&progress, SECONDS(10)).eta;
    CHECK(eta.is_known, "two slices a second");
    CHECK_EQ(eta.least_us, 40 * US_PER_SECOND, "eighty left");
    CHECK_EQ(eta.most_us, 40 * US_PER_SECOND, "whichever speed is taken");
    progress_slices(&progress, 200, 20);
    CHECK_EQ(progress_view(&progress, SECONDS(10)).eta.most_us, 90 * US_PER_SECOND,
             "more slices came: re-sliced");
}

/* Four slices a second; the store counts them every two seconds, the display looks every quarter.
 */
TEST(how_long_does_not_swing_between_two_counts_of_the_store)
{
    int64_t last_us = 0;

    progress_init(&progress, 1, T0);
    for (int quarter = 1; quarter <= 80; quarter++) {
        const int64_t now_us = T0 + quarter * US_PER_SECOND / 4;
        int64_t most_us;

        see(0, EXECUTOR_STARTED);
        see(0, EXECUTOR_ENDED);
        if (quarter % 8 == 1)
            progress_slices(&progress, 400, quarter);
        progress_tick(&progress, now_us);
        most_us = progress_view(&progress, now_us).eta.most_us;
        if (quarter > 20 && last_us - most_us != US_PER_SECOND / 4)
            CHECK_EQ(most_us, last_us - US_PER_SECOND / 4, "it goes down as time goes by");
        last_us = most_us;
    }
    CHECK_EQ(last_us, 80 * US_PER_SECOND, "320 left");
}

/* A slice a second for a minute, then half as fast, then hardly at all. */
TEST(how_long_is_a_range_while_the_speed_changes_and_unknown_while_it_swings)
{
    struct progress_eta eta;

    progress_init(&progress, 1, T0);
    for (int s = 1; s <= 60; s++) {
        progress_slices(&progress, 200, s);
        progress_tick(&progress, SECONDS(s));
    }
    for (int s = 61; s <= 90; s++) {
        progress_slices(&progress, 200, 60 + (s - 60) / 2);
        progress_tick(&progress, SECONDS(s));
    }
    eta = progress_view(&progress, SECONDS(90)).eta;
    CHECK(eta.is_known, "the two speeds are near each other");
    CHECK_EQ(eta.least_us, 150 * US_PER_SECOND, "125 left, at 75 in 90 seconds");
    CHECK_EQ(eta.most_us, 250 * US_PER_SECOND, "and at 15 in 30 seconds");
    for (int s = 91; s <= 120; s++)
        progress_tick(&progress, SECONDS(s));
    progress_slices(&progress, 200, 76);
    CHECK(!progress_view(&progress, SECONDS(120)).eta.is_known, "one in half a minute: who knows");
}

TEST(the_wait_of_a_harvest_is_that_of_one_worker)
{
    progress_init(&progress, 4, T0);
    for (int i = 0; i < 2; i++) {
        see(i, EXECUTOR_STARTED);
        batch(i, 10, "{}");
        progress.sums.waited_us = (i + 1) * 30 * US_PER_SECOND;
        see(i, EXECUTOR_ENDED);
    }
    CHECK_EQ(progress_view(&progress, SECONDS(60)).waited_us, 30 * US_PER_SECOND,
             "two worked, half a minute each; two had no task");
}

static void wait_for(int worker, enum executor_event_kind kind, int64_t until_us,
                     enum wait_reason reason)
{
    progress_see(&progress, worker,
                 &(struct executor_event){ .kind = kind, .until_us = until_us, .reason = reason });
}

TEST(a_wait_is_shown_with_the_earliest_end)
{
    struct progress_view view;

    progress_init(&progress, 3, T0);
    for (int i = 0; i < 3; i++)
        see(i, EXECUTOR_STARTED);
    wait_for(0, EXECUTOR_WAITING, SECONDS(9), WAIT_RETRY_AFTER);
    wait_for(2, EXECUTOR_WAITING, SECONDS(3), WAIT_RATE);
    view = progress_view(&progress, SECONDS(1));
    CHECK_EQ(view.waiting, 2, "two wait");
    CHECK_EQ(view.working, 1, "one works");
    CHECK_EQ(view.wait.until_us, SECONDS(3), "the earliest");
    CHECK_EQ(view.wait.reason, WAIT_RATE, "and why");
    view = progress_view(&progress, SECONDS(3));
    CHECK_EQ(view.waiting, 1, "its time has come");
    CHECK_EQ(view.wait.reason, WAIT_RETRY_AFTER, "the other waits on");
    batch(0, 1, "{}");
    CHECK_EQ(progress_view(&progress, SECONDS(4)).waiting, 0, "it got its permit");
}

TEST(a_wait_without_an_end_lasts_until_something_happens)
{
    struct progress_view view;

    progress_init(&progress, 2, T0);
    wait_for(0, EXECUTOR_WAITING, 0, WAIT_SLOT);
    view = progress_view(&progress, SECONDS(100));
    CHECK_EQ(view.waiting, 1, "still");
    CHECK_EQ(view.wait.reason, WAIT_SLOT, "why");
    wait_for(1, EXECUTOR_WAITING, SECONDS(200), WAIT_RATE);
    CHECK_EQ(progress_view(&progress, SECONDS(100)).wait.until_us, SECONDS(200), "one is known");
}

/* What was put off for a quota is in the queue as not due: the display knows why. */
TEST(when_no_task_may_run_it_shows_until_when_and_why)
{
    const struct ending later = { .kind = ENDING_LATER,
                                  .retry_at_us = SECONDS(600),
                                  .retry_reason = WAIT_QUOTA };
    struct progress_view view;

    progress_init(&progress, 2, T0);
    see(0, EXECUTOR_STARTED);
    progress_see(&progress, 0,
                 &(struct executor_event){ .kind = EXECUTOR_ENDED, .ending = &later });
    wait_for(0, EXECUTOR_IDLE, SECONDS(600), WAIT_DUE);
    wait_for(1, EXECUTOR_IDLE, SECONDS(600), WAIT_DUE);
    view = progress_view(&progress, SECONDS(1));
    CHECK(view.is_resting, "nobody works");
    CHECK_EQ(view.rest.until_us, SECONDS(600), "until then");
    CHECK_EQ(view.rest.reason, WAIT_QUOTA, "why it was put off");
    wait_for(1, EXECUTOR_IDLE, SECONDS(60), WAIT_CIRCUIT);
    CHECK_EQ(progress_view(&progress, SECONDS(1)).rest.reason, WAIT_CIRCUIT, "the earliest");
    see(1, EXECUTOR_STARTED);
    CHECK(!progress_view(&progress, SECONDS(1)).is_resting, "one works");
}

TEST(trouble_is_shown_for_a_while)
{
    struct error err = { 0 };

    progress_init(&progress, 1, T0);
    CHECK_STR(str_of(progress_view(&progress, T0).trouble), STR(""), "none");
    (void)error_set(&err, ERROR_TRANSIENT, "store.lost", "the server went away");
    progress_see(
        &progress, 0,
        &(struct executor_event){ .kind = EXECUTOR_TROUBLE, .now_us = SECONDS(1), .err = &err });
    CHECK_STR(str_of(progress_view(&progress, SECONDS(5)).trouble), STR("the server went away"),
              "shown");
    CHECK_STR(str_of(progress_view(&progress, SECONDS(60)).trouble), STR(""), "forgotten");
}

/* ---- as text ---- */

static struct arena arena;

static struct str block_of(const struct progress_view *view, struct progress_style style)
{
    struct buf out;

    if (arena.limit == 0)
        arena_init(&arena, (size_t)1 << 20);
    buf_init(&out, &arena, 4096);
    progress_block(view, STR("crossref harvest"), &style, &out);
    return buf_str(&out);
}

static struct progress_view a_view(void)
{
    return (struct progress_view){
        .elapsed_us = 65 * US_PER_SECOND,
        .slices = 25,
        .slices_ended = 12,
        .permille = 480,
        .records = 12345,
        .sums = { .created = 12000,
                  .updated = 300,
                  .unchanged = 45,
                  .requests = 98,
                  .retries = 2,
                  .throttled = 1,
                  .batches = 90,
                  .bytes = 4500000 },
        .records_per_1000s = 1234000,
        .requests_per_1000s = 3200,
        .allowed_per_1000s = 3500,
        .eta = { .is_known = true, .least_us = 70 * US_PER_SECOND, .most_us = 70 * US_PER_SECOND },
        .working = 3,
        .waiting = 1,
        .wait = { .until_us = T0 + 50602 * US_PER_SECOND, .reason = WAIT_RETRY_AFTER },
        .trouble = "",
    };
}

TEST(the_block_says_it_all)
{
    const struct progress_view view = a_view();

    CHECK_STR(block_of(&view, (struct progress_style){ .width = 80 }),
              STR("crossref harvest  [#########...........]  48 %  12/25 slices  eta 1m 10s\n"
                  "  records   12,345  1,234/s  new 12,000  changed 300  unchanged 45\n"
                  "  requests  98  3.2/s of 3.5/s  batches 90  retries 2  429 1  4.5 MB\n"
                  "  workers   3 working, 1 waiting  after 1m 05s\n"
                  "  waiting for a permit until 14:03:22Z (Retry-After)\n"),
              "80 columns, no colours");
}

TEST(a_turn_within_the_second_is_no_news_and_a_rest_is)
{
    struct progress_view view = a_view();
    const struct progress_style style = { .width = 100 };

    view.wait.reason = WAIT_RATE;
    view.wait.left_us = US_PER_SECOND / 2;
    CHECK(str_ends(block_of(&view, style), STR("1 waiting  after 1m 05s\n")), "the rate");
    view.wait.left_us = 20 * US_PER_SECOND;
    CHECK(str_ends(block_of(&view, style), STR("  waiting for a permit until 14:03:22Z (rate)\n")),
          "a slow one");
    view.waiting = view.working = 0;
    view.is_resting = true;
    view.rest =
        (struct progress_wait){ .until_us = T0 + 50602 * US_PER_SECOND, .reason = WAIT_CIRCUIT };
    CHECK(
        str_ends(block_of(&view, style), STR("  no task may run until 14:03:22Z (circuit open)\n")),
        "nobody works");
}

static void check_widths(struct str text, int width)
{
    struct str rest = text;

    while (rest.len > 0) {
        const struct str line = str_cut(&rest, '\n');
        int columns = 0;
        bool is_code = false;

        for (size_t i = 0; i < line.len; i++) {
            is_code = is_code || line.data[i] == '\x1b';
            columns += !is_code && ((unsigned char)line.data[i] & 0xC0) != 0x80;
            is_code = is_code && line.data[i] != 'm';
        }
        CHECK(columns < width, "a line is too long");
        CHECK(str_is_utf8(line), "a character was cut");
        CHECK(!is_code, "a colour was cut");
    }
}

TEST(no_line_is_wider_than_the_terminal)
{
    struct progress_view view = a_view();

    view.trouble = "a store that is far away and whose error is a long one, longer than a line";
    for (int width = 1; width < 200; width++) {
        check_widths(block_of(&view, (struct progress_style){ .width = width }), width);
        check_widths(block_of(&view, (struct progress_style){ width, true, true }), width);
    }
}

TEST(what_is_wrong_has_a_line_of_its_own)
{
    struct progress_view view = a_view();
    const struct progress_style style = { .width = 100 };

    CHECK(str_find(block_of(&view, style), STR("trouble")) == block_of(&view, style).len, "none");
    view.sums.lost_ids = 3;
    view.sums.quarantined = 2;
    view.sums.given_back = 1;
    CHECK(str_ends(block_of(&view, style),
                   STR("  trouble   ids without a record 3  quarantined 2  put off 1\n")),
          "says so");
    view.trouble = "connection lost";
    CHECK(str_ends(block_of(&view, style), STR("  store     connection lost\n")), "the store");
}

TEST(a_plain_line_says_what_a_log_needs)
{
    struct progress_view view = a_view();
    struct buf out;

    (void)block_of(&view, (struct progress_style){ .width = 80 });
    buf_init(&out, &arena, 4096);
    view.eta.is_known = false;
    progress_line(&view, STR("crossref harvest"), &out);
    CHECK_STR(buf_str(&out),
              STR("crossref harvest:  48 %  12/25 slices  eta ?  records 12,345 (1,234/s)"
                  "  requests 98  429 1  waiting for a permit until 14:03:22Z (Retry-After)"),
              "one line");
}
