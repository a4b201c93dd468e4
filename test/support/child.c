/* Starts a server program, waits for its first line, and ends it with the test program. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPTIONS_MAX = 40 };

static void run(const char *const *argv, int out, pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127); /* it ended before the line above */
    (void)dup2(out, STDOUT_FILENO);
    (void)execvp(argv[0], (char *const *)argv);
    _exit(127);
}

/* Up to the first line end; false when there is none. */
static bool read_line(int fd, char line[CHILD_LINE_MAX])
{
    size_t len = 0;

    while (len < CHILD_LINE_MAX - 1) {
        const ssize_t got = read(fd, line + len, 1);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        if (line[len] == '\n') {
            line[len] = '\0';
            return true;
        }
        len++;
    }
    return false;
}

bool child_start(struct child *child, const char *const *argv)
{
    const pid_t parent = getpid();
    int fds[2];

    *child = (struct child){ 0 };
    if (pipe2(fds, O_CLOEXEC) != 0)
        return false;
    child->pid = fork();
    if (child->pid == 0)
        run(argv, fds[1], parent);
    (void)close(fds[1]);
    if (child->pid < 0 || !read_line(fds[0], child->line))
        child_stop(child);
    (void)close(fds[0]);
    return child->pid > 0;
}

void child_stop(struct child *child)
{
    if (child->pid > 0) {
        (void)kill(child->pid, SIGTERM);
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    child->pid = 0;
}

static void take_word(const char *line, const char *prefix, const char *keep, char word[64])
{
    const char *at = strstr(line, prefix);
    size_t len;

    word[0] = '\0';
    if (at == NULL)
        return;
    at += strlen(prefix) - strlen(keep);
    len = strcspn(at, " ");
    if (len < 64)
        (void)snprintf(word, 64, "%.*s", (int)len, at);
}

bool sim_start(struct sim *sim, const char *const *options)
{
    const char *argv[OPTIONS_MAX] = { NULL, "serve" };
    const char *build = getenv("PATRA_BUILD");
    char path[4096];
    size_t count = 2;

    (void)snprintf(path, sizeof(path), "%s/patra-sim", build != NULL ? build : "build");
    argv[0] = path;
    while (*options != NULL && count < OPTIONS_MAX - 1)
        argv[count++] = *options++;
    if (!child_start(&sim->child, argv))
        return false;
    take_word(sim->child.line, " http://", "http://", sim->base);
    take_word(sim->child.line, " https://", "https://", sim->https);
    take_word(sim->child.line, " other=", "", sim->other);
    return true;
}

void sim_stop(struct sim *sim)
{
    child_stop(&sim->child);
}
