/* run: a program as a user runs it, and what it said. */
#ifndef PATRA_TEST_SUPPORT_RUN_H
#define PATRA_TEST_SUPPORT_RUN_H

#include <sys/types.h>

#include "base/str.h"

struct run {
    int code;        /* its exit code; 128 + n when signal n ended it */
    struct str out;  /* stdout; lives until the test program ends */
    struct str talk; /* stderr */
};

/* Runs argv (ended by NULL) with no input and waits for its end; ends the test when it cannot be
 * started. argv[0] without a slash is a program of the build folder. */
struct run run_program(const char *const *argv);

/* The same without waiting: what it says goes to files of its own, read at its end. */
struct running {
    pid_t pid;
    char out[512];
    char talk[512];
};
struct running run_begin(const char *const *argv);
struct run run_end(struct running *running); /* waits */
/* What it has said to stderr so far, for loops that wait for a word; good until the next call. */
struct str run_said(const struct running *running);

#define RUN_BEGIN(...) run_begin((const char *const[]){ __VA_ARGS__, NULL })
#define RUN(...) run_program((const char *const[]){ __VA_ARGS__, NULL })

#endif
