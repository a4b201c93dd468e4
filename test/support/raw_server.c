/* A thread accepts connections; each connection sends the next reply of the script per request. */
#include "raw_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SCRIPT_MAX = 256, CONNECTIONS_MAX = 256, REQUEST_BYTES_MAX = 8 << 20 };

struct connection {
    struct raw_server *server;
    pthread_t thread;
    int fd;
};

struct raw_server {
    int listen_fd;
    int stop_fd;
    int port;
    pthread_t thread;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t arrived;
    struct {
        struct str bytes;
        enum raw_end end;
    } script[SCRIPT_MAX];
    size_t script_count;
    struct str requests[SCRIPT_MAX];
    size_t request_count;
    struct connection connections[CONNECTIONS_MAX];
    size_t connection_count;
};

static void must(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        abort();
    }
}

static int listen_here(int backlog, int *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof(address);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(fd >= 0, "socket");
    must(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
    must(listen(fd, backlog) == 0, "listen");
    must(getsockname(fd, (struct sockaddr *)&address, &size) == 0, "getsockname");
    *port = ntohs(address.sin_port);
    return fd;
}

/* False when the server stops first. */
static int wait_readable(const struct raw_server *server, int fd)
{
    struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
                            { .fd = server->stop_fd, .events = POLLIN } };

    while (poll(fds, 2, -1) < 0)
        must(errno == EINTR, "poll");
    return fds[1].revents == 0;
}

/* ---- one connection ---- */

/* How long the request at the beginning of the bytes is; 0 while it is not whole. */
static size_t request_len(const char *bytes, size_t len)
{
    const char *end = memmem(bytes, len, "\r\n\r\n", 4);
    size_t body = 0;

    if (len > 0 && bytes[0] == 0x16) /* a client that wants TLS waits for an answer to its hello */
        return len;
    if (end == NULL)
        return 0;
    for (const char *line = bytes; line < end;
         line = (const char *)memchr(line, '\n', (size_t)(bytes + len - line)) + 1) {
        if (strncasecmp(line, "Content-Length:", 15) == 0)
            body = strtoul(line + 15, NULL, 10);
    }
    return len >= (size_t)(end + 4 - bytes) + body ? (size_t)(end + 4 - bytes) + body : 0;
}

/* The place of the request in the order of arrival. */
static size_t remember(struct raw_server *server, struct str request, struct str *reply,
                       enum raw_end *end)
{
    char *copy = malloc(request.len + 1);
    size_t index;

    must(copy != NULL, "malloc");
    memcpy(copy, request.data, request.len);
    (void)pthread_mutex_lock(&server->lock);
    index = server->request_count;
    must(index < SCRIPT_MAX, "too many requests");
    server->requests[index] = (struct str){ copy, request.len };
    *reply = STR("HTTP/1.1 599 Script Used Up\r\nContent-Length: 0\r\n\r\n");
    *end = RAW_KEEP;
    if (index < server->script_count) {
        *reply = server->script[index].bytes;
        *end = server->script[index].end;
    }
    server->request_count++;
    (void)pthread_cond_broadcast(&server->arrived);
    (void)pthread_mutex_unlock(&server->lock);
    return index;
}

static int write_all(int fd, struct str bytes)
{
    while (bytes.len > 0) {
        const ssize_t sent = send(fd, bytes.data, bytes.len, MSG_NOSIGNAL);

        if (sent <= 0)
            return 0;
        bytes = str_slice(bytes, (size_t)sent, bytes.len);
    }
    return 1;
}

static void hang(const struct raw_server *server, int fd)
{
    char ignored[4096];

    while (wait_readable(server, fd) && read(fd, ignored, sizeof(ignored)) > 0)
        ;
}

/* True while the connection is to be kept. */
static int answer(struct raw_server *server, int fd, struct str request)
{
    const struct linger at_once = { 1, 0 };
    struct str reply;
    enum raw_end end;

    (void)remember(server, request, &reply, &end);
    if (!write_all(fd, reply))
        return 0;
    if (end == RAW_HANG)
        hang(server, fd);
    if (end == RAW_RESET)
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    return end == RAW_KEEP;
}

static void *serve_connection(void *context)
{
    struct connection *connection = context;
    char *bytes = malloc(REQUEST_BYTES_MAX);
    size_t len = 0, whole;
    ssize_t got;

    must(bytes != NULL, "malloc");
    while (wait_readable(connection->server, connection->fd)) {
        got = read(connection->fd, bytes + len, REQUEST_BYTES_MAX - len);
        if (got <= 0)
            break;
        len += (size_t)got;
        whole = request_len(bytes, len);
        if (whole == 0)
            continue;
        if (!answer(connection->server, connection->fd, (struct str){ bytes, whole }))
            break;
        memmove(bytes, bytes + whole, len - whole);
        len -= whole;
    }
    free(bytes);
    (void)close(connection->fd);
    return NULL;
}

/* ---- the server ---- */

static void *accept_all(void *context)
{
    struct raw_server *server = context;

    while (wait_readable(server, server->listen_fd)) {
        const int fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC);
        struct connection *connection;

        if (fd < 0)
            continue;
        (void)pthread_mutex_lock(&server->lock);
        must(server->connection_count < CONNECTIONS_MAX, "too many connections");
        connection = &server->connections[server->connection_count++];
        connection->server = server;
        connection->fd = fd;
        must(pthread_create(&connection->thread, NULL, serve_connection, connection) == 0,
             "thread");
        (void)pthread_mutex_unlock(&server->lock);
    }
    return NULL;
}

struct raw_server *raw_server_start(void)
{
    struct raw_server *server = calloc(1, sizeof(*server));

    must(server != NULL, "calloc");
    server->listen_fd = listen_here(64, &server->port);
    server->stop_fd = eventfd(0, EFD_CLOEXEC);
    (void)pthread_mutex_init(&server->lock, NULL);
    (void)pthread_cond_init(&server->arrived, NULL);
    must(pthread_create(&server->thread, NULL, accept_all, server) == 0, "thread");
    return server;
}

void raw_server_stop(struct raw_server *server)
{
    if (server == NULL)
        return;
    (void)eventfd_write(server->stop_fd, 1);
    (void)pthread_join(server->thread, NULL);
    for (size_t i = 0; i < server->connection_count; i++)
        (void)pthread_join(server->connections[i].thread, NULL);
    for (size_t i = 0; i < server->request_count; i++)
        free((char *)server->requests[i].data);
    (void)close(server->listen_fd);
    (void)close(server->stop_fd);
    (void)pthread_mutex_destroy(&server->lock);
    (void)pthread_cond_destroy(&server->arrived);
    free(server);
}

int raw_server_port(const struct raw_server *server)
{
    return server->port;
}

void raw_server_reply(struct raw_server *server, struct str bytes, enum raw_end end)
{
    (void)pthread_mutex_lock(&server->lock);
    must(server->script_count < SCRIPT_MAX, "script");
    server->script[server->script_count].bytes = bytes;
    server->script[server->script_count].end = end;
    server->script_count++;
    (void)pthread_mutex_unlock(&server->lock);
}

size_t raw_server_connections(struct raw_server *server)
{
    size_t count;

    (void)pthread_mutex_lock(&server->lock);
    count = server->connection_count;
    (void)pthread_mutex_unlock(&server->lock);
    return count;
}

size_t raw_server_requests(struct raw_server *server)
{
    size_t count;

    (void)pthread_mutex_lock(&server->lock);
    count = server->request_count;
    (void)pthread_mutex_unlock(&server->lock);
    return count;
}

struct str raw_server_request(struct raw_server *server, size_t index)
{
    struct str request = { NULL, 0 };

    (void)pthread_mutex_lock(&server->lock);
    if (index < server->request_count)
        request = server->requests[index];
    (void)pthread_mutex_unlock(&server->lock);
    return request;
}

void raw_server_await(struct raw_server *server, size_t requests)
{
    (void)pthread_mutex_lock(&server->lock);
    while (server->request_count < requests)
        (void)pthread_cond_wait(&server->arrived, &server->lock);
    (void)pthread_mutex_unlock(&server->lock);
}

int raw_closed_port(void)
{
    int port;

    (void)close(listen_here(1, &port));
    return port;
}

int raw_deaf_port(int fds[4])
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    int port;

    fds[0] = listen_here(0, &port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)port);
    for (int i = 1; i < 4; i++) { /* the queue holds one; later ones wait */
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        must(fds[i] >= 0, "socket");
        (void)connect(fds[i], (struct sockaddr *)&address, sizeof(address));
    }
    return port;
}
