/* A connection is a thread that reads, responds and writes in turn; the stop event interrupts every
 * wait. The simulator has tens of clients, not thousands, and its main job is to misbehave. With a
 * thread a drip is a write and a pause, a stall is a pause, a reset is one line; an event loop
 * would need a state for each.
 *
 * The server is written by hand because libraries send only correct responses. libmicrohttpd frames
 * responses itself: it cannot send a chunked body without its end, a body longer than its
 * Content-Length, or an RST in the middle of a response. It also needs GnuTLS, a second TLS
 * library.
 */
#include "sim/server/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sim/http/request.h"
#include "sim/http/wire.h"

enum {
    CONNECTIONS_MAX = 1000,
    BACKLOG = 512,
    STACK_BYTES = 512 << 10,
    CALL_BYTES_MAX = 512 << 20,
    RESPONSE_BYTES_MAX = 256 << 20,
    RESPONSE_BYTES_KEPT = 16 << 20, /* a connection keeps this much for its next response */
};

struct listener {
    struct server *server;
    enum server_listener kind;
    int fd;
    int port;
    pthread_t thread;
    bool running;
};

struct server {
    struct handler *handler;
    SSL_CTX *tls;
    int stop_fd;
    struct listener listeners[LISTENER_COUNT];
    char bases[2][64];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int connections;
};

struct connection {
    struct server *server;
    enum server_listener listener;
    int fd;
    char client[64];
    struct wire wire;
    struct request_input input;
    struct arena arena;          /* of the call */
    struct arena response_arena; /* of the response's bytes; the next response reuses it */
    struct buf response;
    struct http_call call;
};

/* ---- one connection ---- */

struct ending_call {
    struct handler *handler;
    struct served_request *served;
};

static void end_call(void *context, bool complete)
{
    const struct ending_call *ending = context;

    handler_end(ending->handler, ending->served, complete);
}

static void end_without_call(void *context, bool complete)
{
    (void)context;
    (void)complete;
}

static void begin_call(struct connection *connection)
{
    arena_reset(&connection->arena);
    if (connection->response.capacity > RESPONSE_BYTES_KEPT) {
        arena_release(&connection->response_arena);
        connection->response.data = NULL;
    }
    if (connection->response.data == NULL) {
        arena_init(&connection->response_arena, 2 * (size_t)RESPONSE_BYTES_MAX);
        buf_init(&connection->response, &connection->response_arena, RESPONSE_BYTES_MAX);
    }
    buf_clear(&connection->response);
    connection->call = (struct http_call){
        .arena = &connection->arena,
        .scheme = connection->listener == LISTENER_HTTPS ? STR("https") : STR("http"),
        .response = connection->response,
    };
}

static enum response_end respond(struct connection *connection, const struct request_traits *traits)
{
    struct handler *handler = connection->server->handler;
    struct served_request served = { .call = &connection->call,
                                     .other_host = connection->listener == LISTENER_OTHER,
                                     .client = str_of(connection->client) };
    struct ending_call ending = { handler, &served };
    struct response response = { .wire = &connection->wire,
                                 .call = &connection->call,
                                 .fault = &served.fault,
                                 .traits = traits,
                                 .options = &handler->response,
                                 .done = end_call,
                                 .context = &ending };
    enum response_end end;
    bool broken;

    handler_begin(handler, &served);
    handler_respond(handler, &served);
    if (connection->call.response.failed)
        call_respond(&connection->call, 500, STR("text/plain"),
                     STR("the response exceeds the simulator's limit\n"));
    end = response_send(&response, &broken);
    if (broken)
        handler_broken(handler, &served);
    connection->response = connection->call.response;
    return end;
}

static void respond_bad(struct connection *connection, const struct error *err)
{
    static const struct fault no_fault = { 0 };
    const struct request_traits traits = { 0 };
    const struct response_options options = { 0 };
    struct response response = { .wire = &connection->wire,
                                 .call = &connection->call,
                                 .fault = &no_fault,
                                 .traits = &traits,
                                 .options = &options,
                                 .done = end_without_call };
    bool broken;

    connection->call.method = STR("");
    call_respond(&connection->call, connection->call.status, STR("text/plain"), str_of(err->text));
    (void)response_send(&response, &broken);
    connection->response = connection->call.response;
}

static enum response_end serve_one(struct connection *connection)
{
    struct request_traits traits;
    struct error err;

    begin_call(connection);
    switch (request_read(&connection->wire, &connection->input, &connection->call, &traits, &err)) {
    case REQUEST_READY:
        return respond(connection, &traits);
    case REQUEST_BAD:
        respond_bad(connection, &err);
        return RESPONSE_CLOSE;
    default:
        return RESPONSE_CLOSE;
    }
}

static bool is_stopping(const struct server *server)
{
    struct pollfd stop = { server->stop_fd, POLLIN, 0 };

    return poll(&stop, 1, 0) > 0;
}

static void *connection_main(void *context)
{
    struct connection *connection = context;
    struct server *server = connection->server;
    enum response_end end = RESPONSE_KEEP;

    arena_init(&connection->arena, CALL_BYTES_MAX);
    if (wire_open(&connection->wire, connection->fd, server->stop_fd,
                  connection->listener == LISTENER_HTTPS ? server->tls : NULL)) {
        do
            end = serve_one(connection);
        while (end == RESPONSE_KEEP && !is_stopping(server));
    }
    if (end == RESPONSE_RESET)
        wire_reset(&connection->wire);
    else
        wire_close(&connection->wire);
    arena_release(&connection->arena);
    arena_release(&connection->response_arena);
    free(connection);
    OPENSSL_thread_stop(); /* now, because nothing waits for this thread once it is counted out */
    (void)pthread_mutex_lock(&server->lock);
    server->connections--;
    (void)pthread_cond_signal(&server->changed);
    (void)pthread_mutex_unlock(&server->lock);
    return NULL;
}

/* ---- accepting ---- */

static bool count_in(struct server *server)
{
    bool room;

    (void)pthread_mutex_lock(&server->lock);
    room = server->connections < CONNECTIONS_MAX;
    server->connections += room;
    (void)pthread_mutex_unlock(&server->lock);
    return room;
}

static void count_out(struct server *server)
{
    (void)pthread_mutex_lock(&server->lock);
    server->connections--;
    (void)pthread_mutex_unlock(&server->lock);
}

static bool start_connection(struct server *server, struct connection *connection)
{
    pthread_attr_t attr;
    pthread_t thread;
    bool started;

    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    started = count_in(server);
    if (started && pthread_create(&thread, &attr, connection_main, connection) != 0) {
        count_out(server);
        started = false;
    }
    (void)pthread_attr_destroy(&attr);
    return started;
}

static void accept_one(struct listener *listener)
{
    struct sockaddr_in peer = { 0 };
    socklen_t size = sizeof(peer);
    const int fd =
        accept4(listener->fd, (struct sockaddr *)&peer, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct connection *connection;
    char address[INET_ADDRSTRLEN] = "";
    const int one = 1;

    if (fd < 0)
        return;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    connection = calloc(1, sizeof(*connection));
    if (connection != NULL) {
        connection->server = listener->server;
        connection->listener = listener->kind;
        connection->fd = fd;
        (void)inet_ntop(AF_INET, &peer.sin_addr, address, sizeof(address));
        (void)snprintf(connection->client, sizeof(connection->client), "%s:%d", address,
                       ntohs(peer.sin_port));
    }
    if (connection == NULL || !start_connection(listener->server, connection)) {
        free(connection);
        (void)close(fd);
    }
}

static void *listener_main(void *context)
{
    struct listener *listener = context;

    for (;;) {
        struct pollfd fds[2] = { { listener->fd, POLLIN, 0 },
                                 { listener->server->stop_fd, POLLIN, 0 } };

        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return NULL;
        if (fds[1].revents != 0)
            return NULL;
        if (fds[0].revents != 0)
            accept_one(listener);
    }
}

/* ---- opening and closing ---- */

static bool open_listener(struct listener *listener, const char *address, int port,
                          struct error *err)
{
    struct sockaddr_in place = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    socklen_t size = sizeof(place);
    const int one = 1;

    if (inet_pton(AF_INET, address, &place.sin_addr) != 1)
        return error_set(err, ERROR_REQUEST, "listen.address", "'%s' is not an IPv4 address",
                         address);
    listener->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener->fd < 0)
        return error_set(err, ERROR_TRANSIENT, "listen.socket", "socket: %s", strerror(errno));
    (void)setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(listener->fd, (struct sockaddr *)&place, sizeof(place)) != 0 ||
        listen(listener->fd, BACKLOG) != 0 ||
        getsockname(listener->fd, (struct sockaddr *)&place, &size) != 0)
        return error_set(err, ERROR_TRANSIENT, "listen.bind", "%s:%d: %s", address, port,
                         strerror(errno));
    listener->port = ntohs(place.sin_port);
    return true;
}

static struct str base_of(const struct server *server, char *text, size_t size, const char *address,
                          enum server_listener listener)
{
    const int len =
        snprintf(text, size, "%s://%s:%d", listener == LISTENER_HTTPS ? "https" : "http", address,
                 server->listeners[listener].port);

    return (struct str){ text, (size_t)len };
}

static void name_bases(struct server *server, const struct server_options *options)
{
    const enum server_listener main_listener =
        server->listeners[LISTENER_HTTP].fd >= 0 ? LISTENER_HTTP : LISTENER_HTTPS;

    server->handler->main_base = base_of(server, server->bases[0], sizeof(server->bases[0]),
                                         options->address, main_listener);
    if (server->listeners[LISTENER_OTHER].fd >= 0)
        server->handler->other_base = base_of(server, server->bases[1], sizeof(server->bases[1]),
                                              options->other_address, LISTENER_OTHER);
}

bool server_open(const struct server_options *options, struct handler *handler,
                 struct server **opened, struct error *err)
{
    struct server *server = calloc(1, sizeof(*server));
    bool ok = true;

    if (server == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory", "no memory for the server");
    *server = (struct server){ .handler = handler, .tls = options->tls };
    (void)pthread_mutex_init(&server->lock, NULL);
    (void)pthread_cond_init(&server->changed, NULL);
    server->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (int i = 0; i < LISTENER_COUNT; i++)
        server->listeners[i] = (struct listener){
            .server = server, .kind = (enum server_listener)i, .fd = -1, .port = -1
        };
    for (int i = 0; ok && i < LISTENER_COUNT; i++) {
        if (options->ports[i] >= 0)
            ok = open_listener(&server->listeners[i],
                               i == LISTENER_OTHER ? options->other_address : options->address,
                               options->ports[i], err);
    }
    if (!ok) {
        server_close(server);
        return error_wrap(err, "listen");
    }
    name_bases(server, options);
    *opened = server;
    return true;
}

int server_port(const struct server *server, enum server_listener listener)
{
    return server->listeners[listener].port;
}

bool server_start(struct server *server, struct error *err)
{
    (void)signal(SIGPIPE, SIG_IGN); /* OpenSSL writes without MSG_NOSIGNAL */
    for (int i = 0; i < LISTENER_COUNT; i++) {
        struct listener *listener = &server->listeners[i];

        if (listener->fd < 0)
            continue;
        if (pthread_create(&listener->thread, NULL, listener_main, listener) != 0)
            return error_set(err, ERROR_TRANSIENT, "thread", "no thread for the listener");
        listener->running = true;
    }
    return true;
}

void server_close(struct server *server)
{
    const uint64_t one = 1;

    if (server == NULL)
        return;
    if (write(server->stop_fd, &one, sizeof(one)) < 0)
        abort(); /* writing 1 to an eventfd cannot fail */
    for (int i = 0; i < LISTENER_COUNT; i++) {
        if (server->listeners[i].running)
            (void)pthread_join(server->listeners[i].thread, NULL);
        if (server->listeners[i].fd >= 0)
            (void)close(server->listeners[i].fd);
    }
    (void)pthread_mutex_lock(&server->lock);
    while (server->connections > 0)
        (void)pthread_cond_wait(&server->changed, &server->lock);
    (void)pthread_mutex_unlock(&server->lock);
    (void)close(server->stop_fd);
    (void)pthread_cond_destroy(&server->changed);
    (void)pthread_mutex_destroy(&server->lock);
    free(server);
}
