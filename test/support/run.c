#include "run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static void become(const char *program, const char *const *argv, const char *out, const char *talk)
{
    const int null_fd = open("/dev/null", O_RDONLY);
    const int out_fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int talk_fd = open(talk, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (null_fd < 0 || out_fd < 0 || talk_fd < 0 || dup2(null_fd, 0) < 0 || dup2(out_fd, 1) < 0 ||
        dup2(talk_fd, 2) < 0)
        _exit(127);
    (void)execv(program, (char *const *)(uintptr_t)argv);
    _exit(127);
}

struct run run_program(const char *const *argv)
{
    const char *build = getenv("PATRA_BUILD");
    char program[4096], out[4096], talk[4096];
    struct run run = { 0 };
    int status;
    pid_t pid;

    (void)snprintf(program, sizeof(program), "%s%s%s",
                   strchr(argv[0], '/') == NULL ? (build != NULL ? build : "build") : "",
                   strchr(argv[0], '/') == NULL ? "/" : "", argv[0]);
    (void)snprintf(out, sizeof(out), "%s/run.out", test_folder());
    (void)snprintf(talk, sizeof(talk), "%s/run.talk", test_folder());
    pid = fork();
    REQUIRE(pid >= 0, "fork");
    if (pid == 0)
        become(program, argv, out, talk);
    REQUIRE(waitpid(pid, &status, 0) == pid, "wait");
    run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    REQUIRE(run.code != 127, program);
    run.out = test_read(out);
    run.talk = test_read(talk);
    return run;
}
