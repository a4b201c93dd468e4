/* One thread: it accepts, is rude, and keeps connections open until the server is stopped. */
#include "rude_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

enum { CONNECTIONS_MAX = 256, GARBAGE_BYTES = 8192 };

struct rude_server {
    pthread_t thread;
    enum rudeness rudeness;
    struct str text;
    int listening;
    int port;
    int stop;
    int open[CONNECTIONS_MAX];
    size_t count;
};

static void say(int fd, struct str text)
{
    (void)!send(fd, text.data, text.len, MSG_NOSIGNAL);
}

/* By chance, but the same for every run; with line ends, so that readers of lines get some. */
static void send_garbage(int fd)
{
    char bytes[GARBAGE_BYTES];
    uint32_t state = 12345;

    for (size_t i = 0; i < sizeof(bytes); i++) {
        state = state * 1664525 + 1013904223;
        bytes[i] = i % 61 == 60 ? '\n' : (char)(state >> 24);
    }
    say(fd, (struct str){ bytes, sizeof(bytes) });
}

static void reset(int fd)
{
    const struct linger linger = { 1, 0 };
    char byte;

    (void)poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 50);
    (void)!recv(fd, &byte, 1, MSG_DONTWAIT);
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    (void)close(fd);
}

static void receive(struct rude_server *server, int fd)
{
    switch (server->rudeness) {
    case RUDE_RESET:
        reset(fd);
        return;
    case RUDE_CLOSE:
        (void)close(fd);
        return;
    case RUDE_GARBAGE:
        send_garbage(fd);
        break;
    case RUDE_SAYS:
        say(fd, server->text);
        break;
    case RUDE_STALL:
        break;
    }
    if (server->count < CONNECTIONS_MAX)
        server->open[server->count++] = fd;
    else
        (void)close(fd);
}

static void *run(void *context)
{
    struct rude_server *server = context;

    for (;;) {
        struct pollfd fds[2] = { { server->listening, POLLIN, 0 }, { server->stop, POLLIN, 0 } };
        int fd;

        if (poll(fds, 2, -1) < 0 || fds[1].revents != 0)
            return NULL;
        fd = accept(server->listening, NULL, NULL);
        if (fd >= 0)
            receive(server, fd);
    }
}

struct rude_server *rude_server_start(enum rudeness rudeness, struct str text)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct rude_server *server = calloc(1, sizeof(*server));
    socklen_t len = sizeof(address);

    REQUIRE(server != NULL, "memory");
    server->rudeness = rudeness;
    server->text = text;
    server->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    server->stop = eventfd(0, EFD_CLOEXEC);
    REQUIRE(bind(server->listening, (struct sockaddr *)&address, sizeof(address)) == 0 &&
                listen(server->listening, 64) == 0 &&
                getsockname(server->listening, (struct sockaddr *)&address, &len) == 0 &&
                pthread_create(&server->thread, NULL, run, server) == 0,
            "the rude server listens");
    server->port = ntohs(address.sin_port);
    return server;
}

int rude_server_port(const struct rude_server *server)
{
    return server->port;
}

void rude_server_stop(struct rude_server *server)
{
    if (server == NULL)
        return;
    (void)!write(server->stop, &(uint64_t){ 1 }, sizeof(uint64_t));
    (void)pthread_join(server->thread, NULL);
    for (size_t i = 0; i < server->count; i++)
        (void)close(server->open[i]);
    (void)close(server->listening);
    (void)close(server->stop);
    free(server);
}
