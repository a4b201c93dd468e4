/* The main function of every test program: runs its tests in source order, counts and reports.
 *
 *      PROGRAM            all tests
 *      PROGRAM NAME...    the tests whose name contains one of the NAMEs
 *
 * Ends with "NAME: N passed, N failed, N skipped" and exit code 1 if one failed or none ran.
 */
#include "test.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TESTS_MAX = 2000, FILES_MAX = 16000 };

static struct {
    struct {
        const char *name;
        const char *file;
        void (*run)(void);
    } tests[TESTS_MAX];
    size_t count;
    size_t failures; /* of the running test */
    bool skipped;
    jmp_buf end;
    char folder[64];
    void *files[FILES_MAX]; /* returned by test_read */
    size_t file_count;
    char shared[4096];
} state;

void test_register(const char *name, const char *file, void (*run)(void))
{
    if (state.count == TESTS_MAX)
        abort();
    state.tests[state.count].name = name;
    state.tests[state.count].file = file;
    state.tests[state.count].run = run;
    state.count++;
}

void test_fail(const char *file, int line, const char *format, ...)
{
    va_list args;

    state.failures++;
    printf("  %s:%d: ", file, line);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

size_t test_failures(void)
{
    return state.failures;
}

void test_abort(void)
{
    longjmp(state.end, 1);
}

void test_skip(const char *format, ...)
{
    va_list args;

    state.skipped = true;
    printf("  skipped: ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    test_abort();
}

void test_note(const char *format, ...)
{
    va_list args;

    printf("  ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

int test_rounds(int count)
{
    const char *asked = getenv("TEST_ROUNDS_PART");
    const int part = asked != NULL ? atoi(asked) : 1;

    if (part <= 1)
        return count;
    test_note("shortened: %d of %d rounds (TEST_ROUNDS_PART=%d)", count / part, count, part);
    return count / part;
}

const char *test_folder(void)
{
    if (state.folder[0] == '\0') {
        (void)snprintf(state.folder, sizeof(state.folder), "/tmp/patra-test.XXXXXX");
        if (mkdtemp(state.folder) == NULL)
            abort();
    }
    return state.folder;
}

static int remove_entry(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
    (void)stat;
    (void)type;
    (void)ftw;
    return remove(path);
}

const char *test_shared(const char *path)
{
    const char *root = getenv("PATRA_SHARED");

    (void)snprintf(state.shared, sizeof(state.shared), "%s/%s", root != NULL ? root : "../shared",
                   path);
    return access(state.shared, R_OK) == 0 ? state.shared : NULL;
}

struct str test_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *bytes;
    long size;

    if (file == NULL)
        return (struct str){ NULL, 0 };
    if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || state.file_count == FILES_MAX)
        abort();
    rewind(file);
    bytes = malloc((size_t)size + 1);
    if (bytes == NULL || fread(bytes, 1, (size_t)size, file) != (size_t)size)
        abort();
    bytes[size] = '\0';
    (void)fclose(file);
    state.files[state.file_count++] = bytes;
    return (struct str){ bytes, (size_t)size };
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strstr(name, argv[i]) != NULL)
            return true;
    }
    return argc <= 1;
}

static double seconds_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void run_one(const char *name, void (*run)(void))
{
    const double begin = seconds_now();
    double took;

    state.failures = 0;
    state.skipped = false;
    if (setjmp(state.end) == 0)
        run();
    took = seconds_now() - begin;
    printf("%s %s", state.failures > 0 ? "FAIL" : state.skipped ? "skip" : "ok  ", name);
    if (took >= 1)
        printf(" (%.1f s)", took); /* shows slow tests */
    printf("\n");
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    size_t passed = 0, failed = 0, skipped = 0;

    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < state.count; i++) {
        if (!is_wanted(state.tests[i].name, argc, argv))
            continue;
        run_one(state.tests[i].name, state.tests[i].run);
        failed += state.failures > 0;
        skipped += state.failures == 0 && state.skipped;
        passed += state.failures == 0 && !state.skipped;
    }
    for (size_t i = 0; i < state.file_count; i++)
        free(state.files[i]);
    if (state.folder[0] != '\0')
        (void)nftw(state.folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    printf("%s: %zu passed, %zu failed, %zu skipped\n", slash != NULL ? slash + 1 : argv[0], passed,
           failed, skipped);
    return failed > 0 || passed + skipped == 0;
}
