/* bench_sim: how fast the simulator serves bodies over loopback with keep-alive. Two connections,
 * each with a client that reads and discards, against two processes that only write to a socket:
 * what the kernel can transfer. Client and server share the machine's cores. The best of several
 * rounds.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "seconds.h"

enum { CLIENTS = 2, ROUNDS = 3, BUFFER_BYTES = 256 << 10, PATH_BYTES = 256, BARE_BYTES = 1 << 20 };

static const double SECONDS = 0.7; /* per round */

static void give_up(const char *why)
{
    (void)fprintf(stderr, "bench_sim: %s\n", why);
    exit(1);
}

static int connect_to(int port)
{
    const struct sockaddr_in place = { .sin_family = AF_INET,
                                       .sin_port = htons((uint16_t)port),
                                       .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || connect(fd, (const struct sockaddr *)&place, sizeof(place)) != 0)
        give_up("no connection");
    return fd;
}

/* ---- clients ---- */

struct client {
    int port;
    const char *path; /* NULL: a socket that is written to without end */
    double until_s;
    uint64_t bytes; /* of bodies */
    uint64_t replies;
    char buffer[BUFFER_BYTES];
};

static size_t take(struct client *client, int fd, size_t size)
{
    const ssize_t got = recv(fd, client->buffer, size, 0);

    if (got <= 0)
        give_up("the connection ended");
    return (size_t)got;
}

/* Reads one response; returns its body's length. */
static size_t read_response(struct client *client, int fd)
{
    size_t have = 0, length, seen;
    const char *end, *field;

    do {
        const ssize_t got = recv(fd, client->buffer + have, BUFFER_BYTES - 1 - have, 0);

        if (got <= 0)
            give_up("the connection ended");
        have += (size_t)got;
        client->buffer[have] = '\0';
    } while ((end = strstr(client->buffer, "\r\n\r\n")) == NULL);
    field = strstr(client->buffer, "Content-Length: ");
    if (field == NULL || strncmp(client->buffer, "HTTP/1.1 200", 12) != 0)
        give_up("not a valid response");
    length = strtoul(field + 16, NULL, 10);
    for (seen = have - (size_t)(end + 4 - client->buffer); seen < length;) {
        const size_t left = length - seen;

        seen += take(client, fd, left < BUFFER_BYTES ? left : BUFFER_BYTES);
    }
    return length;
}

static void *run_client(void *context)
{
    struct client *client = context;
    const int fd = connect_to(client->port);
    char request[PATH_BYTES + 128];
    const int len = snprintf(request, sizeof(request),
                             "GET %s HTTP/1.1\r\nHost: x\r\nUser-Agent: bench (x@y)\r\n\r\n",
                             client->path != NULL ? client->path : "");

    while (now_s() < client->until_s) {
        if (client->path == NULL) {
            client->bytes += take(client, fd, BUFFER_BYTES);
            continue;
        }
        if (send(fd, request, (size_t)len, MSG_NOSIGNAL) != len)
            give_up("the request was not taken");
        client->bytes += read_response(client, fd);
        client->replies++;
    }
    (void)close(fd);
    return NULL;
}

struct result {
    double bytes_per_s;
    double replies_per_s;
};

static struct result measure(int port, const char *path)
{
    struct client *clients = calloc(CLIENTS, sizeof(*clients));
    struct result best = { 0 };
    pthread_t threads[CLIENTS];

    for (int round = 0; clients != NULL && round < ROUNDS; round++) {
        const double start_s = now_s();
        struct result result = { 0 };

        for (int i = 0; i < CLIENTS; i++) {
            clients[i].port = port;
            clients[i].path = path;
            clients[i].until_s = start_s + SECONDS;
            clients[i].bytes = clients[i].replies = 0;
            if (pthread_create(&threads[i], NULL, run_client, &clients[i]) != 0)
                give_up("no thread");
        }
        for (int i = 0; i < CLIENTS; i++) {
            (void)pthread_join(threads[i], NULL);
            result.bytes_per_s += (double)clients[i].bytes;
            result.replies_per_s += (double)clients[i].replies;
        }
        result.bytes_per_s /= now_s() - start_s;
        result.replies_per_s /= now_s() - start_s;
        if (result.bytes_per_s > best.bytes_per_s)
            best = result;
    }
    free(clients);
    return best;
}

/* ---- servers ---- */

/* Writes a megabyte over and over to any client: the upper bound. */
static pid_t start_bare(int *port)
{
    struct sockaddr_in place = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof(place);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    pid_t pid;

    if (listener < 0 || bind(listener, (struct sockaddr *)&place, sizeof(place)) != 0 ||
        listen(listener, 16) != 0 || getsockname(listener, (struct sockaddr *)&place, &size) != 0)
        give_up("no port");
    *port = ntohs(place.sin_port);
    pid = fork();
    if (pid != 0) {
        (void)close(listener);
        return pid;
    }
    (void)signal(SIGCHLD, SIG_IGN);
    for (;;) {
        const int fd = accept(listener, NULL, NULL);

        if (fork() == 0) {
            char *bytes = calloc(1, BARE_BYTES);

            while (bytes != NULL && send(fd, bytes, BARE_BYTES, MSG_NOSIGNAL) > 0)
                ;
            _exit(0);
        }
        (void)close(fd);
    }
}

/* build/bench/bench_sim starts build/patra-sim. */
static pid_t start_sim(char *self, int *port)
{
    char program[4096], line[256] = "";
    int out[2];
    pid_t pid;

    (void)snprintf(program, sizeof(program), "%s/../patra-sim", dirname(self));
    if (pipe(out) != 0)
        give_up("no pipe");
    pid = fork();
    if (pid == 0) {
        (void)dup2(out[1], STDOUT_FILENO);
        (void)execl(program, program, "serve", "--audit-off", "repeat", (char *)NULL);
        _exit(127);
    }
    (void)close(out[1]);
    if (read(out[0], line, sizeof(line) - 1) <= 0 ||
        sscanf(line, "listening http://127.0.0.1:%d", port) != 1)
        give_up("patra-sim does not start");
    (void)close(out[0]);
    return pid;
}

static void stop(pid_t pid)
{
    (void)kill(pid, SIGTERM);
    (void)waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *label, *path;
    } cases[] = {
        { "ready body, 4 MiB", "/blob?bytes=4194304" },
        { "ready body, 64 KiB", "/blob?bytes=65536" },
        { "ready body, 4 KiB", "/blob?bytes=4096" },
        { "generic, 1000 records", "/generic/offset?offset=0&limit=1000" },
        { "generic, 100 records", "/generic/offset?offset=0&limit=100" },
        { "Crossref, 1000 records", "/crossref/works?rows=1000" },
        { "PubMed, 20 records", "/entrez/eutils/efetch.fcgi?db=pubmed&retmode=xml&id="
                                "30000001,30000002,30000003,30000004,30000005,30000006,30000007,"
                                "30000008,30000009,30000010,"
                                "30000011,30000012,30000013,30000014,30000015,30000016,30000017,"
                                "30000018,30000019,30000020" },
        { "OAI-PMH, a page", "/oai?verb=ListRecords&metadataPrefix=oai_dc" },
    };
    int bare_port, sim_port;
    const pid_t bare = start_bare(&bare_port);
    const pid_t sim = start_sim(argv[0], &sim_port);
    const struct result ceiling = measure(bare_port, NULL);

    (void)argc;
    (void)printf("%-26s %6.2f GB/s\n", "bare sockets", ceiling.bytes_per_s / 1e9);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct result result = measure(sim_port, cases[i].path);

        (void)printf("%-26s %6.2f GB/s  %5.2f of bare  %8.0f replies/s\n", cases[i].label,
                     result.bytes_per_s / 1e9, result.bytes_per_s / ceiling.bytes_per_s,
                     result.replies_per_s);
    }
    stop(sim);
    stop(bare);
    return 0;
}
