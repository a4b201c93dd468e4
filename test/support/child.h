/* child: a server program that a test starts, talks to, and ends.
 *
 * It is ready when it has written its first line to standard output. It ends with child_stop(), and
 * with the test program however that ends.
 */
#ifndef PATRA_TEST_SUPPORT_CHILD_H
#define PATRA_TEST_SUPPORT_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

enum { CHILD_LINE_MAX = 512 };

struct child {
    pid_t pid;
    char line[CHILD_LINE_MAX]; /* the first line, without its end */
};

/* argv ends with NULL; argv[0] is a path, or a name to be found in $PATH. False when the program
 * could not be started or ended before it was ready. */
bool child_start(struct child *child, const char *const *argv);
void child_stop(struct child *child); /* SIGTERM, and waits; accepts the zero value */

/* patra-sim of this build, with further options. */
struct sim {
    struct child child;
    char base[64];  /* "http://127.0.0.1:1" */
    char https[64]; /* empty without --tls */
    char other[64];
};

bool sim_start(struct sim *sim, const char *const *options);
void sim_stop(struct sim *sim);

#endif
