/* Runs a program with its output in files, and reads them when it has ended. */
#include "run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
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

struct running run_begin(const char *const *argv)
{
    static int count;
    const char *build = getenv("PATRA_BUILD");
    struct running running = { 0 };
    char program[4096];

    (void)snprintf(program, sizeof(program), "%s%s%s",
                   strchr(argv[0], '/') == NULL ? (build != NULL ? build : "build") : "",
                   strchr(argv[0], '/') == NULL ? "/" : "", argv[0]);
    count++;
    /* A test may be several processes, which run programs at once. */
    (void)snprintf(running.out, sizeof(running.out), "%s/run.%d.%d.out", test_folder(),
                   (int)getpid(), count);
    (void)snprintf(running.talk, sizeof(running.talk), "%s/run.%d.%d.talk", test_folder(),
                   (int)getpid(), count);
    running.pid = fork();
    REQUIRE(running.pid >= 0, "fork");
    if (running.pid == 0)
        become(program, argv, running.out, running.talk);
    return running;
}

struct run run_end(struct running *running)
{
    struct run run = { 0 };
    int status;

    REQUIRE(waitpid(running->pid, &status, 0) == running->pid, "wait");
    run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    REQUIRE(run.code != 127, "the program is there");
    run.out = test_read(running->out);
    run.talk = test_read(running->talk);
    return run;
}

struct str run_said(const struct running *running)
{
    static char text[1 << 20];
    const struct timespec moment = { .tv_nsec = 10000000 }; /* leave the machine to the program */
    FILE *file = fopen(running->talk, "rb");
    size_t len = 0;

    if (file != NULL) {
        len = fread(text, 1, sizeof(text), file);
        (void)fclose(file);
    }
    (void)nanosleep(&moment, NULL);
    return (struct str){ text, len };
}

struct run run_program(const char *const *argv)
{
    struct running running = run_begin(argv);

    return run_end(&running);
}
