/* Tests: the lines of a log, as text and as JSON. */
#include "base/log.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/attr.h"
#include "test.h"

static int64_t fixed_now(void *context)
{
    (void)context;
    return INT64_C(1767323045678901); /* 2026-01-02T03:04:05.678901Z */
}

static int64_t whole_now(void *context)
{
    return *(const int64_t *)context;
}

static struct log open_log(enum log_format format)
{
    struct log log = {
        .fd = memfd_create("log", 0), .level = LOG_INFO, .format = format, .now_us = fixed_now
    };

    REQUIRE(log.fd >= 0, "a file in memory");
    return log;
}

/* Everything that was written; closes the log. */
static struct str close_log(struct log *log)
{
    static char text[4 * LOG_LINE_MAX];
    const ssize_t len = pread(log->fd, text, sizeof(text), 0);

    REQUIRE(len >= 0, "what was written");
    (void)close(log->fd);
    return (struct str){ text, (size_t)len };
}

TEST(log_lines_read_as_text)
{
    struct log log = open_log(LOG_TEXT);

    log_event(&log, LOG_INFO, "batch committed", LOG_STR("source", STR("crossref")),
              LOG_I64("records", 500), LOG_BOOL("last", true));
    log_event(&log, LOG_WARN, "odd", LOG_STR("empty", STR("")), LOG_STR("space", STR("a b")),
              LOG_STR("quote", STR("a\"b\\")), LOG_STR("line", STR("a\nb\x7F")),
              LOG_STR("equals", STR("a=b")), LOG_STR("letter", STR("\xC3\xA9")),
              LOG_STR("bytes", STR("\xFF\x80")), LOG_I64("least", INT64_MIN));
    CHECK_STR(close_log(&log),
              STR("2026-01-02T03:04:05.678901Z info batch committed source=crossref records=500 "
                  "last=true\n"
                  "2026-01-02T03:04:05.678901Z warn odd empty=\"\" space=\"a b\" "
                  "quote=\"a\\\"b\\\\\" line=\"a\\u000ab\\u007f\" equals=\"a=b\" "
                  "letter=\"\xC3\xA9\" bytes=\"(not UTF-8)\" least=-9223372036854775808\n"),
              "two lines");
}

TEST(log_lines_read_as_json)
{
    static int64_t now_us = 0;
    struct log log = open_log(LOG_JSON);

    log.now_us = whole_now;
    log.context = &now_us;
    log_event(&log, LOG_ERROR, "batch \"failed\"", LOG_STR("text", STR("a\"\\\n\x01\xC3\xA9")),
              LOG_STR("bytes", STR("\xE9")), LOG_I64("n", -5), LOG_BOOL("b", false));
    CHECK_STR(close_log(&log),
              STR("{\"ts\":\"1970-01-01T00:00:00Z\",\"level\":\"error\",\"event\":\"batch "
                  "\\\"failed\\\"\",\"text\":\"a\\\"\\\\\\u000a\\u0001\xC3\xA9\",\"bytes\":\"(not "
                  "UTF-8)\",\"n\":-5,\"b\":false}\n"),
              "a line");
}

/* A field is written completely or not at all, and the line says that something is missing. */
TEST(log_lines_that_are_too_long_are_truncated_and_marked)
{
    static char longer[LOG_LINE_MAX];
    static const struct {
        enum log_format format;
        const char *line;
    } cases[] = {
        { LOG_TEXT, "2026-01-02T03:04:05.678901Z info e a=1 cut=true\n" },
        { LOG_JSON, "{\"ts\":\"2026-01-02T03:04:05.678901Z\",\"level\":\"info\",\"event\":\"e\","
                    "\"a\":1,\"cut\":true}\n" },
    };

    memset(longer, 'x', sizeof(longer));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct log log = open_log(cases[i].format);

        log_event(&log, LOG_INFO, "e", LOG_I64("a", 1),
                  LOG_STR("long", ((struct str){ longer, sizeof(longer) })), LOG_I64("b", 2));
        CHECK_STR(close_log(&log), str_of(cases[i].line), "cut before the long field");
    }
}

/* Every length around the limit gives one line, ended, and no longer than the maximum. */
TEST(log_lines_around_the_limit_end_well)
{
    static char longer[LOG_LINE_MAX];

    memset(longer, '"', sizeof(longer)); /* each is escaped: two bytes */
    for (size_t len = LOG_LINE_MAX / 2 - 100; len < LOG_LINE_MAX / 2; len++) {
        struct log log = open_log(LOG_JSON);
        struct str line;

        log_event(&log, LOG_INFO, "e", LOG_STR("q", ((struct str){ longer, len })));
        line = close_log(&log);
        CHECK(line.len <= LOG_LINE_MAX && str_ends(line, STR("}\n")), "ended");
        CHECK_EQ(str_find_char(line, '\n'), line.len - 1, "one line");
        CHECK_EQ(str_ends(line, STR(",\"cut\":true}\n")), str_find(line, STR("\"q\":")) == line.len,
                 "cut exactly when the field is not there");
    }
}

TEST(log_levels_below_the_log_s_own_are_left_out)
{
    struct log log = open_log(LOG_TEXT);

    log.level = LOG_WARN;
    log_event(&log, LOG_DEBUG, "debug", LOG_I64("n", 1));
    log_event(&log, LOG_INFO, "info", LOG_I64("n", 1));
    log_event(&log, LOG_WARN, "warn", LOG_I64("n", 1));
    log_event(&log, LOG_ERROR, "error", LOG_I64("n", 1));
    CHECK_STR(close_log(&log),
              STR("2026-01-02T03:04:05.678901Z warn warn n=1\n"
                  "2026-01-02T03:04:05.678901Z error error n=1\n"),
              "warnings and errors");
    log_event((struct log *)NULL, LOG_ERROR, "a NULL log", LOG_I64("n", 1));
}

TEST(log_samples_routine_and_never_warnings)
{
    struct log log = open_log(LOG_TEXT);
    struct str text;
    size_t lines = 0;

    log.sample_every = 10;
    for (int i = 0; i < 25; i++) {
        log_sampled(&log, LOG_INFO, "routine", LOG_I64("i", i));
        log_sampled(&log, LOG_WARN, "warning", LOG_I64("i", i));
    }
    log_event(&log, LOG_INFO, "not sampled", LOG_BOOL("b", true));
    text = close_log(&log);
    while (text.len > 0) {
        const struct str line = str_cut(&text, '\n');

        if (str_find(line, STR("routine")) < line.len) {
            CHECK(str_ends(line, STR("i=0")) || str_ends(line, STR("i=10")) ||
                      str_ends(line, STR("i=20")),
                  "one in ten, the first among them");
        }
        lines++;
    }
    CHECK_EQ(lines, 3 + 25 + 1, "lines");
}

TEST(log_level_names_are_read)
{
    enum log_level level;

    CHECK(log_level_parse(STR("debug"), &level) && level == LOG_DEBUG, "debug");
    CHECK(log_level_parse(STR("info"), &level) && level == LOG_INFO, "info");
    CHECK(log_level_parse(STR("warn"), &level) && level == LOG_WARN, "warn");
    CHECK(log_level_parse(STR("error"), &level) && level == LOG_ERROR, "error");
    CHECK(!log_level_parse(STR("Error"), &level) && !log_level_parse(STR(""), &level), "others");
}

/* Whoever wrote the text: what goes to the terminal has been masked before, or it is now. */
TEST(log_lines_have_no_personal_data)
{
    struct log log = open_log(LOG_TEXT);
    struct str text;

    log_event(&log, LOG_INFO, "e",
              LOG_STR("reason", STR("ask jane.doe@example.com or +1 415 555 0199")));
    text = close_log(&log);
    CHECK(str_find(text, STR("jane.doe")) == text.len, "no address");
    CHECK(str_find(text, STR("555 0199")) == text.len, "no number");
    CHECK(str_find(text, STR("@example.com")) < text.len, "but what it is");
}
