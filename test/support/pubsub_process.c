/* A child that serves, and says at which port. */
#include "pubsub_process.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pubsub_fake.h"
#include "test.h"

enum { ECHO_CHANCE = 25, LOOK_US = 20000 };

static void serve_for_ever(int told, int64_t *copies)
{
    struct pubsub_fake *fake = pubsub_fake_start();
    const int port = pubsub_fake_port(fake);

    pubsub_fake_echo(fake, ECHO_CHANCE, 5);
    if (write(told, &port, sizeof(port)) != (ssize_t)sizeof(port))
        _exit(4);
    for (;;) {
        __atomic_store_n(copies, pubsub_fake_echoes(fake), __ATOMIC_RELAXED);
        (void)usleep(LOOK_US);
    }
}

void pubsub_process_start(struct pubsub_process *process)
{
    int ends[2];

    *process = (struct pubsub_process){ 0 };
    process->copies = mmap(NULL, sizeof(*process->copies), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(process->copies != MAP_FAILED && pipe(ends) == 0, "memory, pipe");
    process->pid = fork();
    REQUIRE(process->pid >= 0, "fork");
    if (process->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve_for_ever(ends[1], process->copies);
    }
    (void)close(ends[1]);
    REQUIRE(read(ends[0], &process->port, sizeof(process->port)) == (ssize_t)sizeof(process->port),
            "its port");
    (void)close(ends[0]);
}

int64_t pubsub_process_copies(const struct pubsub_process *process)
{
    return __atomic_load_n(process->copies, __ATOMIC_RELAXED);
}

void pubsub_process_stop(struct pubsub_process *process)
{
    int status;

    (void)kill(process->pid, SIGKILL);
    REQUIRE(waitpid(process->pid, &status, 0) == process->pid, "wait");
    (void)munmap(process->copies, sizeof(*process->copies));
}
