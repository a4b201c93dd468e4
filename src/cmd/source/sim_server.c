/* patra-sim as a child process. */
#include "cmd/source/sim_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, LINE_BYTES = 512 };

static bool find(char path[static PATH_BYTES], struct error *err)
{
    const char *given = getenv("PATRA_SIM");
    ssize_t len;
    char *slash;

    if (given != NULL && given[0] != '\0')
        (void)snprintf(path, PATH_BYTES, "%s", given);
    else {
        len = readlink("/proc/self/exe", path, PATH_BYTES - sizeof("patra-sim"));
        path[len > 0 ? len : 0] = '\0';
        slash = strrchr(path, '/');
        if (slash != NULL)
            memcpy(slash + 1, "patra-sim", sizeof("patra-sim"));
    }
    return access(path, X_OK) == 0 ||
           error_set(err, ERROR_REQUEST, "sim.missing",
                     "patra-sim is not at '%s'. Install it next to patra, or set PATRA_SIM to its "
                     "path",
                     path);
}

static void become(const char *path, int input, int output)
{
    (void)dup2(input, STDIN_FILENO);
    (void)dup2(output, STDOUT_FILENO);
    (void)execl(path, "patra-sim", "serve", "--until-eof", "--records", "6000", "--audit-off",
                "repeat", (char *)NULL);
    _exit(127);
}

/* "listening http://127.0.0.1:1 other=..." */
static bool read_base(int fd, char base[static 128])
{
    char line[LINE_BYTES];
    size_t len = 0;

    while (len + 1 < sizeof(line)) {
        const ssize_t got = read(fd, line + len, 1);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || line[len] == '\n')
            break;
        len++;
    }
    line[len] = '\0';
    return sscanf(line, "listening %127s", base) == 1;
}

bool sim_server_start(struct sim_server *server, struct error *err)
{
    char path[PATH_BYTES];
    int in[2], out[2];
    bool ok;

    *server = (struct sim_server){ .input = -1 };
    if (!find(path, err))
        return false;
    if (pipe2(in, O_CLOEXEC) != 0)
        return error_set(err, ERROR_TRANSIENT, "sim.start", "pipe: %s", strerror(errno));
    if (pipe2(out, O_CLOEXEC) != 0) {
        (void)close(in[0]);
        (void)close(in[1]);
        return error_set(err, ERROR_TRANSIENT, "sim.start", "pipe: %s", strerror(errno));
    }
    server->pid = fork();
    if (server->pid == 0)
        become(path, in[0], out[1]);
    (void)close(in[0]);
    (void)close(out[1]);
    server->input = in[1];
    ok = server->pid > 0 && read_base(out[0], server->base);
    (void)close(out[0]);
    if (ok)
        return true;
    sim_server_stop(server);
    return error_set(err, ERROR_TRANSIENT, "sim.start", "%s did not start", path);
}

void sim_server_stop(struct sim_server *server)
{
    if (server->pid <= 0)
        return;
    (void)close(server->input);
    (void)kill(server->pid, SIGTERM);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    *server = (struct sim_server){ .input = -1 };
}
