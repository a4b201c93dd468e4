/* test: what a test file needs.
 *
 *      TEST(watermark_stops_at_the_first_gap)
 *      {
 *          CHECK_EQ(watermark_low(100, NULL, 0), 100, "nothing covered");
 *      }
 *
 * A file of tests is linked with test/main.c into one program; TEST registers itself. A failed
 * check is printed with its place and its label, and the test goes on; REQUIRE ends the test at
 * once. TEST_SKIP ends it too, and says why: it is counted apart and shown.
 */
#ifndef PATRA_TEST_TEST_H
#define PATRA_TEST_TEST_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

/* 1 in a sanitized build, whose programs are several times slower: there a test by chance makes do
 * with fewer rounds. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_IS_SLOW 1
#elif defined(__has_feature)
#define TEST_IS_SLOW (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define TEST_IS_SLOW 0
#endif

void test_register(const char *name, const char *file, void (*run)(void));
void test_fail(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);
void test_skip(const char *format, ...) PRINTF_LIKE(1, 2) __attribute__((noreturn));
void test_abort(void) __attribute__((noreturn));

/* Checks of the running test that have failed so far: for tests of many cases that print which. */
size_t test_failures(void);

/* Prints a line that belongs to the report, e.g. the count of a public suite's cases. */
void test_note(const char *format, ...) PRINTF_LIKE(1, 2);

/* How many of `count` rounds a test by chance plays: all of them, or the TEST_ROUNDS_PART-th part
 * where the environment asks for that because every step takes many times as long (memcheck does,
 * see scripts/valgrind). Then a note tells both numbers. */
int test_rounds(int count);

/* A folder of its own for this test program, removed at its end. */
const char *test_folder(void);

/* The path of a file below ../shared, or NULL when the folder is not there: skip then. */
const char *test_shared(const char *path);

/* A whole file in memory that lives until the program ends; data is NULL when it can't be read. */
struct str test_read(const char *path);

#define TEST(name)                                                      \
    static void test_##name(void);                                      \
    __attribute__((constructor)) static void test_register_##name(void) \
    {                                                                   \
        test_register(#name, __FILE__, test_##name);                    \
    }                                                                   \
    static void test_##name(void)

#define TEST_SKIP(...) test_skip(__VA_ARGS__)

#define CHECK(condition, label)                                                     \
    do {                                                                            \
        if (!(condition))                                                           \
            test_fail(__FILE__, __LINE__, "%s: not true: %s", (label), #condition); \
    } while (0)

#define CHECK_EQ(got, wanted, label)                                                               \
    do {                                                                                           \
        const int64_t test_got_ = (int64_t)(got);                                                  \
        const int64_t test_wanted_ = (int64_t)(wanted);                                            \
        if (test_got_ != test_wanted_)                                                             \
            test_fail(__FILE__, __LINE__, "%s: %s is %" PRId64 ", wanted %" PRId64, (label), #got, \
                      test_got_, test_wanted_);                                                    \
    } while (0)

#define CHECK_STR(got, wanted, label)                                                       \
    do {                                                                                    \
        const struct str test_got_ = (got);                                                 \
        const struct str test_wanted_ = (wanted);                                           \
        if (!str_eq(test_got_, test_wanted_))                                               \
            test_fail(__FILE__, __LINE__, "%s: %s is '%.*s', wanted '%.*s'", (label), #got, \
                      STR_ARG(test_got_), STR_ARG(test_wanted_));                           \
    } while (0)

/* For what the rest of the test can not do without. `err` is a struct error. */
#define REQUIRE(condition, label)                                                   \
    do {                                                                            \
        if (!(condition)) {                                                         \
            test_fail(__FILE__, __LINE__, "%s: not true: %s", (label), #condition); \
            test_abort();                                                           \
        }                                                                           \
    } while (0)

#define REQUIRE_OK(condition, err)                                           \
    do {                                                                     \
        if (!(condition)) {                                                  \
            test_fail(__FILE__, __LINE__, "%s: %s", #condition, (err).text); \
            test_abort();                                                    \
        }                                                                    \
    } while (0)

#endif
