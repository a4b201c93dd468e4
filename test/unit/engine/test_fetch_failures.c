/* What a walk does about a source that refuses, fails, or sends what cannot be read. */
#include <stdio.h>
#include <string.h>

#include "engine/fetch/provider_text.h"
#include "fake_source.h"
#include "test.h"

static struct fake_source fake;

/* ---- waiting ---- */

static bool throttle_second(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static const struct http_header wait = { STR_INIT("Retry-After"), STR_INIT("30") };

    (void)self;
    reply->status = 429;
    reply->headers = &wait;
    reply->header_count = 1;
    return n == 2;
}

TEST(a_wait_is_slept_or_given_back)
{
    struct rig rig;
    int64_t slept_us;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    rig.gate.no_prefetch = true;
    fake.spoil = throttle_second;
    rig_run(&rig);
    slept_us = rig.clock.slept_us;
    fake_source_require_complete(&fake, &rig, "slept");
    CHECK(slept_us >= 30 * US_PER_SECOND, "thirty seconds");
    CHECK_EQ(rig.gate.throttled, 1, "the gate knows");
    CHECK_EQ(rig.gate.retry_after_us, 30 * US_PER_SECOND, "how long");
    CHECK_EQ(rig.sums.retry_afters, 1, "a wait was asked for");
    CHECK_EQ(rig.sums.slowed, 1, "and the rate lowered");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    rig.gate.no_prefetch = true;
    fake.spoil = throttle_second;
    rig.order.wait_max_us = 10 * US_PER_SECOND;
    rig_run(&rig);
    slept_us = rig.clock.slept_us;
    CHECK(rig.failed && rig.err.level == ERROR_TRANSIENT, "not slept");
    CHECK_EQ(slept_us, 0, "at all");
    CHECK(rig.last.retry_at_us >= clock_now_us(&rig.clock.clock) + 29 * US_PER_SECOND,
          "come back then");
    fake.spoil = NULL;
    rig_resume(&rig);
    fake_source_require_complete(&fake, &rig, "later");
    rig_release(&rig);
}

static bool quota_gone(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static const struct http_header reset = { STR_INIT("X-RateLimit-Reset"), STR_INIT("3600") };

    (void)self;
    reply->status = 429;
    reply->headers = &reset;
    reply->header_count = 1;
    return n == 1;
}

TEST(a_quota_that_is_used_up_gets_no_further_request)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    rig.spec.endpoint.rate.meaning_429 = MEANING_429_QUOTA;
    fake.spoil = quota_gone;
    rig_run(&rig);
    CHECK(rig.failed, "it ends");
    CHECK_STR(str_of(rig.err.code), STR("answer.quota"), "its code");
    CHECK_EQ(rig.http.sent.count, 1, "one request");
    CHECK_EQ(rig.gate.quota, 1, "the gate parks the source");
    CHECK_EQ(rig.last.retry_at_us, clock_now_us(&rig.clock.clock) + US_PER_HOUR, "until its reset");
    rig_release(&rig);
}

static bool refuse_each_tenth(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    reply->status = 429;
    return n % 10 == 0;
}

TEST(a_slice_that_is_refused_too_often_is_resliced_after_what_was_read)
{
    struct window finished;
    struct rig rig;
    int64_t before = 0;

    fake_source_begin(&fake, &rig, GENERIC, "time", 1440);
    rig.order.can_reslice = true;
    fake.spoil = refuse_each_tenth;
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.last.verdict.kind, FETCH_RESLICE, "cut");
    CHECK_EQ(rig.last.verdict.reslice, RESLICE_TOO_MANY_429, "because of that");
    finished = rig.last.verdict.finished;
    CHECK_EQ(finished.from_us, rig.slice.window.from_us, "from the beginning");
    CHECK(finished.to_us < rig.slice.window.to_us, "not to the end");
    for (size_t i = 0; i < rig.dates.count; i++)
        before += rig.dates.items[i] < finished.to_us;
    CHECK_EQ(before, (finished.to_us - finished.from_us) / US_PER_MINUTE, "a record a minute");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, GENERIC, "offset", 1440);
    rig.order.can_reslice = true;
    fake.spoil = refuse_each_tenth;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "what would have to be read again is read on");
    rig_release(&rig);
}

/* A list by offset that is sorted by date keeps what was read, too; and of a long one little is. */
TEST(a_list_of_pages_that_is_refused_too_often_is_resliced_where_that_costs_little)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 1440);
    rig.order.can_reslice = true;
    rig.spec.endpoint.page.order_by = STR("updated desc");
    rig.spec.endpoint.window.monotonic = true;
    fake.spoil = refuse_each_tenth;
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_RESLICE, "cut");
    CHECK_EQ(rig.last.verdict.reslice, RESLICE_TOO_MANY_429, "because of that");
    CHECK(window_is_valid(rig.last.verdict.finished), "what was read is kept");
    CHECK_EQ(rig.last.verdict.finished.to_us, rig.slice.window.to_us, "the newest");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, GENERIC, "offset", 1440);
    rig.order.can_reslice = true;
    rig.spec.endpoint.page.size = 10;
    fake.spoil = refuse_each_tenth;
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.reslice, RESLICE_TOO_MANY_429, "18 of 144 pages are read again");
    rig_release(&rig);
}

/* ---- pages that are slow or large ---- */

TEST(pages_that_are_slow_are_made_smaller_and_then_the_rest_is_resliced)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    fake.took_us = 4 * US_PER_SECOND;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "three of 40, three of 20, the rest of 10");
    CHECK_EQ(fake.served, 3 + 3 + 4, "no smaller");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, GENERIC, "time", 1440);
    rig.order.can_reslice = true;
    fake.took_us = 4 * US_PER_SECOND;
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_RESLICE, "the rest in pieces");
    CHECK_EQ(rig.last.verdict.reslice, RESLICE_SLOW, "because they stay slow");
    CHECK(window_is_valid(rig.last.verdict.finished), "after what was read");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    fake.took_us = 2 * US_PER_SECOND;
    rig_run(&rig);
    CHECK_EQ(fake.served, 6, "not slow enough");
    rig_release(&rig);
}

TEST(pages_above_five_megabytes_are_made_smaller)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    fake.padding = 150000; /* 6 MB on a page of 40 */
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "one of 40, the rest of 20");
    CHECK_EQ(fake.served, 1 + 9, "halved once");
    rig_release(&rig);
}

TEST(pages_above_five_megabytes_that_cannot_be_smaller_are_resliced)
{
    for (int can_reslice = 0; can_reslice <= 1; can_reslice++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, GENERIC, "time", 217);
        rig.order.can_reslice = can_reslice;
        rig.spec.endpoint.page.size_fixed = true;
        fake.padding = 150000; /* 6 MB on a page of 40 */
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.last.verdict.kind, can_reslice ? FETCH_RESLICE : FETCH_COMPLETE,
                 "in pieces where that is possible");
        if (can_reslice) {
            CHECK_EQ(rig.last.verdict.reslice, RESLICE_OVERSIZED, "because of their size");
            CHECK(window_is_valid(rig.last.verdict.finished), "after what was read");
        }
        rig_release(&rig);
    }
}

TEST(a_slice_that_runs_out_of_time_is_resliced_as_slow)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    rig.order.can_reslice = true;
    rig.order.duration_max_us = 3 * US_PER_SECOND;
    fake.took_us = 2 * US_PER_SECOND;
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_RESLICE, "in pieces");
    CHECK_EQ(rig.last.verdict.reslice, RESLICE_SLOW, "its time is over");
    rig_release(&rig);
}

static bool refuse_in_json(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static const struct http_header type = { STR_INIT("Content-Type"),
                                             STR_INIT("application/json") };

    reply->status = self->poison_status;
    reply->headers = &type;
    reply->header_count = 1;
    reply->body = STR("{\"error\":\"go away\"}");
    return n == 1;
}

/* The source has a rule for any response with an error in it: L1. */
TEST(a_rule_for_any_error_does_not_hide_429_and_401)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    fake.spoil = refuse_in_json;
    fake.poison_status = 429;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "asked again");
    CHECK_EQ(rig.gate.throttled, 1, "the gate hears that we are too fast");
    CHECK_EQ(rig.sums.throttled, 1, "it counts as a 429");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    fake.spoil = refuse_in_json;
    fake.poison_status = 401;
    rig_run(&rig);
    CHECK(rig.failed && rig.err.level == ERROR_FATAL, "credentials are a person's business");
    CHECK_EQ(rig.http.sent.count, 1, "and not tried again");
    rig_release(&rig);

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    fake.spoil = refuse_in_json;
    fake.poison_status = 400;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "of a 400 the rule says that it may pass");
    rig_release(&rig);
}

/* ---- the source's own words ---- */

enum { WORDS = 2000 };

static bool say_much(struct fake_source *self, int n, struct scripted_reply *reply)
{
    static const struct http_header type = { STR_INIT("Content-Type"),
                                             STR_INIT("application/json") };
    static char body[WORDS + 64];
    const size_t len = (size_t)snprintf(body, sizeof(body), "{\"error\":\"");

    (void)n;
    memset(body + len, 'x', WORDS);
    (void)snprintf(body + len + WORDS, sizeof(body) - len - WORDS, "\"}");
    reply->status = self->poison_status;
    reply->headers = &type;
    reply->header_count = 1;
    reply->body = str_of(body);
    return true;
}

/* What an error by a rule for this status says. */
static void fail_by_rule(struct rig *rig, int status)
{
    static int statuses[1];
    static const struct spec_rule rule = { .statuses = statuses,
                                           .status_count = 1,
                                           .meaning = RULE_ERROR,
                                           .level = ERROR_REQUEST,
                                           .code = STR_INIT("told") };

    statuses[0] = status;
    fake_source_begin(&fake, rig, GENERIC, "offset", 217);
    rig->spec.endpoint.response.error_when = (struct spec_rule_list){ &rule, 1 };
    fake.spoil = say_much;
    fake.poison_status = status;
    rig_run(rig);
    CHECK(rig->failed && strstr(rig->err.text, "by the rule told") != NULL, rig->err.text);
}

TEST(an_error_by_a_rule_quotes_the_beginning_of_the_source_s_words)
{
    struct rig rig;
    const char *words;

    fail_by_rule(&rig, 422);
    words = strstr(rig.err.text, "told: \"x");
    REQUIRE(words != NULL, rig.err.text);
    CHECK_EQ(strspn(words + strlen("told: \""), "x"), PROVIDER_TEXT_BYTES, "and no more");
    rig_release(&rig);
}

/* They may repeat the credential. */
TEST(an_error_by_a_rule_quotes_nothing_of_a_refused_access)
{
    static const int statuses[] = { 401, 403, 407 };

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        struct rig rig;

        fail_by_rule(&rig, statuses[i]);
        CHECK(strstr(rig.err.text, "xx") == NULL, rig.err.text);
        rig_release(&rig);
    }
}

TEST(a_gate_that_has_no_permit_in_time_ends_the_run)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    rig.gate.reject_after = 2;
    rig_run(&rig);
    CHECK(rig.failed, "it ends");
    CHECK_STR(str_of(rig.err.code), STR("fetch.rejected"), "its code");
    CHECK(fetch_error_is_rejected(&rig.err) && !fetch_error_is_cancelled(&rig.err), "its kind");
    CHECK_EQ(rig.ids.count, 80, "two pages came");
    CHECK(rig.last.retry_at_us > 0, "when to come back");
    rig.gate.reject_after = 0;
    rig_resume(&rig);
    fake_source_require_complete(&fake, &rig, "later");
    rig_release(&rig);
}

static bool fail_all(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    (void)n;
    reply->status = 503;
    return true;
}

/* Virtual time ignores file descriptors, so this clock ends a sleep itself. */
static bool stopped_sleep(struct clock *clock, int64_t until_us, int wake_fd)
{
    (void)clock;
    (void)until_us;
    return wake_fd == CLOCK_NO_WAKE;
}

TEST(a_cancelled_walk_stops_waiting)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    fake.spoil = fail_all;
    rig.parts.wake_fd = 3;
    rig.clock.clock.sleep_until_us = stopped_sleep;
    rig_run(&rig);
    CHECK(rig.failed, "it ends");
    CHECK_STR(str_of(rig.err.code), STR("fetch.cancelled"), "its code");
    CHECK(fetch_error_is_cancelled(&rig.err), "its kind");
    CHECK_EQ(rig.http.sent.count, 1, "at once");
    rig_release(&rig);
}

TEST(a_source_that_fails_is_given_up_after_its_attempts)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    fake.spoil = fail_all;
    rig_run(&rig);
    CHECK(rig.failed && rig.err.level == ERROR_TRANSIENT, "it may yet succeed");
    CHECK_EQ(rig.http.sent.count, 5, "five attempts");
    CHECK_EQ(rig.gate.failing, 5, "each told");
    CHECK(strstr(rig.err.text, "generic/offset: GET http://sim.example.org/generic/offset?") ==
              rig.err.text,
          "the text says what was asked for");
    CHECK(strstr(rig.err.text, "status 503") != NULL, "and what came");
    rig_release(&rig);
}

/* ---- responses that repeat secrets ---- */

/* NCBI responds like this, with 429 to a request too many and with 400 to an unknown key. */
static bool echo_key(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)n;
    reply->status = self->poison_status;
    reply->body = STR("{\"fault\":\"API key invalid\",\"api-key\":\"k3y-s3cr3t\",\"mail\":"
                      "\"jane.doe@example.org\",\"url\":\"/?api_key=k3y-s3cr3t&x=1\"}");
    return true;
}

TEST(a_key_that_a_response_repeats_is_not_kept)
{
    static const int statuses[] = { 200, 400, 404, 429, 500, 503 };

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, GENERIC, "offset", 90);
        rig.spec.endpoint.auth = (struct spec_auth){ .type = AUTH_API_KEY,
                                                     .location = AUTH_IN_QUERY,
                                                     .name = STR("api_key"),
                                                     .secret = STR("env:RIG_KEY") };
        fake.spoil = echo_key;
        fake.poison_status = statuses[i];
        rig_run(&rig);
        CHECK(rig.failed, "no answer");
        CHECK(strstr(rig.err.text, "s3cr3t") == NULL, rig.err.text);
        CHECK(str_find(rig.last.response_digest, STR("API key invalid")) <
                  rig.last.response_digest.len,
              "what it says is kept");
        CHECK(str_find(rig.last.response_digest, STR("s3cr3t")) == rig.last.response_digest.len,
              "the key is not");
        CHECK(str_find(rig.last.response_digest, STR("jane")) == rig.last.response_digest.len,
              "nor the address");
        rig_release(&rig);
    }
}

/* ---- what is kept of attempts ---- */

enum { FAILURES = 23 };

static bool fail_first(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    reply->status = n == 1 ? 503 : 500 + n;
    reply->body = STR("{\"message\":\"busy, write to jane.doe@example.org\"}");
    return n <= FAILURES;
}

static bool has(struct str text, const char *part)
{
    return str_find(text, str_of(part)) < text.len;
}

static void look_at_attempts(struct rig *rig, struct fetch *fetch, const struct fetch_batch *batch)
{
    const struct str digest = batch->response_digest;

    (void)fetch;
    if (rig->batches > 1) {
        CHECK(!has(digest, "attempts"), "they are of the first batch");
        return;
    }
    CHECK(has(digest, "\"attempts\":[{\"at\":\"20"), "when");
    CHECK(has(digest, "\"status\":503,\"code\":\"answer.status\",\"text\":\"status 503, "),
          "what, without the request");
    CHECK(has(digest, "busy, write to j***@example.org"), "its words, masked");
    CHECK(has(digest, "\"waitMs\":"), "how long it waited");
    CHECK(has(digest, "\"status\":502,"), "the second");
    CHECK(has(digest, "\"status\":519,"), "the last that has room");
    CHECK(!has(digest, "\"status\":521,"), "one that has none");
    CHECK(has(digest, "\"status\":523,"), "the last of all");
    CHECK(has(digest, "\"attemptsLeftOut\":3"), "how many have none");
}

TEST(every_attempt_is_kept_with_its_time_reason_and_wait)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 217);
    rig.spec.endpoint.retry.max_attempts = 100;
    rig.gate.no_prefetch = true;
    fake.spoil = fail_first;
    rig.look = look_at_attempts;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "in the end");
    CHECK_EQ(rig.sums.retries, FAILURES, "as many as that");
    rig_release(&rig);
}

/* ---- bad records ---- */

static bool one_without_id(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    reply->body = STR("{\"items\":[{\"id\":\"a\",\"updated_at\":\"2026-01-01T00:00:00Z\"},"
                      "{\"updated_at\":\"2026-01-01T00:00:00Z\"},"
                      "{\"id\":\"c\"},{\"id\":\"d\",\"updated_at\":\"soon\"}],\"total\":4}");
    return n >= 1;
}

TEST(bad_records_are_quarantined_and_the_walk_continues)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 4);
    fake.spoil = one_without_id;
    rig_run(&rig);
    CHECK(!rig.failed, "the page is good");
    CHECK_EQ(rig.ids.count, 1, "one record");
    CHECK_EQ(rig.bad.count, 3, "three bad ones");
    CHECK_STR(rig.bad.items[0], STR(" id.missing"), "no id");
    CHECK_STR(rig.bad.items[1], STR("c date.missing"), "no date");
    CHECK_STR(rig.bad.items[2], STR("d date.syntax"), "no date that can be read");
    CHECK_EQ(rig.http.sent.count, 2, "the page was looked at twice");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "all four came");
    rig_release(&rig);
}

static bool date_is_an_address(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    reply->body = STR("{\"items\":[{\"id\":\"a\",\"updated_at\":\"by jane.doe@example.org\"}],"
                      "\"total\":1}");
    return n >= 1;
}

static void look_at_detail(struct rig *rig, struct fetch *fetch, const struct fetch_batch *batch)
{
    (void)rig;
    (void)fetch;
    for (size_t i = 0; i < batch->bad_count; i++)
        CHECK_STR(batch->bad[i].detail, STR("$.updated_at: \"by j***@example.org\""), "its detail");
}

TEST(the_detail_of_a_bad_record_has_no_personal_data)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 1);
    fake.spoil = date_is_an_address;
    rig.look = look_at_detail;
    rig_run(&rig);
    CHECK_EQ(rig.bad.count, 1, "one bad record");
    rig_release(&rig);
}

static bool odd_version(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    reply->body = STR("{\"items\":[{\"id\":\"a\",\"updated_at\":\"2026-01-01T00:00:00Z\","
                      "\"version\":\"1\\u0000\"},{\"id\":\"b\",\"updated_at\":"
                      "\"2026-01-01T00:00:00Z\",\"version\":\"2\"}],\"total\":2}");
    return n >= 1;
}

/* No store keeps a NUL in a text, and the whole batch would fail because of one record. */
TEST(a_version_with_a_nul_in_it_is_one_bad_record)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 2);
    fake.spoil = odd_version;
    rig_run(&rig);
    CHECK(!rig.failed, "the page is good");
    CHECK_EQ(rig.ids.count, 1, "one record");
    REQUIRE(rig.bad.count == 1, "one bad one");
    CHECK_STR(rig.bad.items[0], STR("a version.invalid"), "and why");
    rig_release(&rig);
}

static bool bad_once(struct fake_source *self, int n, struct scripted_reply *reply)
{
    return n == 1 && one_without_id(self, n, reply);
}

TEST(a_second_response_may_have_a_good_record)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 4);
    fake.spoil = bad_once;
    rig_run(&rig);
    fake_source_require_complete(&fake, &rig, "mended");
    CHECK_EQ(rig.bad.count, 0, "nothing is put away");
    rig_release(&rig);
}

static bool another_shape(struct fake_source *self, int n, struct scripted_reply *reply)
{
    (void)self;
    (void)n;
    reply->body = STR("{\"items\":[{\"key\":1},{\"key\":2},{\"key\":3},{\"key\":4},{\"key\":5}],"
                      "\"total\":5}");
    return true;
}

TEST(a_source_that_has_changed_its_shape_stops)
{
    struct rig rig;

    fake_source_begin(&fake, &rig, GENERIC, "offset", 4);
    fake.spoil = another_shape;
    rig_run(&rig);
    CHECK(rig.failed && rig.err.level == ERROR_FATAL, "a person must look");
    CHECK_STR(str_of(rig.err.code), STR("listing.schema"), "its code");
    CHECK_EQ(rig.http.sent.count, 2, "it was looked at twice");
    rig_release(&rig);
}

/* ---- a body that ends with the connection, wherever that broke ---- */

TEST(a_page_that_was_cut_anywhere_is_no_page)
{
    size_t whole = 0;
    bool is_whole = false;

    for (size_t kept = 1; !is_whole; kept++) {
        struct rig rig;

        fake_source_begin(&fake, &rig, GENERIC, "offset", 3);
        rig.gate.no_prefetch = true;
        fake.kept = kept;
        rig_run(&rig);
        is_whole = fake.kept == 0; /* there was nothing to cut off */
        whole = kept;
        CHECK(is_whole || rig.http.sent.count > 1, "it is requested again");
        fake_source_require_complete(&fake, &rig, "nothing is lost");
        rig_release(&rig);
    }
    CHECK(whole > 50, "at every byte");
}
