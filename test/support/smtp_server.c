/* A thread, and a dialogue by lines. */
#include "smtp_server.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

enum { MAILS_MAX = 100, MAIL_BYTES_MAX = 1 << 16, LINE_MAX_ = 2000 };

struct smtp_server {
    pthread_t thread;
    pthread_mutex_t mutex;
    int listening, port;
    atomic_bool is_over;
    atomic_int status;
    struct smtp_mail mails[MAILS_MAX];
    size_t count;
};

static void say(int fd, const char *text)
{
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

/* The next line with its end; 0: the other end is gone. */
static size_t read_line(int fd, char line[LINE_MAX_])
{
    size_t len = 0;

    while (len + 1 < LINE_MAX_ && recv(fd, line + len, 1, 0) == 1) {
        if (line[len++] == '\n')
            break;
    }
    line[len] = '\0';
    return len;
}

static void add(char *text, const char *line)
{
    const size_t len = strlen(text);

    if (len + strlen(line) < MAIL_BYTES_MAX)
        memcpy(text + len, line, strlen(line) + 1);
}

static void take(struct smtp_server *server, char *envelope, char *data)
{
    (void)pthread_mutex_lock(&server->mutex);
    if (server->count < MAILS_MAX)
        server->mails[server->count++] =
            (struct smtp_mail){ str_of(strdup(envelope)), str_of(strdup(data)) };
    (void)pthread_mutex_unlock(&server->mutex);
}

static void converse(struct smtp_server *server, int fd)
{
    char line[LINE_MAX_], *envelope = calloc(1, MAIL_BYTES_MAX), *data = calloc(1, MAIL_BYTES_MAX);
    char reply[64];

    say(fd, "220 test\r\n");
    while (read_line(fd, line) > 0) {
        if (strncmp(line, "MAIL", 4) == 0 || strncmp(line, "RCPT", 4) == 0)
            add(envelope, line);
        if (strncmp(line, "EHLO", 4) == 0) {
            say(fd, "250 test\r\n");
        } else if (strncmp(line, "DATA", 4) == 0) {
            say(fd, "354 go on\r\n");
            while (read_line(fd, line) > 0 && strcmp(line, ".\r\n") != 0)
                add(data, line);
            if (server->status == 250)
                take(server, envelope, data);
            (void)snprintf(reply, sizeof(reply), "%d so\r\n", server->status);
            say(fd, reply);
        } else if (strncmp(line, "QUIT", 4) == 0) {
            say(fd, "221 bye\r\n");
            break;
        } else {
            say(fd, "250 ok\r\n");
        }
    }
    free(envelope);
    free(data);
}

static void *serve(void *context)
{
    struct smtp_server *server = context;

    while (!server->is_over) {
        const int fd = accept(server->listening, NULL, NULL);

        if (fd < 0)
            continue;
        converse(server, fd);
        (void)close(fd);
    }
    return NULL;
}

struct smtp_server *smtp_server_start(int status)
{
    struct smtp_server *server = calloc(1, sizeof(*server));
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);

    server->status = status;
    server->listening = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(bind(server->listening, (struct sockaddr *)&at, sizeof(at)) == 0 &&
                listen(server->listening, 16) == 0 &&
                getsockname(server->listening, (struct sockaddr *)&at, &len) == 0,
            "a port");
    server->port = ntohs(at.sin_port);
    (void)pthread_mutex_init(&server->mutex, NULL);
    REQUIRE(pthread_create(&server->thread, NULL, serve, server) == 0, "a thread");
    return server;
}

void smtp_server_end(struct smtp_server *server)
{
    if (server == NULL)
        return;
    server->is_over = true;
    (void)shutdown(server->listening, SHUT_RDWR);
    (void)pthread_join(server->thread, NULL);
    (void)close(server->listening);
    for (size_t i = 0; i < server->count; i++) {
        free((char *)server->mails[i].envelope.data);
        free((char *)server->mails[i].data.data);
    }
    (void)pthread_mutex_destroy(&server->mutex);
    free(server);
}

int smtp_server_port(const struct smtp_server *server)
{
    return server->port;
}

void smtp_server_answer(struct smtp_server *server, int status)
{
    server->status = status;
}

size_t smtp_server_count(struct smtp_server *server)
{
    size_t count;

    (void)pthread_mutex_lock(&server->mutex);
    count = server->count;
    (void)pthread_mutex_unlock(&server->mutex);
    return count;
}

struct smtp_mail smtp_server_mail(struct smtp_server *server, size_t index)
{
    struct smtp_mail mail;

    (void)pthread_mutex_lock(&server->mutex);
    mail = server->mails[index];
    (void)pthread_mutex_unlock(&server->mutex);
    return mail;
}
