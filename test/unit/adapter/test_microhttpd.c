/* The web server by its sockets: whole requests, streams, slow clients, its end. */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapter/microhttpd/server.h"
#include "base/instant.h"
#include "test.h"

struct lines { /* a stream of as many lines as were asked for */
    struct web_stream stream;
    int left;
    bool fails;
    bool rests; /* it has nothing every second time it is asked */
    int asked;
};

static int closed; /* streams */

static bool more(struct web_stream *stream, int seat, struct buf *out, bool *is_end,
                 struct error *err)
{
    struct lines *lines = (struct lines *)stream;

    (void)seat;
    if (lines->rests && ++lines->asked % 2 == 0)
        return true;
    if (lines->fails && lines->left == 1)
        return error_set(err, ERROR_TRANSIENT, "test.fails", "no more");
    buf_add(out, STR("line\n"));
    *is_end = --lines->left == 0;
    return true;
}

static void close_lines(struct web_stream *stream)
{
    (void)stream;
    closed++;
}

static void handle(struct web_handler *handler, int seat, struct arena *arena,
                   const struct web_request *request, struct web_response *response)
{
    struct lines *lines = ARENA_NEW(arena, struct lines);

    (void)handler;
    (void)seat;
    response->status = 200;
    if (str_starts(request->target, STR("/lines"))) {
        *lines = (struct lines){ .stream = { more, close_lines },
                                 .left = str_ends(request->target, STR("long")) ? 1000 : 3,
                                 .fails = str_ends(request->target, STR("bad")),
                                 .rests = str_starts(request->target, STR("/lines/rests")) };
        response->stream = &lines->stream;
        return;
    }
    response->body = arena_printf(arena, "%.*s %.*s [%.*s] %s %.*s", STR_ARG(request->method),
                                  STR_ARG(request->target), STR_ARG(request->body),
                                  request->is_loopback ? "here" : "there", STR_ARG(request->peer));
}

static struct web_handler handler = { handle };

static struct web_server *start(void)
{
    const struct web_settings settings = { .address = STR("127.0.0.1"),
                                           .seats = 2,
                                           .connections_max = 16,
                                           .connections_per_peer_max = 16,
                                           .idle_us = 10 * US_PER_SECOND,
                                           .arrival_us = US_PER_SECOND,
                                           .sending_us = 10 * US_PER_SECOND,
                                           .handler = &handler };
    struct web_server *server;
    struct error err = { 0 };

    REQUIRE_OK(web_server_start(&server, &settings, &err), err);
    return server;
}

static int dial(const struct web_server *server)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)web_server_port(server)) };
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0, "connected");
    return fd;
}

static void send_text(int fd, const char *text)
{
    REQUIRE(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text), "sent");
}

/* All that comes until the server closes. */
static const char *read_all(int fd)
{
    static char text[65536];
    size_t len = 0;
    ssize_t got;

    while (len < sizeof(text) - 1 && (got = recv(fd, text + len, sizeof(text) - 1 - len, 0)) > 0)
        len += (size_t)got;
    text[len] = '\0';
    (void)close(fd);
    return text;
}

static const char *ask(const struct web_server *server, const char *text)
{
    const int fd = dial(server);

    send_text(fd, text);
    return read_all(fd);
}

TEST(a_request_arrives_whole_and_as_it_was_sent)
{
    struct web_server *server = start();
    const char *got;
    int fd;

    got = ask(server, "GET /a%2Fb?x=%20y HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    CHECK(strstr(got, "GET /a%2Fb?x=%20y [] here 127.0.0.1") != NULL, "nothing is decoded");
    fd = dial(server);
    send_text(fd,
              "POST /p HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 5\r\n\r\n12");
    send_text(fd, "345");
    CHECK(strstr(read_all(fd), "POST /p [12345]") != NULL, "a body in pieces");
    web_server_stop(server);
}

TEST(streams_are_sent_and_closed_whatever_becomes_of_them)
{
    struct web_server *server = start();
    const char *got;
    int fd;

    closed = 0;
    got = ask(server, "GET /lines HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    CHECK(strstr(got, "line\n") != NULL, "lines");
    CHECK(strstr(got, "\r\n0\r\n") != NULL, "and the end of the chunks");
    got = ask(server, "GET /lines/bad HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    CHECK(strstr(got, "line\n") != NULL, "what was there");
    CHECK(strstr(got, "\r\n0\r\n") == NULL, "a body that is not whole is not ended");
    fd = dial(server);
    send_text(fd, "GET /lines HTTP/1.1\r\nHost: h\r\n\r\n");
    (void)close(fd);
    web_server_stop(server);
    CHECK(closed >= 2, "each is closed");
}

/* Two seats, and more streams that rest: they take none. */
TEST(streams_that_have_nothing_take_no_seat_and_go_on)
{
    enum { STREAMS = 12 };
    struct web_server *server = start();
    int fds[STREAMS];
    char got[512];
    ssize_t len;

    closed = 0;
    for (int i = 0; i < STREAMS; i++) {
        fds[i] = dial(server);
        send_text(fds[i], "GET /lines/rests/long HTTP/1.1\r\nHost: h\r\n\r\n");
        len = recv(fds[i], got, sizeof(got) - 1, 0);
        REQUIRE(len > 0, "it begins");
    }
    CHECK(strstr(ask(server, "GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"), "/x") !=
              NULL,
          "others are answered");
    CHECK(strstr(ask(server, "GET /lines/rests HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
                 "\r\n0\r\n") != NULL,
          "one that rests comes to its end");
    web_server_stop(server);
    CHECK_EQ(closed, STREAMS + 1, "all are closed when the server stops");
    for (int i = 0; i < STREAMS; i++)
        (void)close(fds[i]);
}

TEST(whoever_is_too_slow_is_cut_off)
{
    struct web_server *server = start();
    const int fd = dial(server);

    send_text(fd, "GET /slow HTTP/1.1\r\nHo");
    CHECK_STR(str_of(read_all(fd)), STR(""), "closed without an answer");
    CHECK(strstr(ask(server, "GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"), "/x") !=
              NULL,
          "others are answered");
    web_server_stop(server);
}

TEST(an_address_that_is_taken_is_an_error_that_names_it)
{
    struct web_server *server = start(), *other;
    const struct web_settings settings = { .address = STR("127.0.0.1"),
                                           .port = web_server_port(server),
                                           .seats = 1,
                                           .connections_max = 1,
                                           .handler = &handler };
    struct error err = { 0 };

    CHECK(!web_server_start(&other, &settings, &err), "taken");
    CHECK_STR(str_of(err.code), STR("web.listen"), "code");
    CHECK(strstr(err.text, "127.0.0.1 port ") != NULL, "which");
    web_server_stop(server);
    web_server_stop(NULL);
}
