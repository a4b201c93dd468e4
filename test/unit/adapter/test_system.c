/* Clock, random numbers and secrets of the system. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/system/system.h"
#include "base/instant.h"
#include "test.h"

TEST(time_goes_forward_and_is_in_this_century)
{
    struct clock clock = system_clock();
    const int64_t first_us = clock_monotonic_us(&clock);

    CHECK(clock_monotonic_us(&clock) >= first_us, "forward");
    CHECK(clock_now_us(&clock) > INT64_C(1700000000) * US_PER_SECOND, "after 2023");
    CHECK(clock_now_us(&clock) < INT64_C(4102444800) * US_PER_SECOND, "before 2100");
}

TEST(a_sleep_ends_at_its_time_or_when_woken)
{
    struct clock clock = system_clock();
    const int fd = eventfd(0, EFD_CLOEXEC);
    const int64_t until_us = clock_monotonic_us(&clock) + 1000;

    CHECK(clock_sleep_until_us(&clock, until_us, fd), "not woken");
    CHECK(clock_monotonic_us(&clock) >= until_us, "not before its time");
    CHECK(clock_sleep_until_us(&clock, 0, CLOCK_NO_WAKE), "an instant in the past");
    REQUIRE(eventfd_write(fd, 1) == 0, "wake");
    CHECK(!clock_sleep_us(&clock, US_PER_HOUR, fd), "woken at once");
    CHECK(!clock_sleep_us(&clock, 0, fd), "a sleep of 0 sees wake_fd");
    CHECK(!clock_sleep_until_us(&clock, 0, fd), "and so does one until the past");
    (void)close(fd);
}

TEST(random_numbers_do_not_repeat)
{
    struct random_source source = system_random();
    unsigned char big[3000] = { 0 };
    size_t zeros = 0;

    CHECK(random_source_u64(&source) != random_source_u64(&source),
          "equal only with probability 2^-64");
    random_source_bytes(&source, big, sizeof(big));
    for (size_t i = 0; i < sizeof(big); i++)
        zeros += big[i] == 0;
    CHECK(zeros < 100, "filled to the end");
}

static struct str write_file(const char *name, const char *content, mode_t mode)
{
    static char reference[256];
    const char *path = reference + strlen("file:");
    FILE *file;

    (void)snprintf(reference, sizeof(reference), "file:%s/%s", test_folder(), name);
    file = fopen(path, "wb");
    REQUIRE(file != NULL, path);
    (void)fwrite(content, 1, strlen(content), file);
    (void)fclose(file);
    REQUIRE(chmod(path, mode) == 0, path);
    return str_of(reference);
}

static struct secret secret;
static struct error err;

static const char *get(struct system_secrets *secrets, struct str reference)
{
    err = (struct error){ 0 };
    return secret_get(&secrets->source, reference, &secret, &err) ? "" : err.code;
}

TEST(a_secret_comes_from_the_environment_or_a_file)
{
    struct system_secrets secrets;

    system_secrets_init(&secrets, NULL);
    (void)setenv("PATRA_TEST_KEY", "from env ", 1);
    CHECK_STR(str_of(get(&secrets, STR("env:PATRA_TEST_KEY"))), STR(""), "env");
    CHECK_STR(secret_str(&secret), STR("from env "), "unchanged");
    CHECK_STR(str_of(get(&secrets, write_file("a", "from file\n", 0600))), STR(""), "file");
    CHECK_STR(secret_str(&secret), STR("from file"), "without the line end");
    (void)get(&secrets, write_file("b", "two\nlines\r\n", 0600));
    CHECK_STR(secret_str(&secret), STR("two\nlines"), "only the last one");
    secret_wipe(&secret);
    CHECK_EQ(secret.len, 0, "wiped");
    for (size_t i = 0; i < 9; i++)
        CHECK_EQ(secret.bytes[i], 0, "wiped");
}

TEST(a_missing_secret_is_named_by_its_reference)
{
    struct system_secrets secrets;
    char big[SECRET_BYTES_MAX + 2];

    system_secrets_init(&secrets, NULL);
    (void)unsetenv("PATRA_TEST_KEY");
    CHECK_STR(str_of(get(&secrets, STR("env:PATRA_TEST_KEY"))), STR("secret.missing"), "not set");
    CHECK(strstr(err.text, "env:PATRA_TEST_KEY") != NULL, err.text);
    CHECK_EQ(err.level, ERROR_FATAL, "its level");
    (void)setenv("PATRA_TEST_KEY", "", 1);
    CHECK_STR(str_of(get(&secrets, STR("env:PATRA_TEST_KEY"))), STR("secret.missing"), "empty");
    CHECK_STR(str_of(get(&secrets, STR("file:/nowhere/at/all"))), STR("secret.missing"), "no file");
    CHECK_STR(str_of(get(&secrets, write_file("c", "\n", 0600))), STR("secret.missing"),
              "empty file");
    CHECK_STR(str_of(get(&secrets, STR("file:/"))), STR("secret.unreadable"), "a folder");
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    CHECK_STR(str_of(get(&secrets, write_file("d", big, 0600))), STR("secret.too_long"),
              "too long");
    (void)setenv("PATRA_TEST_KEY", big, 1);
    CHECK_STR(str_of(get(&secrets, STR("env:PATRA_TEST_KEY"))), STR("secret.too_long"), "too long");
    big[SECRET_BYTES_MAX] = '\0';
    CHECK_STR(str_of(get(&secrets, write_file("e", big, 0600))), STR(""), "the longest");
}

TEST(a_secret_in_the_setting_is_refused_and_not_shown)
{
    static const char *const settings[] = {
        "S3CRET", "S3CRET:x", "env:", "file:", "", "ENV:S3CRET"
    };
    struct system_secrets secrets;

    system_secrets_init(&secrets, NULL);
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        CHECK_STR(str_of(get(&secrets, str_of(settings[i]))), STR("secret.reference"), settings[i]);
        CHECK(strstr(err.text, "S3CRET") == NULL, settings[i]);
    }
}

static int64_t no_time(void *context)
{
    (void)context;
    return 0;
}

TEST(a_file_that_everyone_may_read_gets_a_warning)
{
    struct system_secrets secrets;
    char line[512] = "";
    int pipe_fds[2];
    struct log log = { .level = LOG_WARN, .now_us = no_time };

    REQUIRE(pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) == 0, "pipe");
    log.fd = pipe_fds[1];
    system_secrets_init(&secrets, &log);
    (void)get(&secrets, write_file("f", "S3CRET", 0640));
    CHECK(read(pipe_fds[0], line, sizeof(line) - 1) < 0,
          "no warning when only its group may read it");
    CHECK_STR(str_of(get(&secrets, write_file("g", "S3CRET", 0644))), STR(""),
              "the secret is used");
    CHECK(read(pipe_fds[0], line, sizeof(line) - 1) > 0, "and a warning is logged");
    CHECK(strstr(line, "/g") != NULL, line);
    CHECK(strstr(line, "S3CRET") == NULL, line);
    (void)close(pipe_fds[0]);
    (void)close(pipe_fds[1]);
}
