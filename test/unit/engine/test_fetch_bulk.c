/* Walks over a file of records: whole and once, however often they are broken off, and never taken
 * for whole when they are not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch_rig.h"
#include "test.h"

static const char BULK[] = "test/data/fetch/bulk.yaml";

/* The server's file, and how it is served. */
static struct {
    int records;
    int version; /* of the file: in its tag and its records */
    bool has_range;
    bool has_tag;
    bool has_length;
    bool is_chunked;
    bool same_length; /* whatever the version */
    int64_t cut;      /* each response breaks off after so many bytes; 0: it does not */
    int64_t cut_more; /* and that grows with each response */
    int opened;
    int ranges;           /* of which the rest of the file */
    bool refuses_nothing; /* 416 where there is no rest */
    const char *tail;
    enum { REST_RIGHT, REST_SHORT, REST_OPEN, REST_LESS, REST_OTHER_BYTES, REST_OTHER_TAG } rest;
    const char *coding; /* Transfer-Encoding; NULL: none */
} file;

static char body[1 << 20];
static char number[64], tag[64], range[128];

static size_t write_file(void)
{
    size_t len = 0;

    for (int i = 0; i < file.records; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len,
                                "{\"id\":\"r%05d\",\"updated_at\":\"2026-01-0%dT00:00:00Z\","
                                "\"title\":\"t%s%d\"}%s",
                                i, file.version, !file.same_length && file.version == 2 ? "+" : "",
                                file.version, i % 7 == 3 ? "\r\n\n" : "\n");
    if (file.tail != NULL)
        len += (size_t)snprintf(body + len, sizeof(body) - len, "%s", file.tail);
    return len;
}

static int64_t range_of(const struct http_request *request)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (str_eq(request->headers[i].name, STR("Range")))
            return strtoll(request->headers[i].value.data + strlen("bytes="), NULL, 10);
    }
    return -1;
}

static bool is_same_file(const struct http_request *request)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (str_eq(request->headers[i].name, STR("If-Range")))
            return str_eq(request->headers[i].value, str_of(tag));
    }
    return true;
}

/* Lies about the rest of a file; its body is cut at the end of a line. */
static void lie(int64_t from, size_t len, struct scripted_reply *reply)
{
    const size_t less = (size_t)((const char *)memchr(reply->body.data + reply->body.len / 2, '\n',
                                                      reply->body.len / 2) -
                                 reply->body.data) +
                        1;

    if (file.rest == REST_SHORT || file.rest == REST_OPEN || file.rest == REST_LESS)
        reply->body.len = less;
    if (file.rest == REST_SHORT)
        (void)snprintf(range, sizeof(range), "bytes %" PRId64 "-%zu/%zu", from,
                       (size_t)from + less - 1, len);
    if (file.rest == REST_OPEN)
        (void)snprintf(range, sizeof(range), "bytes %" PRId64 "-%zu/*", from,
                       (size_t)from + less - 1);
    if (file.rest == REST_OTHER_BYTES)
        reply->body.data = body;
    if (file.rest == REST_OTHER_TAG)
        (void)snprintf(tag, sizeof(tag), "\"other\"");
    (void)snprintf(number, sizeof(number), "%zu", reply->body.len);
}

static void serve(void *context, struct arena *arena, const struct http_request *request,
                  struct scripted_reply *reply)
{
    static struct http_header headers[5];
    const size_t len = write_file();
    int64_t from = range_of(request);

    (void)context;
    (void)arena;
    file.opened++;
    (void)snprintf(tag, sizeof(tag), "\"v%d\"", file.version);
    if (from < 0 || !file.has_range || !is_same_file(request))
        from = 0;
    if (file.refuses_nothing && from > 0 && from >= (int64_t)len) {
        *reply = (struct scripted_reply){ .status = 416, .make = serve, .times = -1 };
        return;
    }
    file.ranges += from > 0;
    reply->status = from > 0 ? 206 : 200;
    reply->body = (struct str){ body + from, len - (size_t)from };
    if (file.cut > 0 && (int64_t)reply->body.len > file.cut) {
        reply->body.len = (size_t)file.cut;
        reply->error_code = "http.reset";
        file.cut += file.cut_more;
    }
    reply->headers = headers;
    reply->header_count = 0;
    (void)snprintf(number, sizeof(number), "%zu", len - (size_t)from);
    (void)snprintf(range, sizeof(range), "bytes %" PRId64 "-%zu/%zu", from, len - 1, len);
    if (from > 0 && file.rest != REST_RIGHT)
        lie(from, len, reply);
    if (file.has_length)
        headers[reply->header_count++] =
            (struct http_header){ STR("Content-Length"), str_of(number) };
    if (file.is_chunked || file.coding != NULL)
        headers[reply->header_count++] =
            (struct http_header){ STR("Transfer-Encoding"),
                                  file.coding != NULL ? str_of(file.coding) : STR("chunked") };
    if (file.has_tag)
        headers[reply->header_count++] = (struct http_header){ STR("ETag"), str_of(tag) };
    if (from > 0)
        headers[reply->header_count++] =
            (struct http_header){ STR("Content-Range"), str_of(range) };
}

static void begin(struct rig *rig, int records)
{
    memset(&file, 0, sizeof(file));
    file.records = records;
    file.version = 1;
    file.has_range = file.has_tag = file.has_length = true;
    rig_init(rig, BULK, "load", "http://files.example.org");
    rig->slice = (struct slice){ .dimension = SLICE_FILE,
                                 .file = STR("part_01.ndjson"),
                                 .expected_records = SLICE_UNKNOWN,
                                 .expected_requests = 1 };
    rig->order.can_reslice = false;
    rig->order.batch_records = 50;
    rig->http.read_max = 777;
    scripted_http_reply(&rig->http, &(struct scripted_reply){ .times = -1, .make = serve });
}

static void require_whole(const struct rig *rig, const char *label)
{
    CHECK(!rig->failed, rig->err.text);
    CHECK(rig->last.is_last, label);
    CHECK_EQ(rig->last.verdict.kind, FETCH_COMPLETE, label);
    CHECK_EQ(rig->ids.count, (size_t)file.records, label);
    CHECK_EQ(rig->bad.count, 0, label);
}

TEST(a_file_comes_whole_in_batches)
{
    struct rig rig;

    begin(&rig, 217);
    rig_run(&rig);
    require_whole(&rig, "all of it");
    CHECK_EQ(rig.records, 217, "each once");
    CHECK_EQ(rig.batches, 5, "of fifty at most");
    CHECK_EQ(file.opened, 1, "one request");
    CHECK(str_find(rig.http.sent.items[0].url, STR("/dumps/part_01.ndjson")) <
              rig.http.sent.items[0].url.len,
          "the file of its slice");
    CHECK_STR(rig.payloads.items[0],
              STR("{\"id\":\"r00000\",\"updated_at\":\"2026-01-01T00:00:00Z\",\"title\":\"t1\"}"),
              "the line as it is");
    rig_release(&rig);
}

TEST(folders_in_a_name_stay_folders)
{
    struct rig rig;

    begin(&rig, 1);
    rig.slice.file = STR("2026/last part.ndjson");
    rig_run(&rig);
    CHECK(str_find(rig.http.sent.items[0].url, STR("/dumps/2026/last%20part.ndjson")) <
              rig.http.sent.items[0].url.len,
          rig.http.sent.items[0].url.data);
    rig_release(&rig);
}

/* A process that dies after any batch. */
TEST(a_file_is_resumed_after_any_batch_and_each_record_comes_once)
{
    for (int with_range = 0; with_range < 2; with_range++) {
        for (int with_tag = 0; with_tag < 2; with_tag++) {
            for (int stop = 1; stop <= 6; stop++) {
                struct rig rig;

                begin(&rig, 217);
                file.has_range = with_range;
                file.has_tag = with_tag;
                rig.stop_after = stop;
                rig_run(&rig);
                rig.stop_after = 0;
                if (!rig.last.is_last)
                    rig_resume(&rig);
                require_whole(&rig, "resumed");
                CHECK_EQ(rig.records, 217, "each once");
                CHECK_EQ(file.ranges, with_range && with_tag && stop < 5, "by its rest");
                rig_release(&rig);
            }
        }
    }
}

/* Its last batch was full, so that nobody had seen the end when the process died. */
TEST(a_file_that_was_handed_out_whole_is_not_read_again)
{
    struct rig rig;

    begin(&rig, 202); /* no blank line after the last */
    file.refuses_nothing = true;
    rig.order.batch_records = 101;
    rig.stop_after = 2;
    rig_run(&rig);
    CHECK_EQ(rig.ids.count, 202, "all of it");
    CHECK(!rig.last.is_last, "without its end");
    rig.stop_after = 0;
    rig_resume(&rig);
    require_whole(&rig, "resumed");
    CHECK_EQ(rig.records, 202, "each once");
    CHECK_EQ(file.opened, 1, "there is nothing to request");
    rig_release(&rig);
}

static int kept_attempts;

static void count_attempts(struct rig *rig, struct fetch *fetch, const struct fetch_batch *batch)
{
    const struct str attempt = STR("\"status\":200,\"code\":\"http.reset\",\"text\":\"");
    struct str digest = batch->response_digest;
    size_t at;

    (void)rig;
    (void)fetch;
    for (; (at = str_find(digest, attempt)) < digest.len; kept_attempts++)
        digest = str_slice(digest, at + attempt.len, digest.len);
}

TEST(every_break_of_a_file_is_kept)
{
    struct rig rig;

    begin(&rig, 300);
    file.has_range = false;
    file.cut = 3000;
    file.cut_more = 3000;
    rig.look = count_attempts;
    kept_attempts = 0;
    rig_run(&rig);
    require_whole(&rig, "after many breaks");
    CHECK_EQ(kept_attempts, file.opened - 1, "all but the last");
    rig_release(&rig);
}

TEST(a_file_that_breaks_off_is_read_on)
{
    for (int with_range = 0; with_range < 2; with_range++) {
        struct rig rig;

        begin(&rig, 300);
        file.has_range = with_range;
        file.cut = 3000;
        file.cut_more = with_range ? 0 : 3000;
        rig_run(&rig);
        require_whole(&rig, "after many breaks");
        CHECK_EQ(rig.records, 300, "each once");
        CHECK(file.opened > 3, "it was opened again and again");
        CHECK_EQ(file.ranges > 0, with_range, "by its rest where that is possible");
        rig_release(&rig);
    }
}

TEST(a_file_that_always_breaks_off_at_the_same_place_is_not_whole)
{
    struct rig rig;

    begin(&rig, 300);
    file.has_range = false;
    file.cut = 5000;
    rig_run(&rig);
    CHECK(rig.failed, "no end");
    CHECK_EQ(rig.err.level, ERROR_TRANSIENT, rig.err.text);
    CHECK_STR(str_of(rig.err.code), STR("http.reset"), rig.err.text);
    CHECK_EQ(rig.records, (int64_t)rig.ids.count, "each once");
    CHECK(rig.ids.count > 40 && rig.ids.count < 100, "what came was handed out");
    CHECK_EQ(file.opened, 4, "as often as the source allows");
    rig_release(&rig);
}

/* Found by its tag, by its length, or by nothing but its content. */
TEST(a_file_that_was_changed_is_read_from_its_beginning)
{
    static const struct {
        const char *label;
        bool has_tag, same_length, has_range;
    } cases[] = { { "by its tag, Range", true, true, true },
                  { "by its tag", true, true, false },
                  { "by its length", false, false, false },
                  { "by its content", false, true, false } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        begin(&rig, 217);
        file.has_tag = cases[i].has_tag;
        file.same_length = cases[i].same_length;
        file.has_range = cases[i].has_range;
        rig.stop_after = 2;
        rig_run(&rig);
        rig.stop_after = 0;
        file.version = 2;
        rig_resume(&rig);
        require_whole(&rig, cases[i].label);
        CHECK_EQ(rig.last.verdict.restarts, 1, cases[i].label);
        for (size_t r = 0; r < rig.payloads.count; r++)
            CHECK(str_find(rig.payloads.items[r], STR("2026-01-02")) < rig.payloads.items[r].len,
                  "of the new file");
        CHECK_EQ(rig.records, 100 + 217, "all of the new one");
        rig_release(&rig);
    }
}

/* A server may give less than the rest, or something else. All of the file is then requested. */
TEST(a_rest_that_is_not_the_rest_is_not_believed)
{
    static const struct {
        const char *label;
        int rest;
        bool has_length;
    } cases[] = { { "less, and says so", REST_SHORT, true },
                  { "less, and says so, of an unknown length", REST_SHORT, false },
                  { "less, without the length of the file", REST_OPEN, true },
                  { "less, of an unknown length", REST_OPEN, false },
                  { "less than its head says", REST_LESS, true },
                  { "the bytes of the beginning", REST_OTHER_BYTES, true },
                  { "of another file", REST_OTHER_TAG, true } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        begin(&rig, 217);
        file.has_length = cases[i].has_length;
        file.is_chunked = !cases[i].has_length;
        rig.stop_after = 2;
        rig_run(&rig);
        rig.stop_after = 0;
        file.rest = cases[i].rest;
        rig_resume(&rig);
        require_whole(&rig, cases[i].label);
        CHECK_EQ(file.ranges, 1, "the rest was requested once");
        CHECK_EQ(file.opened, 3, "and then all of it");
        rig_release(&rig);
    }
}

/* Nothing but its content says which file it is. */
static void begin_nameless(struct rig *rig, int records)
{
    begin(rig, records);
    file.has_tag = file.has_range = file.has_length = false;
    file.is_chunked = true;
}

TEST(a_file_that_grew_is_read_on)
{
    struct rig rig;

    begin_nameless(&rig, 100);
    rig.stop_after = 1;
    rig_run(&rig);
    rig.stop_after = 0;
    file.records = 150;
    rig_resume(&rig);
    require_whole(&rig, "all there is now");
    CHECK_EQ(rig.records, 150, "each once");
    CHECK_EQ(rig.last.verdict.restarts, 0, "its beginning is the same");
    rig_release(&rig);
}

TEST(a_file_that_became_shorter_is_read_from_its_beginning)
{
    struct rig rig;

    begin_nameless(&rig, 217);
    rig.stop_after = 3;
    rig_run(&rig);
    rig.stop_after = 0;
    file.records = 20;
    rig_resume(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "whole");
    CHECK_EQ(rig.last.verdict.restarts, 1, "another file");
    CHECK_EQ(rig.records, 150 + 20, "from its beginning");
    rig_release(&rig);
}

TEST(what_is_not_a_whole_file_is_refused)
{
    static const struct {
        const char *label;
        const char *tail;
        int records;
        bool has_length;
        const char *word;
        const char *coding;
    } cases[] = {
        { "the last line is cut", "{\"id\":\"x\",\"upda", 70, true, "in the middle of a line",
          NULL },
        { "no length and no chunks", NULL, 70, false, "neither a length nor chunks", NULL },
        { "a coding that has no end", NULL, 70, false, "neither a length nor chunks", "identity" },
        { "empty", NULL, 0, true, "empty", NULL },
        { "blank lines", "\n\r\n  \n", 0, true, "empty", NULL },
        { "a page of HTML", "<html>\n<body>gone</body>\n</html>\n", 0, true, "is JSON", NULL },
        { "an error", "{\"error\":\"busy\"}\n", 0, true, "with an id at $.id", NULL },
        { "a list on one line", "[{\"id\":\"a\"},{\"id\":\"b\"}]\n", 0, true, "with an id at $.id",
          NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        begin(&rig, cases[i].records);
        file.tail = cases[i].tail;
        file.has_length = cases[i].has_length;
        file.coding = cases[i].coding;
        rig_run(&rig);
        CHECK(rig.failed, cases[i].label);
        CHECK_EQ(rig.err.level, ERROR_TRANSIENT, cases[i].label);
        CHECK_STR(str_of(rig.err.code), STR("answer.file"), cases[i].label);
        CHECK(strstr(rig.err.text, cases[i].word) != NULL, rig.err.text);
        CHECK_EQ(file.opened, 4, "requested again");
        rig_release(&rig);
    }
}

TEST(an_error_among_the_lines_is_kept_as_a_bad_record)
{
    struct rig rig;

    begin(&rig, 30);
    file.tail = "{\"error\":\"backend died\"}\n";
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.ids.count, 30, "the others");
    CHECK_EQ(rig.bad.count, 1, "and the error");
    rig_release(&rig);
}

TEST(a_last_line_needs_no_end)
{
    struct rig rig;

    begin(&rig, 3);
    file.tail = "{\"id\":\"last\",\"updated_at\":\"2026-01-01T00:00:00Z\"}";
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.ids.count, 4, "all of them");
    rig_release(&rig);
}

/* Each of these would be something else if lines were only joined by commas. */
TEST(a_line_that_is_not_json_is_a_bad_record_and_the_others_are_good)
{
    static const char *const lines[] = { "oops\n", "{\"id\":\"a\"},{\"id\":\"b\"}\n", "[1\n2],3\n",
                                         "]\n", "{\"id\":\"x\",\n" };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct rig rig;
        char tail[256];

        begin(&rig, 30);
        (void)snprintf(tail, sizeof(tail),
                       "%s{\"id\":\"last\",\"updated_at\":\"2026-01-01T00:00:00Z\"}\n", lines[i]);
        file.tail = tail;
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.ids.count, 31, lines[i]);
        CHECK(rig.bad.count >= 1, lines[i]);
        CHECK(str_find(rig.bad.items[0], STR("item.syntax")) < rig.bad.items[0].len, lines[i]);
        CHECK(rig_has(&rig.ids, STR("last")), lines[i]);
        CHECK(!rig_has(&rig.ids, STR("a")), lines[i]);
        rig_release(&rig);
    }
}

TEST(what_is_said_of_a_broken_file_has_no_personal_data)
{
    static const char *const tails[] = { "{\"error\":\"ask jane.doe@example.com\"}\n",
                                         "jane.doe@example.com\n",
                                         "{\"id\":\"jane.doe@example.com" };

    for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
        struct rig rig;

        begin(&rig, 0);
        file.tail = tails[i];
        rig_run(&rig);
        CHECK(rig.failed, tails[i]);
        CHECK(strstr(rig.err.text, "jane.doe") == NULL, rig.err.text);
        rig_release(&rig);
    }
}

TEST(a_byte_order_mark_is_no_part_of_the_first_record)
{
    struct rig rig;

    begin(&rig, 0);
    file.tail = "\xEF\xBB\xBF{\"id\":\"a\",\"updated_at\":\"2026-01-01T00:00:00Z\"}\n";
    rig_run(&rig);
    CHECK(!rig.failed, rig.err.text);
    CHECK_EQ(rig.ids.count, 1, "the record");
    CHECK_EQ(rig.bad.count, 0, "and nothing bad");
    rig_release(&rig);
}

TEST(a_file_that_is_not_there_fails_the_task)
{
    struct rig rig;

    begin(&rig, 10);
    rig.http.script.items[0] = (struct scripted_reply){ .times = -1, .status = 404 };
    rig_run(&rig);
    CHECK(rig.failed, "no file");
    CHECK_EQ(rig.err.level, ERROR_REQUEST, rig.err.text);
    rig_release(&rig);
}

TEST(an_interrupted_read_ends_the_walk_at_once)
{
    struct rig rig;

    begin(&rig, 10);
    rig.http.interrupted = true;
    rig_run(&rig);
    CHECK(rig.failed, "stopped");
    CHECK(fetch_error_is_cancelled(&rig.err), rig.err.text);
    CHECK_EQ(rig.http.sent.count, 1, "no second attempt");
    rig_release(&rig);
}

/* ---- XML ---- */

#define HEAD                                                                   \
    "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                 \
    "<!DOCTYPE Set SYSTEM \"x>y\" [ <!ELEMENT a ANY> ]>\n<!-- <Article> -->\n" \
    "<Set xmlns:d=\"urn:d\" note=\"a > b\">\n"

static const char *xml_tail;
static int xml_records;

static size_t write_xml(void)
{
    size_t len = (size_t)snprintf(body, sizeof(body), "%s", HEAD);

    for (int i = 0; i < xml_records; i++)
        len += (size_t)snprintf(
            body + len, sizeof(body) - len,
            "<d:Article updated='2026-01-01'><d:Id>a%04d</d:Id><d:Title><![CDATA[</d:Article>]]>"
            "<d:Article>deep</d:Article><e a='>'/></d:Title></d:Article>\n%s",
            i, i % 9 == 0 ? "<Other/><!-- </Set> --><?p </Set> ?>" : "");
    return len + (size_t)snprintf(body + len, sizeof(body) - len, "%s", xml_tail);
}

static void serve_xml(void *context, struct arena *arena, const struct http_request *request,
                      struct scripted_reply *reply)
{
    static struct http_header headers[1] = { { STR_INIT("Transfer-Encoding"),
                                               STR_INIT("chunked") } };

    (void)context;
    (void)arena;
    CHECK_EQ(range_of(request), -1, "the rest of a document is none");
    file.opened++;
    reply->status = 200;
    reply->headers = headers;
    reply->header_count = 1;
    reply->body = (struct str){ body, write_xml() };
}

static void begin_xml(struct rig *rig, int records, const char *tail, size_t read_max)
{
    memset(&file, 0, sizeof(file));
    xml_records = records;
    xml_tail = tail;
    rig_init(rig, BULK, "load_xml", "http://files.example.org");
    rig->slice = (struct slice){ .dimension = SLICE_FILE, .file = STR("") };
    rig->order.can_reslice = false;
    rig->order.batch_records = 50;
    rig->http.read_max = read_max;
    scripted_http_reply(&rig->http, &(struct scripted_reply){ .times = -1, .make = serve_xml });
}

TEST(the_elements_of_an_xml_file_are_its_records)
{
    static const size_t sizes[] = { 1, 7, 4096 };

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct rig rig;

        begin_xml(&rig, 120, "</Set>\n", sizes[i]);
        rig_run(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, "whole");
        CHECK_EQ(rig.last.verdict.distinct, 120, "elements without a record do not count");
        CHECK(rig.last.verdict.doubts[FETCH_DOUBT_ELEMENTS], "and are a doubt");
        CHECK_EQ(rig.records, 120, "each once, and nothing else");
        CHECK_EQ(rig.bad.count, 0, "all good");
        CHECK(str_starts(rig.payloads.items[7], STR("<d:Article ")), rig.payloads.items[7].data);
        CHECK(rig_has(&rig.ids, STR("a0119")), "the last");
        rig_release(&rig);
    }
}

TEST(an_xml_file_is_resumed_by_what_was_read_of_it)
{
    for (int stop = 1; stop <= 3; stop++) {
        struct rig rig;

        begin_xml(&rig, 120, "</Set>", 777);
        rig.stop_after = stop;
        rig_run(&rig);
        rig.stop_after = 0;
        if (!rig.last.is_last)
            rig_resume(&rig);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.records, 120, "each once");
        CHECK_EQ(rig.last.verdict.distinct, 120, "others are counted over all runs");
        rig_release(&rig);
    }
}

TEST(an_xml_file_without_its_end_is_not_whole)
{
    static const char *const tails[] = { "", "</Se", "<d:Article><d:Id>x</d:Id>",
                                         "<d:Article><x></d:Article></Set>" };

    for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
        struct rig rig;

        begin_xml(&rig, 70, tails[i], 777);
        rig_run(&rig);
        CHECK(rig.failed, tails[i]);
        CHECK_STR(str_of(rig.err.code), STR("answer.file"), rig.err.text);
        CHECK_EQ(rig.err.level, ERROR_TRANSIENT, tails[i]);
        rig_release(&rig);
    }
}

static struct str document;

static void serve_document(void *context, struct arena *arena, const struct http_request *request,
                           struct scripted_reply *reply)
{
    serve_xml(context, arena, request, reply);
    reply->body = document;
}

static void run_document(struct rig *rig, const char *text)
{
    begin_xml(rig, 0, "", 777);
    document = str_of(text);
    rig->http.script.items[0].make = serve_document;
    rig_run(rig);
}

#define ARTICLE(id) "<d:Article updated='2026-01-01'><d:Id>" id "</d:Id></d:Article>"
#define SET "<Set xmlns:d=\"urn:d\">"

TEST(an_xml_file_of_something_else_is_refused)
{
    static const struct {
        const char *label, *text, *word;
    } cases[] = {
        { "an error", "<error><message>busy</message></error>", "nor the place for it" },
        { "a page of HTML", "<html><head/><body><p>later</p></body></html>", "nor the place" },
        { "another root without elements", "<busy/>", "nor the place for it" },
        { "a namespace", "<Set xmlns='urn:new' xmlns:d='urn:d'>" ARTICLE("a") "</Set>",
          "see response.namespaces" },
        { "items of another name", SET "<Paper/><Paper/></Set>", "with an id at d:Id" },
        { "items without ids", SET "<d:Article/><d:Article/></Set>", "with an id at d:Id" },
        { "a text", SET "backend error</Set>", "a text between the elements" },
        { "a text after records", SET ARTICLE("a") "backend error</Set>", "a text between" },
        { "the same as CDATA", SET ARTICLE("a") "<![CDATA[backend error]]></Set>",
          "a text between" },
        { "a text after the root", SET ARTICLE("a") "</Set>backend error", "or after them" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        run_document(&rig, cases[i].text);
        CHECK(rig.failed, cases[i].label);
        CHECK_STR(str_of(rig.err.code), STR("answer.file"), cases[i].label);
        CHECK_EQ(rig.err.level, ERROR_TRANSIENT, cases[i].label);
        CHECK(strstr(rig.err.text, cases[i].word) != NULL, rig.err.text);
        rig_release(&rig);
    }
}

TEST(an_xml_file_may_have_no_records)
{
    static const char *const texts[] = { "<Set/>", "<?xml version='1.0'?>\n<Set a='/'>\n</Set>\n" };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct rig rig;

        run_document(&rig, texts[i]);
        CHECK(!rig.failed, rig.err.text);
        CHECK_EQ(rig.last.verdict.kind, FETCH_COMPLETE, texts[i]);
        CHECK_EQ(rig.records, 0, texts[i]);
        rig_release(&rig);
    }
}
