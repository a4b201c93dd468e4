/* One thread: a connection is read request by request, the next when that is over. */
#include "kafka_refuser.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

enum { HANDSHAKE = 17, API_VERSIONS = 18, AUTHENTICATE = 36 };
enum { SASL_FAILED = 58 };
enum { HEAD_BYTES = 8, MESSAGE_MAX = 4096, SILENCE_MS = 2000 };

struct kafka_refuser {
    pthread_t thread;
    const char *const *texts;
    size_t text_count;
    atomic_size_t refusals;
    int listening;
    int port;
    int stop;
};

/* ---- bytes ---- */

struct message {
    unsigned char bytes[MESSAGE_MAX];
    size_t len;
};

static void add(struct message *message, uint32_t value, size_t width)
{
    for (size_t i = width; i > 0; i--)
        message->bytes[message->len++] = (unsigned char)(value >> 8 * (i - 1));
}

static void add_text(struct message *message, const char *text)
{
    const size_t len = strlen(text);

    REQUIRE(message->len + len + 64 < MESSAGE_MAX, "it fits");
    add(message, (uint32_t)len, 2);
    memcpy(message->bytes + message->len, text, len);
    message->len += len;
}

static uint32_t number(const unsigned char *bytes, size_t width)
{
    uint32_t value = 0;

    for (size_t i = 0; i < width; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* ---- answers ---- */

/* From version 3 on, arrays have their count and one in a byte, and entries have tags. */
static void say_versions(struct message *message, uint32_t version)
{
    static const uint32_t calls[][3] = { { HANDSHAKE, 0, 1 },
                                         { API_VERSIONS, 0, 3 },
                                         { AUTHENTICATE, 0, 0 } };
    const bool has_tags = version >= 3;

    add(message, 0, 2);
    add(message, ARRAY_LEN(calls) + has_tags, has_tags ? 1 : 4);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        for (size_t k = 0; k < 3; k++)
            add(message, calls[i][k], 2);
        if (has_tags)
            add(message, 0, 1);
    }
    if (version >= 1)
        add(message, 0, 4); /* nobody is throttled */
    if (has_tags)
        add(message, 0, 1);
}

static void say_mechanisms(struct message *message)
{
    add(message, 0, 2);
    add(message, 1, 4);
    add_text(message, "SCRAM-SHA-512");
}

static void refuse(struct kafka_refuser *refuser, struct message *message)
{
    const size_t refusals = atomic_fetch_add(&refuser->refusals, 1);

    add(message, SASL_FAILED, 2);
    add_text(message, refuser->texts[refusals % refuser->text_count]);
    add(message, 0, 4);
}

/* ---- connections ---- */

static bool receive(const struct kafka_refuser *refuser, int fd, unsigned char *bytes, size_t len)
{
    for (size_t got = 0; got < len;) {
        struct pollfd fds[2] = { { fd, POLLIN, 0 }, { refuser->stop, POLLIN, 0 } };
        ssize_t some;

        if (poll(fds, 2, SILENCE_MS) <= 0 || fds[1].revents != 0)
            return false;
        some = recv(fd, bytes + got, len - got, 0);
        if (some <= 0)
            return false;
        got += (size_t)some;
    }
    return true;
}

/* The size of a request, call, version, number; then what is of no interest here. */
static bool serve_one(struct kafka_refuser *refuser, int fd)
{
    unsigned char size[4], request[MESSAGE_MAX];
    struct message message = { .len = 4 };
    uint32_t len, call;

    if (!receive(refuser, fd, size, sizeof(size)))
        return false;
    len = number(size, 4);
    if (len < HEAD_BYTES || len > sizeof(request) || !receive(refuser, fd, request, len))
        return false;
    call = number(request, 2);
    add(&message, number(request + 4, 4), 4);
    if (call == API_VERSIONS)
        say_versions(&message, number(request + 2, 2));
    else if (call == HANDSHAKE)
        say_mechanisms(&message);
    else if (call == AUTHENTICATE)
        refuse(refuser, &message);
    else
        return false;
    len = (uint32_t)message.len - 4;
    message.len = 0;
    add(&message, len, 4);
    return send(fd, message.bytes, len + 4, MSG_NOSIGNAL) == (ssize_t)len + 4;
}

static void *run(void *context)
{
    struct kafka_refuser *refuser = context;

    for (;;) {
        struct pollfd fds[2] = { { refuser->listening, POLLIN, 0 }, { refuser->stop, POLLIN, 0 } };
        int fd;

        if (poll(fds, 2, -1) < 0 || fds[1].revents != 0)
            return NULL;
        fd = accept(refuser->listening, NULL, NULL);
        while (fd >= 0 && serve_one(refuser, fd))
            continue;
        if (fd >= 0)
            (void)close(fd);
    }
}

struct kafka_refuser *kafka_refuser_start(const char *const *texts, size_t count)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct kafka_refuser *refuser = calloc(1, sizeof(*refuser));
    socklen_t len = sizeof(address);

    REQUIRE(refuser != NULL, "memory");
    refuser->texts = texts;
    refuser->text_count = count;
    refuser->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    refuser->stop = eventfd(0, EFD_CLOEXEC);
    REQUIRE(bind(refuser->listening, (struct sockaddr *)&address, sizeof(address)) == 0 &&
                listen(refuser->listening, 64) == 0 &&
                getsockname(refuser->listening, (struct sockaddr *)&address, &len) == 0 &&
                pthread_create(&refuser->thread, NULL, run, refuser) == 0,
            "the broker listens");
    refuser->port = ntohs(address.sin_port);
    return refuser;
}

int kafka_refuser_port(const struct kafka_refuser *refuser)
{
    return refuser->port;
}

size_t kafka_refuser_refusals(struct kafka_refuser *refuser)
{
    return atomic_load(&refuser->refusals);
}

void kafka_refuser_stop(struct kafka_refuser *refuser)
{
    if (refuser == NULL)
        return;
    (void)!write(refuser->stop, &(uint64_t){ 1 }, sizeof(uint64_t));
    (void)pthread_join(refuser->thread, NULL);
    (void)close(refuser->listening);
    (void)close(refuser->stop);
    free(refuser);
}
