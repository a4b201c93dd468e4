/* What the log of a service says about its tasks, on events made by hand. */
#include "worker/task_log.h"

#include <string.h>
#include <unistd.h>

#include "test.h"

#define T0 INT64_C(1767225600000000)

static struct log log_to;
static struct task_log task_log;
static int ends[2];
static char written[16384];

static const struct task_partition partition = { .source = STR_INIT("crossref"),
                                                 .endpoint = STR_INIT("works"),
                                                 .operation = OPERATION_HARVEST };
static const struct task task = { .id = 7,
                                  .schedule_instance_id = 1,
                                  .lease_owner = STR_INIT("host:1:7f/3"),
                                  .lease_epoch = 4,
                                  .lease_count = 2,
                                  .leased_until_us = T0 + US_PER_MINUTE,
                                  .plan_id = 2,
                                  .slice_id = 5,
                                  .source = STR_INIT("crossref"),
                                  .endpoint = STR_INIT("works"),
                                  .operation = OPERATION_HARVEST,
                                  .window = { T0, T0 + US_PER_DAY } };

static int64_t now_us(void *context)
{
    (void)context;
    return T0;
}

static struct executor_watch *begin(enum log_level level, uint32_t sample_every)
{
    REQUIRE(pipe(ends) == 0, "a pipe");
    log_to = (struct log){
        .fd = ends[1], .level = level, .now_us = now_us, .sample_every = sample_every
    };
    return task_log_init(&task_log, &log_to, 3);
}

/* All that was written; at most once per begin. */
static const char *end(void)
{
    ssize_t len;

    (void)close(ends[1]);
    len = read(ends[0], written, sizeof(written) - 1);
    written[len > 0 ? len : 0] = '\0';
    (void)close(ends[0]);
    return written;
}

static void see(struct executor_watch *watch, struct executor_event event)
{
    event.task = &task;
    event.run_id = 9;
    event.now_us = T0;
    watch->see(watch, &event);
}

static void see_ending(struct executor_watch *watch, const struct ending *ending)
{
    see(watch, (struct executor_event){ .kind = EXECUTOR_STARTED });
    see(watch, (struct executor_event){ .kind = EXECUTOR_ENDED, .ending = ending });
}

static size_t lines(const char *text)
{
    size_t count = 0;

    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

static bool says(const char *part)
{
    return strstr(written, part) != NULL;
}

TEST(a_fatal_error_is_an_error_line_and_says_what_to_do)
{
    struct executor_watch *watch = begin(LOG_INFO, 100);

    see_ending(watch, &(struct ending){ .kind = ENDING_FINAL,
                                        .status = TASK_FAILED,
                                        .is_stop = true,
                                        .text = "status 401" });
    (void)end();
    CHECK_EQ(lines(written), 3, "that it was taken, its end, and the source");
    CHECK(says("warn task failed source=crossref endpoint=works operation=HARVEST schedule=1 plan=2"
               " slice=5 task=7 run=9 correlationId=ing-9-0"),
          "with its lineage");
    CHECK(says("error source stopped source=crossref endpoint=works"), "the source");
    CHECK(says("reason=\"status 401\""), "the reason");
    CHECK(says("patra resume crossref"), "and how to resume it");
}

TEST(how_a_task_ended_shows_in_the_level)
{
    static const struct {
        struct ending ending;
        const char *line;
    } cases[] = {
        { { .kind = ENDING_FINAL, .status = TASK_SUCCEEDED }, "info task succeeded" },
        { { .kind = ENDING_FINAL, .status = TASK_CANCELLED }, "info task cancelled" },
        { { .kind = ENDING_FINAL, .status = TASK_PARTIAL }, "warn task partial" },
        { { .kind = ENDING_FINAL, .status = TASK_FAILED }, "warn task failed" },
        { { .kind = ENDING_LATER, .is_outage = true, .retry_at_us = T0 + 1 }, "warn task put off" },
        { { .kind = ENDING_LATER, .retry_at_us = T0 + 1 }, "info task put off" },
        { { .kind = ENDING_LATER, .retry_at_us = T0 }, "info task given back" },
        { { .kind = ENDING_OVERTAKEN }, "warn task overtaken" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct executor_watch *watch = begin(LOG_INFO, 100);

        see_ending(watch, &cases[i].ending);
        (void)end();
        CHECK(says(cases[i].line), cases[i].line);
        CHECK_EQ(lines(written), 2, "that it was taken, and its end");
    }
}

TEST(a_task_that_is_put_off_says_what_it_waits_for)
{
    struct executor_watch *watch = begin(LOG_INFO, 100);

    see_ending(watch, &(struct ending){ .kind = ENDING_LATER,
                                        .retry_at_us = T0 + US_PER_MINUTE,
                                        .retry_reason = WAIT_RETRY_AFTER,
                                        .text = "status 429" });
    (void)end();
    CHECK(says("until=2026-01-01T00:01:00Z waiting_for=Retry-After reason=\"status 429\""),
          "until when, for what, and what happened");
}

TEST(a_task_that_is_given_back_waits_for_nothing)
{
    struct executor_watch *watch = begin(LOG_INFO, 100);

    see_ending(watch, &(struct ending){ .kind = ENDING_LATER,
                                        .retry_at_us = T0,
                                        .retry_reason = WAIT_BACKOFF,
                                        .text = "its worker stopped" });
    (void)end();
    CHECK(says("reason=\"its worker stopped\"") && !says("back-off") && !says(" until="),
          "it may go on");
}

static void see_batch(struct executor_watch *watch, int64_t number, const struct error *err)
{
    const struct commit_result commit = { .is_held = true, .created = 3 };
    const struct fetch_batch batch = { .batch_no = number,
                                       .counts = { .requests = 1, .items = 4 } };

    see(watch, (struct executor_event){ .kind = EXECUTOR_BATCH,
                                        .batch = &batch,
                                        .commit = err == NULL ? &commit : NULL,
                                        .err = err });
}

TEST(batches_are_sampled_and_failures_are_not)
{
    struct executor_watch *watch = begin(LOG_INFO, 10);
    struct error err;

    (void)error_set(&err, ERROR_TRANSIENT, "http.reset", "gone");
    see(watch, (struct executor_event){ .kind = EXECUTOR_STARTED });
    for (int i = 1; i <= 10; i++)
        see_batch(watch, i, NULL);
    see_batch(watch, 11, &err);
    see_batch(watch, 12, &err);
    see(watch, (struct executor_event){
                   .kind = EXECUTOR_ENDED,
                   .ending = &(struct ending){ .kind = ENDING_FINAL, .status = TASK_SUCCEEDED } });
    (void)end();
    CHECK_EQ(lines(written), 1 + 1 + 2 + 1, "the begin, one batch of ten, both failures, the end");
    CHECK(says("correlationId=ing-9-1"), "the id that the request carried");
    CHECK(says("warn batch failed"), "failures");
    CHECK(says("errorLevel=L1 code=http.reset error=gone status=0"),
          "by code; the line has a level of its own");
    CHECK(says("batches=10 requests=12 created=30"), "and the sums at the end");
}

TEST(a_store_that_is_out_of_reach_is_logged_once)
{
    struct executor_watch *watch = begin(LOG_INFO, 1);
    struct error err;

    (void)error_set(&err, ERROR_TRANSIENT, "store.lost", "connection refused");
    see(watch, (struct executor_event){ .kind = EXECUTOR_STARTED }); /* whose worker is known */
    for (int i = 0; i < 5; i++) {
        see(watch, (struct executor_event){ .kind = EXECUTOR_TROUBLE, .err = &err });
        see(watch, (struct executor_event){ .kind = EXECUTOR_WAITING });
    }
    see(watch, (struct executor_event){ .kind = EXECUTOR_IDLE });
    see(watch, (struct executor_event){ .kind = EXECUTOR_IDLE });
    (void)end();
    CHECK_EQ(lines(written), 3, "that the task was taken; its begin and its end");
    CHECK(says("warn store out of reach worker=3 code=store.lost error=\"connection refused\""),
          "begin");
    CHECK(says("info store answers"), "end");
}

TEST(long_waits_and_an_open_circuit_are_logged)
{
    struct executor_watch *watch = begin(LOG_INFO, 1);

    see(watch, (struct executor_event){
                   .kind = EXECUTOR_WAITING, .until_us = T0 + US_PER_SECOND, .reason = WAIT_RATE });
    see(watch, (struct executor_event){ .kind = EXECUTOR_WAITING,
                                        .until_us = T0 + US_PER_MINUTE,
                                        .reason = WAIT_RETRY_AFTER });
    for (int i = 0; i < 3; i++)
        see(watch, (struct executor_event){ .kind = EXECUTOR_IDLE,
                                            .until_us = T0 + US_PER_MINUTE,
                                            .reason = WAIT_CIRCUIT,
                                            .partition = &partition });
    (void)end();
    CHECK_EQ(lines(written), 2, "a second is routine, and a circuit is logged once");
    CHECK(says("info waiting for a permit source=crossref"), "who waits");
    CHECK(says("until=2026-01-01T00:01:00Z reason=Retry-After"), "until when and why");
    CHECK(says("warn circuit open worker=3 source=crossref endpoint=works operation=HARVEST"
               " healing=circuitOpen until=2026-01-01T00:01:00Z"),
          "the circuit");
}

/* ---- what was asked of the lines: 004 section 14.5 ---- */

static void see_everything(struct executor_watch *watch)
{
    const struct commit_result commit = { .is_held = true, .created = 3, .batch_id = 77 };
    const struct fetch_batch batch = { .batch_no = 1,
                                       .page_size = 50,
                                       .counts = { .requests = 2,
                                                   .items = 4,
                                                   .status = 200,
                                                   .slowed = 1,
                                                   .throttled = 1,
                                                   .page_shrunk = true } };
    const struct fetch_batch bad = { .batch_no = 2,
                                     .response_digest = STR(
                                         "{\"status\":400,\"sample\":\"sha256:ab12\",\"x\":\"y\"}"),
                                     .counts = { .requests = 1, .status = 400 } };
    struct error err;

    (void)error_set(&err, ERROR_REQUEST, "response.status",
                    "$.message.items: mail jane.doe@example.org");
    see(watch, (struct executor_event){ .kind = EXECUTOR_STARTED });
    see(watch, (struct executor_event){
                   .kind = EXECUTOR_WAITING, .until_us = T0 + US_PER_MINUTE, .reason = WAIT_RATE });
    see(watch,
        (struct executor_event){ .kind = EXECUTOR_BATCH, .batch = &batch, .commit = &commit });
    see(watch, (struct executor_event){ .kind = EXECUTOR_BATCH, .batch = &bad, .err = &err });
    see(watch, (struct executor_event){ .kind = EXECUTOR_ENDED,
                                        .ending = &(struct ending){ .kind = ENDING_FINAL,
                                                                    .status = TASK_PARTIAL,
                                                                    .needs_reslice = true,
                                                                    .text = "too deep" } });
}

TEST(every_line_of_a_task_names_where_it_belongs)
{
    static const char *const fields[] = { " source=",   " endpoint=", " operation=",
                                          " schedule=", " plan=",     " slice=",
                                          " task=",     " run=",      " correlationId=ing-9-" };
    struct executor_watch *watch = begin(LOG_INFO, 1);
    struct str rest;

    see_everything(watch);
    rest = str_of(end());
    CHECK_EQ(lines(written), 8, "taken, waiting, lowered, smaller, stored, failed, partial, cut");
    while (rest.len > 0) {
        const struct str line = str_cut(&rest, '\n');

        for (size_t i = 0; i < ARRAY_LEN(fields); i++)
            CHECK(str_find(line, str_of(fields[i])) < line.len, fields[i]);
    }
}

TEST(what_is_done_about_trouble_and_what_it_was_is_written_without_personal_data)
{
    struct executor_watch *watch = begin(LOG_INFO, 1);

    see_everything(watch);
    (void)end();
    CHECK(says("info task taken") && says(" worker=3 owner=host:1:7f/3 epoch=4 leases=2"
                                          " leased_until=2026-01-01T00:01:00Z"),
          "the lease and the slot");
    CHECK(says("info batch committed") && says(" batch=77 items=4"), "a batch, by its id");
    CHECK(says("warn rate lowered") && says(" healing=qpsDownshift times=1"), "slower");
    CHECK(says("warn pages made smaller") && says(" healing=pageSizeShrink page_size=50"),
          "smaller");
    CHECK(says("warn slice to be re-sliced") && says(" healing=reslice reason=\"too deep\""),
          "cut");
    CHECK(says("errorLevel=L2 code=response.status error=\"$.message.items: "),
          "path of the field");
    CHECK(says(" status=400 sample=sha256:ab12 requests=1"), "the hash of what came");
    CHECK(!says("jane.doe"), "no address of a person");
}
