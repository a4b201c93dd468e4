/* Walks from the first request to the verdict, against sources that are played here: they have so
 * many records, answer by what a request asks for, and misbehave as a test wants it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "data/url.h"
#include "engine/fetch/request.h"
#include "fetch_rig.h"
#include "test.h"

#define GENERIC "test/data/fetch/generic.yaml"
#define DETAILS "test/data/fetch/details.yaml"
#define BASE "http://sim.example.org"

/* ---- a source with records r000, r001, ... ---- */

struct played {
    int records;
    int64_t total; /* told; -1: none */
    int served;    /* requests so far */
    int scroll_at; /* a scroll's place */
    int scrolls;   /* begun */
    int page_cap;  /* larger pages are too large; 0: none */
    int poison;    /* the record that can not be had; -1: none */
    int poison_status;
    int gone; /* the record that details do not have; -1: none */
    int session;
    int session_dies_at; /* request number; 0: never */
    bool moves;          /* a record comes in front with each request */
    /* Spoils the n-th request, counted from 1; true: *reply is the answer. */
    bool (*spoil)(struct played *played, int n, struct memory_reply *reply);
    struct rig *rig;
};

static struct played played;

static struct str param(struct arena *arena, const struct http_request *request, const char *name)
{
    const size_t mark = str_find_char(request->url, '?');
    struct str value;

    if (!url_query_find(arena, str_slice(request->url, mark + 1, request->url.len), str_of(name),
                        &value))
        return (struct str){ NULL, 0 };
    return value;
}

static int number(struct arena *arena, const struct http_request *request, const char *name,
                  int preset)
{
    int64_t value;

    return str_to_i64(param(arena, request, name), &value) ? (int)value : preset;
}

/* Dates go down by a minute, from the newest, so that a list can be sorted by them. */
static void add_record(struct buf *out, int index)
{
    const int minute = 24 * 60 - 1 - index % (24 * 60);

    buf_printf(out, "{\"id\":\"r%03d\",\"updated_at\":\"2026-01-01T%02d:%02d:00Z\"}", index,
               minute / 60, minute % 60);
}

static void add_range(struct buf *out, int from, int count, bool ids_only)
{
    for (int i = from; i < from + count && i < played.records; i++) {
        if (i > from)
            buf_add_char(out, ',');
        if (ids_only)
            buf_printf(out, "\"r%03d\"", i);
        else
            add_record(out, i);
    }
}

static void add_total(struct buf *out)
{
    if (played.total >= 0)
        buf_printf(out, ",\"total\":%lld", (long long)played.total);
}

static void serve_list(struct arena *arena, const struct http_request *request, struct buf *out)
{
    int from = number(arena, request, "offset", 0);
    int size = number(arena, request, "limit", number(arena, request, "size", 100));

    if (str_find(request->url, STR("page0")) < request->url.len)
        from = number(arena, request, "page", 0) * size;
    if (played.moves)
        from -= played.served - 1;
    buf_add(out, str_find(request->url, STR("/sorted")) < request->url.len ? STR("{\"records\":[")
                                                                           : STR("{\"items\":["));
    add_range(out, from > 0 ? from : 0, size, false);
    buf_add_char(out, ']');
    add_total(out);
    buf_add_char(out, '}');
}

static void serve_next(struct arena *arena, const struct http_request *request, struct buf *out)
{
    const int size = number(arena, request, "size", 100);
    const int page = number(arena, request, "page", 1);

    buf_add(out, STR("{\"items\":["));
    add_range(out, (page - 1) * size, size, false);
    buf_add(out, STR("],\"next\":"));
    if (page * size < played.records)
        buf_printf(out, "\"/generic/next?page=%d&size=%d&api_key=ECHOED\"", page + 1, size);
    else
        buf_add(out, STR("null"));
    add_total(out);
    buf_add_char(out, '}');
}

static int json_number(struct str body, const char *name, int preset)
{
    const struct str key = str_of(name);
    const size_t at = str_find(body, key);

    return at < body.len
               ? atoi(body.data + at + key.len + (body.data[at + key.len + 2] == '"' ? 3 : 2))
               : preset;
}

static void serve_token(const struct http_request *request, struct buf *out)
{
    const int size = json_number(request->body, "size", 40);
    const int from = json_number(request->body, "token", 0);

    buf_add(out, STR("{\"items\":["));
    add_range(out, from, size, false);
    buf_add(out, STR("],\"nextToken\":"));
    if (from + size < played.records)
        buf_printf(out, "\"%d\"", from + size);
    else
        buf_add(out, STR("null"));
    add_total(out);
    buf_add_char(out, '}');
}

static void serve_scroll(struct arena *arena, const struct http_request *request, struct buf *out)
{
    const int size = 20;

    if (str_eq(param(arena, request, "cursor"), STR("*"))) {
        played.scroll_at = 0;
        played.scrolls++;
    }
    buf_add(out, STR("{\"status\":\"ok\",\"message\":{\"next-cursor\":\"SCROLL\",\"items\":["));
    for (int i = played.scroll_at; i < played.scroll_at + size && i < played.records; i++)
        buf_printf(out, "%s{\"DOI\":\"10.1/R%03d\",\"indexed\":{\"timestamp\":1767225600000}}",
                   i > played.scroll_at ? "," : "", i);
    played.scroll_at += size;
    buf_printf(out, "],\"total-results\":%d}}", played.records);
}

static void serve_ids(struct arena *arena, const struct http_request *request, struct buf *out)
{
    buf_add(out, STR("{\"ids\":["));
    add_range(out, number(arena, request, "offset", 0), number(arena, request, "limit", 20), true);
    buf_add_char(out, ']');
    add_total(out);
    buf_add_char(out, '}');
}

static int serve_fetch(struct arena *arena, const struct http_request *request, struct buf *out)
{
    struct str ids = param(arena, request, "ids");
    bool any = false;

    buf_add(out, STR("{\"records\":["));
    while (ids.len > 0) {
        const struct str id = str_cut(&ids, ',');
        const int index = atoi(id.data + 1);

        if (index == played.poison)
            return played.poison_status;
        if (index == played.gone)
            continue;
        if (any)
            buf_add_char(out, ',');
        any = true;
        add_record(out, index);
    }
    buf_add(out, STR("]}"));
    return 200;
}

static void serve_history(struct buf *out)
{
    played.session++;
    buf_printf(out, "{\"ids\":[],\"total\":%d,\"session\":\"S%d\"}", played.records,
               played.session);
}

static void serve_more(struct arena *arena, const struct http_request *request, struct buf *out)
{
    const struct str session = param(arena, request, "session");

    if (played.served == played.session_dies_at || atoi(session.data + 1) != played.session) {
        buf_add(out, STR("{\"gone\":true,\"records\":[]}"));
        return;
    }
    buf_add(out, STR("{\"records\":["));
    add_range(out, number(arena, request, "offset", 0), number(arena, request, "limit", 20), false);
    buf_add(out, STR("]}"));
}

/* By date, the oldest first: minute m of the day is record 1439 - m. */
static void serve_time(struct arena *arena, const struct http_request *request, struct buf *out)
{
    const struct str from = param(arena, request, "from");
    int left = number(arena, request, "size", 40);

    buf_add(out, STR("{\"items\":["));
    for (int m = atoi(from.data + 11) * 60 + atoi(from.data + 14); m < 24 * 60 && left > 0; m++) {
        if (24 * 60 - 1 - m >= played.records)
            continue;
        add_record(out, 24 * 60 - 1 - m);
        if (--left > 0 && m < 24 * 60 - 1)
            buf_add_char(out, ',');
    }
    buf_add(out, STR("]}"));
}

static bool is_at(const struct http_request *request, const char *path)
{
    return str_find(request->url, str_of(path)) < request->url.len;
}

static void serve(void *context, struct arena *arena, const struct http_request *request,
                  struct memory_reply *reply)
{
    struct memory_reply spoilt = *reply;
    struct buf out;
    int size;

    (void)context;
    reply->status = 200;
    spoilt.status = 200;
    played.served++;
    if (played.spoil != NULL && played.spoil(&played, played.served, &spoilt)) {
        *reply = spoilt;
        return;
    }
    size = number(arena, request, "limit", number(arena, request, "size", 0));
    if (played.page_cap > 0 && size > played.page_cap) {
        reply->status = 0;
        reply->error_code = "http.too_large";
        return;
    }
    buf_init(&out, arena, 1 << 20);
    if (is_at(request, "/works"))
        serve_scroll(arena, request, &out);
    else if (is_at(request, "/generic/next"))
        serve_next(arena, request, &out);
    else if (is_at(request, "/generic/token"))
        serve_token(request, &out);
    else if (is_at(request, "/generic/time"))
        serve_time(arena, request, &out);
    else if (is_at(request, "/ids"))
        serve_ids(arena, request, &out);
    else if (is_at(request, "/fetch"))
        reply->status = serve_fetch(arena, request, &out);
    else if (is_at(request, "/history"))
        serve_history(&out);
    else if (is_at(request, "/more"))
        serve_more(arena, request, &out);
    else
        serve_list(arena, request, &out);
    reply->body = buf_str(&out);
}

static void begin(struct rig *rig, const char *file, const char *operation, int records)
{
    played = (struct played){
        .records = records, .total = records, .poison = -1, .gone = -1, .rig = rig
    };
    rig_init(rig, file, operation, BASE);
    memory_http_reply(&rig->http, &(struct memory_reply){ .make = serve, .times = -1 });
}

static void require_complete(const struct rig *rig, const char *label)
{
    if (rig->failed)
        test_fail(__FILE__, __LINE__, "%s: %s", label, rig->err.text);
    CHECK_STR(str_of(fetch_verdict_name(rig->last.verdict.kind)), STR("complete"), label);
    CHECK_EQ(rig->ids.count, played.records, label);
}

/* ---- going on after a crash ---- */

TEST(a_walk_goes_on_behind_any_batch_and_asks_for_nothing_twice)
{
    static const char *const operations[] = { "offset", "page0", "token", "next", "offset_blind" };

    for (size_t o = 0; o < ARRAY_LEN(operations); o++) {
        for (int stop = 1; stop <= 7; stop++) {
            struct rig rig;
            struct rig_texts urls = { 0 };

            begin(&rig, GENERIC, operations[o], 217);
            rig.gate.no_prefetch = true;
            rig.stop_after = stop;
            rig_run(&rig);
            rig.stop_after = 0;
            if (!rig.last.is_last)
                rig_resume(&rig);
            require_complete(&rig, operations[o]);
            if (strcmp(operations[o], "offset_blind") != 0)
                CHECK(rig.last.verdict.is_proven, "numbers survive the break");
            for (size_t i = 0; i < rig.http.sent.count; i++) {
                const struct str what =
                    arena_printf(&rig.arena, "%.*s %.*s", STR_ARG(rig.http.sent.items[i].url),
                                 STR_ARG(rig.http.sent.items[i].body));

                CHECK(!rig_has(&urls, what), "no page is asked for twice");
                urls.items = arena_grow(&rig.arena, urls.items, urls.count * sizeof(what),
                                        (urls.count + 1) * sizeof(what));
                urls.items[urls.count++] = what;
            }
            rig_release(&rig);
        }
    }
}

TEST(two_phases_go_on_behind_any_batch)
{
    for (int stop = 1; stop <= 9; stop++) {
        struct rig rig;

        begin(&rig, DETAILS, "harvest", 77);
        played.gone = 5;
        rig.stop_after = stop;
        rig_run(&rig);
        rig.stop_after = 0;
        if (!rig.last.is_last)
            rig_resume(&rig);
        if (rig.failed)
            test_fail(__FILE__, __LINE__, "stop %d: %s", stop, rig.err.text);
        CHECK_EQ(rig.ids.count, 76, "all but one");
        CHECK_EQ(rig.listed.count, 77, "all were listed");
        CHECK_EQ(rig.lost.count, 1, "and one is lost");
        CHECK_EQ(rig.last.verdict.lost_ids, 1, "counted over both runs");
        CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "an answer for every id");
        rig_release(&rig);
    }
}

TEST(a_checkpoint_that_is_damaged_is_refused)
{
    static const char *const texts[] = { "no json",
                                         "{}",
                                         "{\"v\":2}",
                                         "{\"v\":1,\"page\":{\"number\":\"x\"}}",
                                         "{\"v\":1,\"end\":\"nowhere\"}",
                                         "{\"v\":1,\"end\":\"\",\"page\":{\"tokenHex\":\"0\"}}",
                                         "{\"v\":1,\"end\":\"\",\"proof\":{\"tail\":\"xyz\"}}" };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct fetch *fetch = NULL;
        struct rig rig;

        begin(&rig, GENERIC, "offset", 5);
        rig.order.checkpoint = str_of(texts[i]);
        CHECK(!fetch_open(&fetch, &rig.parts, &rig.order, &rig.err), texts[i]);
        CHECK_STR(str_of(rig.err.code), STR("fetch.checkpoint"), texts[i]);
        CHECK_EQ(rig.err.level, ERROR_FATAL, "a person must look");
        rig_release(&rig);
    }
}

TEST(ids_that_were_not_kept_are_missed)
{
    struct fetch *fetch = NULL;
    struct rig rig;

    begin(&rig, DETAILS, "harvest", 77);
    rig.stop_after = 3;
    rig_run(&rig);
    rig.order.checkpoint = rig.checkpoint; /* and no ids */
    CHECK(!fetch_open(&fetch, &rig.parts, &rig.order, &rig.err), "without them it can not go on");
    CHECK_STR(str_of(rig.err.code), STR("fetch.checkpoint"), "its code");
    rig_release(&rig);
}

/* ---- scrolls ---- */

static bool lose_third(struct played *self, int n, struct memory_reply *reply)
{
    if (n != 3)
        return false;
    self->scroll_at += 20; /* the source has moved on */
    reply->status = 0;
    reply->error_code = "http.reset";
    return true;
}

TEST(a_lost_page_of_a_scroll_begins_the_walk_anew)
{
    struct rig rig;

    begin(&rig, "sources/crossref.yaml", "harvest", 95);
    played.spoil = lose_third;
    rig_run(&rig);
    require_complete(&rig, "scroll");
    CHECK(rig.last.verdict.is_proven, "95 of 95");
    CHECK_EQ(played.scrolls, 2, "begun twice");
    CHECK_EQ(rig.last.verdict.restarts, 1, "and told");
    CHECK_EQ(rig.gate.prefetched, 0, "nothing is asked for ahead");
    CHECK_EQ(rig.befores.count, 0, "a token that stays the same is no key");
    rig_release(&rig);
}

static bool refuse_third(struct played *self, int n, struct memory_reply *reply)
{
    (void)self;
    reply->status = 429;
    return n == 3;
}

TEST(a_refusal_leaves_a_scroll_where_it_was)
{
    struct rig rig;

    begin(&rig, "sources/crossref.yaml", "harvest", 95);
    played.spoil = refuse_third;
    rig_run(&rig);
    require_complete(&rig, "scroll");
    CHECK_EQ(played.scrolls, 1, "begun once");
    CHECK_EQ(rig.sums.retries, 1, "asked again");
    rig_release(&rig);
}

static bool lose_each_second(struct played *self, int n, struct memory_reply *reply)
{
    (void)self;
    reply->status = 500;
    return n % 2 == 0;
}

TEST(a_walk_that_is_lost_too_often_gives_up)
{
    struct rig rig;

    begin(&rig, "sources/crossref.yaml", "harvest", 95);
    played.spoil = lose_each_second;
    rig_run(&rig);
    CHECK(rig.failed, "it can not succeed");
    CHECK_STR(str_of(rig.err.code), STR("fetch.restarts"), "its code");
    CHECK_EQ(rig.err.level, ERROR_TRANSIENT, "another time, perhaps");
    CHECK_EQ(played.scrolls, FETCH_RESTARTS_MAX + 1, "as often as allowed");
    rig_release(&rig);
}

TEST(a_scroll_is_not_resumed_in_the_middle)
{
    struct rig rig;

    begin(&rig, "sources/crossref.yaml", "harvest", 95);
    rig.stop_after = 2;
    rig_run(&rig);
    rig.stop_after = 0;
    rig_resume(&rig);
    require_complete(&rig, "scroll");
    CHECK_EQ(played.scrolls, 2, "begun anew");
    CHECK(rig.last.verdict.is_proven, "and proven by itself");
    rig_release(&rig);
}

/* ---- tokens that expire ---- */

static bool expire_third(struct played *self, int n, struct memory_reply *reply)
{
    (void)self;
    reply->status = 410;
    return n == 3;
}

TEST(an_expired_token_is_no_end)
{
    struct rig rig;

    begin(&rig, GENERIC, "token", 150);
    played.spoil = expire_third;
    rig_run(&rig);
    require_complete(&rig, "token");
    CHECK_EQ(rig.last.verdict.restarts, 1, "from the beginning");
    rig_release(&rig);
}

/* ---- sizes ---- */

TEST(pages_shrink_until_they_fit)
{
    static const char *const operations[] = { "offset", "page0", "token" };

    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        struct rig rig;

        begin(&rig, GENERIC, operations[i], 99);
        played.page_cap = 12; /* of 40 asked for */
        rig_run(&rig);
        require_complete(&rig, operations[i]);
        if (strcmp(operations[i], "token") != 0)
            CHECK(rig.sums.page_shrunk, "told");
        rig_release(&rig);
    }
}

TEST(a_page_that_can_not_be_smaller_cuts_the_slice)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset", 99);
    played.page_cap = 2; /* size_min is 5 */
    rig_run(&rig);
    CHECK(!rig.failed, "no failure");
    CHECK_EQ(rig.last.verdict.kind, FETCH_RESLICE, "cut it");
    CHECK_EQ(rig.last.verdict.reslice, RESLICE_OVERSIZED, "because of its size");
    rig_release(&rig);

    begin(&rig, GENERIC, "offset", 99);
    played.page_cap = 2;
    rig.order.can_reslice = false;
    rig_run(&rig);
    CHECK(rig.failed && rig.err.level == ERROR_REQUEST, "else it is an error");
    rig_release(&rig);
}

/* ---- limits ---- */

TEST(a_page_limit_cuts_short_or_bridges_to_time)
{
    struct rig rig;

    begin(&rig, GENERIC, "token", 217);
    rig.spec.endpoint.page.max_pages = 3;
    rig_run(&rig);
    CHECK_EQ(rig.ids.count, 120, "three pages");
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "not done");
    CHECK_EQ(rig.last.verdict.missing, 97, "and so many are missing");
    rig_release(&rig);

    begin(&rig, GENERIC, "token", 217);
    rig.spec.endpoint.page.max_pages = 3;
    rig.spec.endpoint.page.bridge_to_time = true;
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_RESLICE, "the rest by time");
    CHECK_EQ(rig.last.verdict.reslice, RESLICE_TOO_DEEP, "too deep");
    rig_release(&rig);
}

TEST(a_cap_that_can_not_be_cut_is_walked_up_to)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset", 217);
    rig.spec.endpoint.page.cap = 100;
    rig.order.can_reslice = false;
    rig_run(&rig);
    CHECK(rig.ids.count >= 100, "what there is");
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "never shown as done");
    CHECK_EQ(rig.last.verdict.end, PAGE_CUT_CAP, "because of the cap");
    rig_release(&rig);
}

TEST(budgets_end_a_walk_between_batches)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset", 217);
    rig.order.requests_max = 2;
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "requests");
    CHECK_EQ(rig.ids.count, 80, "two pages");
    rig.order.requests_max = 0;
    rig_resume(&rig);
    require_complete(&rig, "the rest comes later");
    rig_release(&rig);

    begin(&rig, GENERIC, "offset", 217);
    rig.order.records_max = 50;
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_CUT_SHORT, "records");
    rig_release(&rig);
}

/* ---- lists that lie or move ---- */

TEST(a_total_that_is_never_reached_is_a_shortfall)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset", 90);
    played.total = 93;
    rig_run(&rig);
    CHECK_EQ(rig.ids.count, 90, "what there is");
    CHECK_EQ(rig.last.verdict.kind, FETCH_SHORTFALL, "is not all");
    CHECK_EQ(rig.last.verdict.missing, 3, "by its own words");
    CHECK_EQ(rig.last.verdict.sweeps, FETCH_SWEEPS_MAX, "sweep after sweep");
    rig_release(&rig);
}

TEST(a_list_that_moves_is_walked_again_and_told)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset_blind", 90);
    played.moves = true;
    rig_run(&rig);
    CHECK_EQ(rig.last.verdict.kind, FETCH_DRIFT, "it never stood still");
    CHECK_EQ(rig.last.verdict.sweeps, FETCH_SWEEPS_MAX, "sweep after sweep");
    rig_release(&rig);
}

/* ---- details ---- */

TEST(details_come_in_full_batches_while_there_are_pages)
{
    struct rig rig;

    begin(&rig, DETAILS, "harvest", 77);
    rig_run(&rig);
    require_complete(&rig, "details");
    /* 77 ids of four pages, sixteen at a time: 16+16+16+16+13. */
    CHECK_EQ(rig.batches, 4 + 5, "four pages, five requests for details");
    rig_release(&rig);
}

TEST(one_bad_id_is_found_by_halving)
{
    static const int statuses[] = { 400, 500 };

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        struct rig rig;
        char wanted[32];

        begin(&rig, DETAILS, "harvest", 64);
        played.poison = 21;
        played.poison_status = statuses[i];
        rig_run(&rig);
        CHECK(!rig.failed, "one id does not stop the others");
        CHECK_EQ(rig.ids.count, 63, "all others");
        CHECK_EQ(rig.lost.count, 1, "one is lost");
        (void)snprintf(wanted, sizeof(wanted), "r021 %s",
                       statuses[i] == 400 ? "refused" : "failed");
        CHECK_STR(rig.lost.items[0], str_of(wanted), "that one");
        CHECK_EQ(rig.last.verdict.kind, FETCH_SHORTFALL, "a hole is a hole");
        rig_release(&rig);
    }
}

TEST(a_batch_that_must_not_be_split_fails)
{
    struct rig rig;

    begin(&rig, DETAILS, "harvest", 64);
    rig.spec.detail.batch.split_failed = false;
    played.poison = 21;
    played.poison_status = 400;
    rig_run(&rig);
    CHECK(rig.failed && rig.err.level == ERROR_REQUEST, "the batch fails");
    CHECK(rig.ids.count > 0, "those before it stand");
    rig_release(&rig);
}

TEST(ids_that_make_a_url_too_long_are_asked_for_in_smaller_batches)
{
    enum { IDS = 64, LENGTH = 400 };
    struct str ids[IDS];
    struct rig rig;

    begin(&rig, DETAILS, "update", IDS);
    rig.spec.endpoint.batch.id_batch_size = IDS;
    rig.slice.dimension = SLICE_ID;
    for (int i = 0; i < IDS; i++) {
        ids[i] = arena_printf(&rig.arena, "r%03d%*s", i, LENGTH, "");
        memset((char *)ids[i].data + 4, 'x', LENGTH);
    }
    rig.order.ids = ids;
    rig.order.id_count = IDS;
    rig_run(&rig);
    CHECK(!rig.failed, "it goes through");
    for (size_t i = 0; i < rig.http.sent.count; i++)
        CHECK(rig.http.sent.items[i].url.len <= REQUEST_GET_URL_MAX, "no URL is too long");
    CHECK(rig.http.sent.count >= 4, "several requests");
    CHECK(rig.gate.unused > 0, "the permit that was not used is given back");
    rig_release(&rig);
}

TEST(an_operation_by_id_asks_for_its_ids)
{
    static const struct str ids[] = { STR_INIT("r001"), STR_INIT("r002"), STR_INIT("r001") };
    struct rig rig;

    begin(&rig, DETAILS, "update", 10);
    rig.slice.dimension = SLICE_ID;
    rig.order.ids = ids;
    rig.order.id_count = ARRAY_LEN(ids);
    rig_run(&rig);
    CHECK_EQ(rig.ids.count, 2, "each once");
    CHECK_EQ(rig.batches, 1, "in one request");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    rig_release(&rig);

    begin(&rig, DETAILS, "update", 10);
    rig.slice.dimension = SLICE_ID;
    rig_run(&rig);
    CHECK_EQ(rig.batches, 1, "no ids: one batch that says so");
    CHECK_EQ(rig.http.sent.count, 0, "and no request");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "done");
    rig_release(&rig);
}

/* ---- history servers ---- */

static bool find_nothing(struct played *self, int n, struct memory_reply *reply)
{
    (void)self;
    (void)n;
    reply->status = 404;
    return true;
}

TEST(a_digest_tells_the_ids_that_stand_in_the_path)
{
    static const struct str ids[] = { STR_INIT("r/1 x") };
    struct rig rig;

    begin(&rig, "test/data/sim-sources/generic-details.yaml", "update", 10);
    played.spoil = find_nothing;
    rig.slice.dimension = SLICE_ID;
    rig.order.ids = ids;
    rig.order.id_count = ARRAY_LEN(ids);
    rig_run(&rig);
    REQUIRE(!rig.failed && rig.requests.count > 0, "a 404 is an answer there");
    CHECK(str_find(rig.requests.items[0], STR("\"path\":\"/generic/records/r%2F1%20x\"")) <
              rig.requests.items[0].len,
          "as it was sent");
    rig_release(&rig);
}

TEST(a_history_server_is_asked_with_what_it_gave)
{
    struct rig rig;

    begin(&rig, DETAILS, "history", 55);
    rig_run(&rig);
    require_complete(&rig, "history");
    CHECK(rig.last.verdict.is_proven, "its total is the search's");
    CHECK_EQ(played.session, 1, "one search");
    CHECK(str_find(rig.http.sent.items[1].url, STR("session=S1")) < rig.http.sent.items[1].url.len,
          "captured and sent");
    rig_release(&rig);

    begin(&rig, DETAILS, "history", 55);
    played.session_dies_at = 3;
    rig_run(&rig);
    require_complete(&rig, "history that died");
    CHECK_EQ(played.session, 2, "searched again");
    rig_release(&rig);

    begin(&rig, DETAILS, "history", 55);
    rig.stop_after = 2;
    rig_run(&rig);
    rig.stop_after = 0;
    rig_resume(&rig);
    require_complete(&rig, "history that was left");
    CHECK_EQ(played.session, 2, "it is no checkpoint");
    rig_release(&rig);
}

/* ---- lists in the order of time ---- */

TEST(a_sorted_list_is_left_behind_the_window)
{
    struct rig rig;

    begin(&rig, DETAILS, "sorted", 300);
    rig_window(&rig, "2026-01-01T22:00:00Z", "2026-01-01T23:00:00Z");
    rig_run(&rig);
    CHECK(!rig.failed, "it ends");
    CHECK_EQ(rig.ids.count, 60, "the minutes of one hour");
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "complete");
    CHECK_EQ(rig.last.verdict.end, PAGE_END_PAST, "because the rest is older");
    CHECK(rig.http.sent.count < 20, "the rest was not read");
    CHECK(rig.sums.dropped >= 60, "what is newer was dropped");
    rig_release(&rig);
}

/* ---- waiting ---- */

static bool throttle_second(struct played *self, int n, struct memory_reply *reply)
{
    static const struct http_header wait = { STR_INIT("Retry-After"), STR_INIT("30") };

    (void)self;
    reply->status = 429;
    reply->headers = &wait;
    reply->header_count = 1;
    return n == 2;
}

TEST(a_wait_is_slept_or_handed_back)
{
    struct rig rig;
    int64_t slept_us;

    begin(&rig, GENERIC, "offset", 217);
    rig.gate.no_prefetch = true;
    played.spoil = throttle_second;
    rig_run(&rig);
    slept_us = rig.clock.slept_us;
    require_complete(&rig, "slept");
    CHECK(slept_us >= 30 * US_PER_SECOND, "thirty seconds");
    CHECK_EQ(rig.gate.throttled, 1, "the gate knows");
    CHECK_EQ(rig.gate.retry_after_us, 30 * US_PER_SECOND, "how long");
    CHECK_EQ(rig.sums.waits_told, 1, "a wait was asked for");
    CHECK_EQ(rig.sums.slowed, 1, "and the rate lowered");
    rig_release(&rig);

    begin(&rig, GENERIC, "offset", 217);
    rig.gate.no_prefetch = true;
    played.spoil = throttle_second;
    rig.order.wait_max_us = 10 * US_PER_SECOND;
    rig_run(&rig);
    slept_us = rig.clock.slept_us;
    CHECK(rig.failed && rig.err.level == ERROR_TRANSIENT, "not slept");
    CHECK_EQ(slept_us, 0, "at all");
    CHECK(rig.last.retry_at_us >= clock_now_us(&rig.clock.clock) + 29 * US_PER_SECOND,
          "come back then");
    played.spoil = NULL;
    rig_resume(&rig);
    require_complete(&rig, "later");
    rig_release(&rig);
}

static bool quota_gone(struct played *self, int n, struct memory_reply *reply)
{
    static const struct http_header reset = { STR_INIT("X-RateLimit-Reset"), STR_INIT("3600") };

    (void)self;
    reply->status = 429;
    reply->headers = &reset;
    reply->header_count = 1;
    return n == 1;
}

TEST(a_quota_that_is_gone_is_not_asked_again)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset", 217);
    rig.spec.endpoint.rate.meaning_429 = MEANING_429_QUOTA;
    played.spoil = quota_gone;
    rig_run(&rig);
    CHECK(rig.failed, "it ends");
    CHECK_STR(str_of(rig.err.code), STR("answer.quota"), "its code");
    CHECK_EQ(rig.http.sent.count, 1, "one request");
    CHECK_EQ(rig.gate.quota, 1, "the gate parks the source");
    CHECK_EQ(rig.last.retry_at_us, clock_now_us(&rig.clock.clock) + US_PER_HOUR, "until its reset");
    rig_release(&rig);
}

static bool refuse_each_tenth(struct played *self, int n, struct memory_reply *reply)
{
    (void)self;
    reply->status = 429;
    return n % 10 == 0;
}

TEST(a_slice_that_is_refused_too_often_is_cut_behind_what_was_read)
{
    struct window finished;
    struct rig rig;
    int64_t before = 0;

    begin(&rig, GENERIC, "time", 1440);
    rig.order.can_reslice = true;
    played.spoil = refuse_each_tenth;
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

    begin(&rig, GENERIC, "offset", 1440);
    rig.order.can_reslice = true;
    played.spoil = refuse_each_tenth;
    rig_run(&rig);
    require_complete(&rig, "what would have to be read again is read on");
    rig_release(&rig);
}

static bool refuse_in_json(struct played *self, int n, struct memory_reply *reply)
{
    static const struct http_header type = { STR_INIT("Content-Type"),
                                             STR_INIT("application/json") };

    reply->status = self->poison_status;
    reply->headers = &type;
    reply->header_count = 1;
    reply->body = STR("{\"error\":\"go away\"}");
    return n == 1;
}

/* The source has a rule for any answer with an error in it: L1. */
TEST(a_rule_for_any_error_does_not_explain_away_429_and_401)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset", 217);
    played.spoil = refuse_in_json;
    played.poison_status = 429;
    rig_run(&rig);
    require_complete(&rig, "asked again");
    CHECK_EQ(rig.gate.throttled, 1, "the gate hears that we are too fast");
    CHECK_EQ(rig.sums.throttled, 1, "it counts as a 429");
    rig_release(&rig);

    begin(&rig, GENERIC, "offset", 217);
    played.spoil = refuse_in_json;
    played.poison_status = 401;
    rig_run(&rig);
    CHECK(rig.failed && rig.err.level == ERROR_FATAL, "credentials are a person's business");
    CHECK_EQ(rig.http.sent.count, 1, "and not tried again");
    rig_release(&rig);

    begin(&rig, GENERIC, "offset", 217);
    played.spoil = refuse_in_json;
    played.poison_status = 400;
    rig_run(&rig);
    require_complete(&rig, "of a 400 the rule says that it may pass");
    rig_release(&rig);
}

TEST(a_gate_that_has_no_permit_in_time_ends_the_run)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset", 217);
    rig.gate.reject_after = 2;
    rig_run(&rig);
    CHECK(rig.failed, "it ends");
    CHECK_STR(str_of(rig.err.code), STR("fetch.rejected"), "its code");
    CHECK_EQ(rig.ids.count, 80, "two pages came");
    CHECK(rig.last.retry_at_us > 0, "when to come back");
    rig.gate.reject_after = 0;
    rig_resume(&rig);
    require_complete(&rig, "later");
    rig_release(&rig);
}

static bool fail_all(struct played *self, int n, struct memory_reply *reply)
{
    (void)self;
    (void)n;
    reply->status = 503;
    return true;
}

/* Virtual time does not look at file descriptors: a clock that is told to stop. */
static bool stopped_sleep(struct clock *clock, int64_t until_us, int wake_fd)
{
    (void)clock;
    (void)until_us;
    return wake_fd == CLOCK_NO_WAKE;
}

TEST(a_walk_that_is_told_to_stop_stops_waiting)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset", 217);
    played.spoil = fail_all;
    rig.parts.wake_fd = 3;
    rig.clock.clock.sleep_until_us = stopped_sleep;
    rig_run(&rig);
    CHECK(rig.failed, "it ends");
    CHECK_STR(str_of(rig.err.code), STR("fetch.cancelled"), "its code");
    CHECK_EQ(rig.http.sent.count, 1, "at once");
    rig_release(&rig);
}

TEST(a_source_that_fails_is_given_up_after_its_attempts)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset", 217);
    played.spoil = fail_all;
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

/* ---- ahead of time ---- */

static int sent_at_look[16];

static void look_at_sent(struct rig *rig, struct fetch *fetch, const struct fetch_batch *batch)
{
    (void)fetch;
    if (batch->batch_no < 16)
        sent_at_look[batch->batch_no] = (int)rig->http.sent.count;
}

TEST(the_next_page_is_on_its_way_while_a_batch_is_stored)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset", 217);
    rig.look = look_at_sent;
    rig_run(&rig);
    require_complete(&rig, "ahead");
    CHECK_EQ(sent_at_look[1], 2,
             "while the first batch is looked at, the second page is asked for");
    CHECK_EQ(sent_at_look[2], 3, "and so on");
    CHECK_EQ(rig.gate.prefetched, 5, "all but the first");
    rig_release(&rig);

    begin(&rig, GENERIC, "offset", 217);
    rig.stop_after = 2;
    rig_run(&rig); /* checks that the gate hears of the permit */
    CHECK(rig.http.sent.items[2].cancelled, "what nobody waits for is given up");
    rig_release(&rig);
}

/* ---- records that can not be judged ---- */

static bool one_without_id(struct played *self, int n, struct memory_reply *reply)
{
    (void)self;
    reply->body = STR("{\"items\":[{\"id\":\"a\",\"updated_at\":\"2026-01-01T00:00:00Z\"},"
                      "{\"updated_at\":\"2026-01-01T00:00:00Z\"},"
                      "{\"id\":\"c\"},{\"id\":\"d\",\"updated_at\":\"soon\"}],\"total\":4}");
    return n >= 1;
}

TEST(bad_records_are_put_away_and_the_rest_goes_on)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset", 4);
    played.spoil = one_without_id;
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

static bool bad_once(struct played *self, int n, struct memory_reply *reply)
{
    return n == 1 && one_without_id(self, n, reply);
}

TEST(a_second_look_may_mend_a_record)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset", 4);
    played.spoil = bad_once;
    rig_run(&rig);
    require_complete(&rig, "mended");
    CHECK_EQ(rig.bad.count, 0, "nothing is put away");
    rig_release(&rig);
}

static bool another_shape(struct played *self, int n, struct memory_reply *reply)
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

    begin(&rig, GENERIC, "offset", 4);
    played.spoil = another_shape;
    rig_run(&rig);
    CHECK(rig.failed && rig.err.level == ERROR_FATAL, "a person must look");
    CHECK_STR(str_of(rig.err.code), STR("listing.schema"), "its code");
    CHECK_EQ(rig.http.sent.count, 2, "it was looked at twice");
    rig_release(&rig);
}

/* ---- probes ---- */

static bool not_found_behind_the_end(struct played *self, int n, struct memory_reply *reply)
{
    reply->status = 404;
    reply->body = STR("{\"detail\":\"Invalid page.\"}");
    return n > (self->records + 39) / 40;
}

TEST(an_error_behind_the_last_page_is_an_end)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset_blind", 90);
    played.total = -1;
    played.spoil = not_found_behind_the_end;
    rig_run(&rig);
    require_complete(&rig, "probe");
    rig_release(&rig);
}

/* ---- next URLs ---- */

TEST(secrets_that_a_next_url_echoes_are_not_kept)
{
    struct rig rig;

    begin(&rig, GENERIC, "next", 90);
    rig_run(&rig);
    require_complete(&rig, "next");
    CHECK(rig.befores.count > 0, "URLs are kept");
    for (size_t i = 0; i < rig.befores.count; i++) {
        CHECK(str_find(rig.befores.items[i], STR("ECHOED")) == rig.befores.items[i].len,
              "not this");
        CHECK(str_starts(rig.befores.items[i], STR("http://sim.example.org/generic/next?page=")),
              "absolute");
    }
    CHECK(str_find(rig.checkpoint, STR("ECHOED")) == rig.checkpoint.len, "nor in checkpoints");
    rig_release(&rig);
}

static bool elsewhere(struct played *self, int n, struct memory_reply *reply)
{
    (void)self;
    (void)n;
    reply->body = STR("{\"items\":[{\"id\":\"a\",\"updated_at\":\"2026-01-01T00:00:00Z\"}],"
                      "\"total\":9,\"next\":\"http://sim.example.org.evil.example/x\"}");
    return true;
}

TEST(requests_of_a_run_are_spans_of_one_trace)
{
    const struct str run = STR("00-0af7651916cd43dd8448eb211c80319c-");
    struct rig rig;
    struct str last = { NULL, 0 };

    begin(&rig, GENERIC, "offset", 100);
    rig.order.traceparent = STR("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    rig_run(&rig);
    require_complete(&rig, "traced");
    for (size_t i = 0; i < rig.http.sent.count; i++) {
        const struct str trace = rig.http.sent.items[i].traceparent;

        CHECK(str_starts(trace, run), "the trace of the run");
        CHECK_EQ(trace.len, 55, "as W3C writes it");
        CHECK(!str_eq(trace, last), "a span of its own");
        last = trace;
    }
    CHECK(last.len > 0, "requests were sent");
    rig_release(&rig);
}

static bool redirect_all(struct played *self, int n, struct memory_reply *reply)
{
    static const struct http_header location = {
        STR_INIT("Location"), STR_INIT("https://elsewhere.example.org/x?api_key=SECRET")
    };

    (void)self;
    (void)n;
    reply->status = 302;
    reply->headers = &location;
    reply->header_count = 1;
    return true;
}

TEST(a_redirect_is_told_with_its_host_and_no_more)
{
    struct rig rig;

    begin(&rig, GENERIC, "offset", 10);
    played.spoil = redirect_all;
    rig_run(&rig);
    CHECK(rig.failed && rig.err.level == ERROR_REQUEST, "not followed");
    CHECK(strstr(rig.err.text, "https://elsewhere.example.org:443") != NULL, "where it leads");
    CHECK(strstr(rig.err.text, "http.redirects") != NULL, "what to do");
    CHECK(strstr(rig.err.text, "SECRET") == NULL, "and no key");
    rig_release(&rig);
}

TEST(a_next_url_of_another_host_is_refused)
{
    struct rig rig;

    begin(&rig, GENERIC, "next", 90);
    played.spoil = elsewhere;
    rig_run(&rig);
    CHECK(rig.failed && rig.err.level == ERROR_REQUEST, "refused");
    CHECK_STR(str_of(rig.err.code), STR("page.next"), "its code");
    for (size_t i = 0; i < rig.http.sent.count; i++)
        CHECK(str_find(rig.http.sent.items[i].url, STR("evil")) == rig.http.sent.items[i].url.len,
              "nothing was sent there");
    rig_release(&rig);
}
