/* The file that shows that a service is alive, in virtual time. */
#include "worker/alive.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/instant.h"
#include "test.h"
#include "virtual_clock.h"

#define T0 INT64_C(1767225600000000) /* 2026-01-01 */

static struct virtual_clock clock_of;

static int64_t now_us(void *context)
{
    (void)context;
    return T0;
}

static struct log silent = { .fd = -1, .level = LOG_ERROR, .now_us = now_us };

static const char *path_of(const char *name)
{
    static char path[512];

    (void)snprintf(path, sizeof(path), "%s/%s", test_folder(), name);
    return path;
}

/* -1: there is none. */
static int64_t last_sign_us(const char *path)
{
    struct arena arena;
    struct error err;
    int64_t at_us;
    bool ok;

    arena_init(&arena, 1 << 16);
    ok = alive_read(&arena, path, &at_us, &err);
    arena_release(&arena);
    return ok ? at_us : -1;
}

TEST(the_time_is_written_at_once_then_every_five_seconds_and_goes_at_the_end)
{
    struct alive alive = { .path = path_of("beats") };
    struct error err;

    virtual_clock_init(&clock_of, T0);
    CHECK_EQ(last_sign_us(alive.path), -1, "nothing before it begins");
    REQUIRE_OK(alive_begin(&alive, &clock_of.clock, &err), err);
    CHECK_EQ(last_sign_us(alive.path), T0, "at once");
    virtual_clock_advance(&clock_of, 5 * US_PER_SECOND - 1);
    alive_beat(&alive, &clock_of.clock, &silent);
    CHECK_EQ(last_sign_us(alive.path), T0, "not with every turn");
    virtual_clock_advance(&clock_of, US_PER_MS);
    alive_beat(&alive, &clock_of.clock, &silent);
    CHECK_EQ(last_sign_us(alive.path), T0 + 5 * US_PER_SECOND, "again");
    virtual_clock_set(&clock_of, T0 - US_PER_HOUR);
    virtual_clock_advance(&clock_of, 5 * US_PER_SECOND);
    alive_beat(&alive, &clock_of.clock, &silent);
    CHECK_EQ(last_sign_us(alive.path), T0 - US_PER_HOUR + 5 * US_PER_SECOND,
             "also after the clock was set back");
    alive_end(&alive);
    CHECK_EQ(last_sign_us(alive.path), -1, "no longer");
}

TEST(without_a_file_nothing_is_written)
{
    struct alive alive = { 0 };
    struct error err;

    virtual_clock_init(&clock_of, T0);
    REQUIRE_OK(alive_begin(&alive, &clock_of.clock, &err), err);
    virtual_clock_advance(&clock_of, US_PER_MINUTE);
    alive_beat(&alive, &clock_of.clock, &silent);
    alive_end(&alive);
}

TEST(a_file_that_cannot_be_written_is_refused_at_the_start_and_logged_once_later)
{
    struct alive alive = { .path = path_of("none/alive") };
    char written[4096] = "";
    struct error err;
    struct log log;
    int ends[2];

    virtual_clock_init(&clock_of, T0);
    CHECK(!alive_begin(&alive, &clock_of.clock, &err), "refused");
    CHECK_STR(str_of(err.code), STR("alive.write"), "as what it is");
    REQUIRE(pipe(ends) == 0, "a pipe");
    log = (struct log){ .fd = ends[1], .level = LOG_INFO, .now_us = now_us };
    for (int i = 0; i < 3; i++) {
        virtual_clock_advance(&clock_of, US_PER_MINUTE);
        alive_beat(&alive, &clock_of.clock, &log);
    }
    (void)close(ends[1]);
    REQUIRE(read(ends[0], written, sizeof(written) - 1) > 0, "logged");
    (void)close(ends[0]);
    CHECK(strstr(written, "alive file not written") != NULL, "what");
    CHECK(strchr(written, '\n') == strrchr(written, '\n'), "once");
}

TEST(what_is_not_a_time_is_no_sign)
{
    static const char *const texts[] = {
        "", "\n", "yes", "2026-13-01T00:00:00Z",
        "2026-01-01T00:00:00Z with a tail that is longer than a time"
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *path = path_of("foreign");
        FILE *file = fopen(path, "w");

        REQUIRE(file != NULL, path);
        (void)fputs(texts[i], file);
        (void)fclose(file);
        CHECK_EQ(last_sign_us(path), -1, texts[i]);
    }
}
