/* test: the macros and functions of a test file.
 *
 *      TEST(watermark_stops_at_the_first_gap)
 *      {
 *          CHECK_EQ(watermark_low(100, NULL, 0), 100, "nothing covered");
 *      }
 *
 * A file of tests is linked with test/main.c into one program; TEST registers itself. A failed
 * check is printed with its location and label, and the test continues; REQUIRE ends the test at
 * once. TEST_SKIP ends it too and prints the reason; skipped tests are counted separately.
 */
#ifndef PATRA_TEST_TEST_H
#define PATRA_TEST_TEST_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

/* 1 in a sanitized build, whose programs are several times slower: random tests run fewer rounds
 * there. gcc has no name for UBSan: scripts/build gives it one. */
#if defined(TEST_IS_SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
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

/* How many checks of the running test have failed so far: for tests that print the failing case. */
size_t test_failures(void);

/* Prints a line that belongs to the report, e.g. the count of a public suite's cases. */
void test_note(const char *format, ...) PRINTF_LIKE(1, 2);

/* How many of `count` rounds a random test runs: all of them, or a TEST_ROUNDS_PART-th if the
 * environment sets that because every step is much slower (under memcheck, see scripts/valgrind). A
 * note then reports both numbers. */
int test_rounds(int count);

/* A temporary folder for this test program, removed at its end. */
const char *test_folder(void);

/* The path of a file below ../shared, or NULL if the folder does not exist: skip the test then. */
const char *test_shared(const char *path);

/* A whole file in memory that lives until the program ends; data is NULL if it cannot be read. */
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

/* For conditions that the rest of the test needs. `err` is a struct error. */
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
