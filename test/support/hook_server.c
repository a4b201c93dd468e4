/* One thread polls all connections; a request is answered when its last byte is there. */
#include "hook_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

enum { CONNECTIONS_MAX = 64, REQUESTS_MAX = 200000 };

struct connection {
    int fd;
    char *data;
    size_t len, capacity;
};

struct hook_server {
    pthread_t thread;
    pthread_mutex_t mutex;
    hook_answer answer;
    void *context;
    const char *body; /* of answers; NULL: none */
    int listening, port, stop;
    struct connection connections[CONNECTIONS_MAX];
    size_t connection_count;
    struct hook_request *requests;
    size_t count, posts;
};

struct str hook_header(const struct hook_request *request, const char *name)
{
    struct str rest = request->head;

    (void)str_cut(&rest, '\n');
    while (rest.len > 0) {
        struct str line = str_cut(&rest, '\n');
        const struct str key = str_cut(&line, ':');

        if (str_eq_nocase(str_trim(key), str_of(name)))
            return str_trim(line);
    }
    return (struct str){ 0 };
}

static struct str kept(struct str bytes)
{
    char *copy = malloc(bytes.len + 1);

    if (bytes.len > 0)
        memcpy(copy, bytes.data, bytes.len);
    return (struct str){ copy, bytes.len };
}

static void respond(struct hook_server *server, int fd, const struct hook_request *request)
{
    const bool is_post = str_starts(request->head, STR("POST "));
    const char *headers = "";
    const char *body = server->body != NULL ? server->body : "";
    char text[512];
    int status = 200, len;

    if (is_post && server->answer != NULL)
        status = server->answer(server->context, request, &headers);
    (void)pthread_mutex_lock(&server->mutex);
    server->posts += is_post;
    if (is_post && status >= 200 && status < 300 && server->count < REQUESTS_MAX)
        server->requests[server->count++] =
            (struct hook_request){ kept(request->head), kept(request->body) };
    (void)pthread_mutex_unlock(&server->mutex);
    len = snprintf(text, sizeof(text), "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n%s\r\n%s", status,
                   strlen(body), headers, body);
    (void)!send(fd, text, (size_t)len, MSG_NOSIGNAL);
}

void hook_server_say(struct hook_server *server, const char *body)
{
    server->body = body;
}

/* Answers every whole request of the buffer. */
static void answer_all(struct hook_server *server, struct connection *connection)
{
    for (;;) {
        const struct str all = { connection->data, connection->len };
        const size_t end = str_find(all, STR("\r\n\r\n"));
        struct hook_request request = { .head = str_slice(all, 0, end + 2) };
        int64_t length = 0;
        size_t total;

        if (end == all.len)
            return;
        (void)str_to_i64(hook_header(&request, "content-length"), &length);
        total = end + 4 + (size_t)length;
        if (all.len < total)
            return;
        request.body = str_slice(all, end + 4, total);
        respond(server, connection->fd, &request);
        memmove(connection->data, connection->data + total, all.len - total);
        connection->len -= total;
    }
}

/* False when the connection has ended. */
static bool receive(struct hook_server *server, struct connection *connection)
{
    ssize_t got;

    if (connection->capacity - connection->len < 65536) {
        connection->capacity = 2 * connection->capacity + 65536;
        connection->data = realloc(connection->data, connection->capacity);
    }
    got = recv(connection->fd, connection->data + connection->len,
               connection->capacity - connection->len, 0);
    if (got <= 0)
        return false;
    connection->len += (size_t)got;
    answer_all(server, connection);
    return true;
}

static void drop(struct hook_server *server, size_t i)
{
    (void)close(server->connections[i].fd);
    free(server->connections[i].data);
    server->connections[i] = server->connections[--server->connection_count];
}

static void *run(void *context)
{
    struct hook_server *server = context;

    for (;;) {
        struct pollfd fds[CONNECTIONS_MAX + 2] = { { server->stop, POLLIN, 0 },
                                                   { server->listening, POLLIN, 0 } };
        const size_t count = server->connection_count;

        for (size_t i = 0; i < count; i++)
            fds[i + 2] = (struct pollfd){ server->connections[i].fd, POLLIN, 0 };
        if (poll(fds, count + 2, -1) < 0 || fds[0].revents != 0)
            return NULL;
        for (size_t i = count; i-- > 0;) {
            if (fds[i + 2].revents != 0 && !receive(server, &server->connections[i]))
                drop(server, i);
        }
        if (fds[1].revents != 0 && server->connection_count < CONNECTIONS_MAX) {
            const int fd = accept(server->listening, NULL, NULL);

            if (fd >= 0)
                server->connections[server->connection_count++] = (struct connection){ .fd = fd };
        }
    }
}

void hook_server_resume(struct hook_server *server)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                   .sin_port = htons((uint16_t)server->port) };
    socklen_t len = sizeof(address);

    server->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    server->stop = eventfd(0, EFD_CLOEXEC);
    (void)setsockopt(server->listening, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
    REQUIRE(bind(server->listening, (struct sockaddr *)&address, sizeof(address)) == 0 &&
                listen(server->listening, 64) == 0 &&
                getsockname(server->listening, (struct sockaddr *)&address, &len) == 0 &&
                pthread_create(&server->thread, NULL, run, server) == 0,
            "the receiver listens");
    server->port = ntohs(address.sin_port);
}

struct hook_server *hook_server_start(hook_answer answer, void *context)
{
    struct hook_server *server = calloc(1, sizeof(*server));

    REQUIRE(server != NULL, "memory");
    server->requests = calloc(REQUESTS_MAX, sizeof(*server->requests));
    REQUIRE(server->requests != NULL, "memory");
    (void)pthread_mutex_init(&server->mutex, NULL);
    server->answer = answer;
    server->context = context;
    hook_server_resume(server);
    return server;
}

void hook_server_stop(struct hook_server *server)
{
    (void)!write(server->stop, &(uint64_t){ 1 }, sizeof(uint64_t));
    (void)pthread_join(server->thread, NULL);
    while (server->connection_count > 0)
        drop(server, 0);
    (void)close(server->listening);
    (void)close(server->stop);
    server->listening = -1;
}

void hook_server_end(struct hook_server *server)
{
    if (server == NULL)
        return;
    if (server->listening >= 0)
        hook_server_stop(server);
    for (size_t i = 0; i < server->count; i++) {
        free((char *)server->requests[i].head.data);
        free((char *)server->requests[i].body.data);
    }
    free(server->requests);
    (void)pthread_mutex_destroy(&server->mutex);
    free(server);
}

int hook_server_port(const struct hook_server *server)
{
    return server->port;
}

size_t hook_server_count(struct hook_server *server)
{
    size_t count;

    (void)pthread_mutex_lock(&server->mutex);
    count = server->count;
    (void)pthread_mutex_unlock(&server->mutex);
    return count;
}

size_t hook_server_posts(struct hook_server *server)
{
    size_t posts;

    (void)pthread_mutex_lock(&server->mutex);
    posts = server->posts;
    (void)pthread_mutex_unlock(&server->mutex);
    return posts;
}

struct hook_request hook_server_request(struct hook_server *server, size_t index)
{
    struct hook_request request;

    (void)pthread_mutex_lock(&server->mutex);
    request = server->requests[index];
    (void)pthread_mutex_unlock(&server->mutex);
    return request;
}
