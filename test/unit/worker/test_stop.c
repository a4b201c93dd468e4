/* Signals end a process, whatever hangs in it. */
#include "worker/stop.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* A process that hangs: it never looks at the stop. Says on the pipe when signals are taken, and
 * when it has heard the first one. */
static void hang(int pipe_fd, struct stop *stop)
{
    struct pollfd first = { .fd = stop->fd, .events = POLLIN };

    (void)!write(pipe_fd, "r", 1);
    (void)poll(&first, 1, -1);
    (void)!write(pipe_fd, "1", 1);
    for (;;)
        (void)pause();
}

static pid_t start(int *pipe_fd)
{
    int fds[2];
    pid_t child;

    REQUIRE(pipe(fds) == 0, "a pipe");
    child = fork();
    REQUIRE(child >= 0, "a process");
    if (child == 0) {
        struct stop stop;
        struct error err;

        (void)close(fds[0]);
        (void)signal(SIGHUP, SIG_DFL); /* who runs the tests may ignore it (nohup) */
        if (!stop_open(&stop, &err))
            _exit(1);
        hang(fds[1], &stop);
    }
    (void)close(fds[1]);
    *pipe_fd = fds[0];
    return child;
}

static char heard(int pipe_fd)
{
    char word = '\0';

    return read(pipe_fd, &word, 1) == 1 ? word : '\0';
}

TEST(a_second_signal_ends_a_process_that_hangs)
{
    int status = 0, pipe_fd;
    const pid_t child = start(&pipe_fd);

    CHECK_EQ(heard(pipe_fd), 'r', "it takes signals");
    REQUIRE(kill(child, SIGTERM) == 0, "the first");
    CHECK_EQ(heard(pipe_fd), '1', "it noticed");
    REQUIRE(kill(child, SIGTERM) == 0, "the second");
    REQUIRE(waitpid(child, &status, 0) == child, "it ends by itself");
    CHECK(WIFEXITED(status), "not by a signal");
    CHECK_EQ(WEXITSTATUS(status), 128 + SIGTERM, "as after a signal");
    (void)close(pipe_fd);
}

TEST(a_hangup_stops_as_a_termination_does)
{
    int status = 0, pipe_fd;
    const pid_t child = start(&pipe_fd);

    CHECK_EQ(heard(pipe_fd), 'r', "it takes signals");
    REQUIRE(kill(child, SIGHUP) == 0, "the terminal is closed");
    CHECK_EQ(heard(pipe_fd), '1', "it noticed, and did not die");
    REQUIRE(kill(child, SIGHUP) == 0, "again");
    REQUIRE(waitpid(child, &status, 0) == child, "it ends by itself");
    CHECK_EQ(WEXITSTATUS(status), 128 + SIGHUP, "as after a signal");
    (void)close(pipe_fd);
}
