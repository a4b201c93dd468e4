/* Starting and stopping: the socket, the library, the threads beside it. */
#include "adapter/microhttpd/server.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/instant.h"

/* How long a server that stops waits for responses to be taken. */
enum { DRAIN_SECONDS = 5, BACKLOG = 512 };

static const char PRIORITIES[] = "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1";

/* ---- the socket ---- */

static bool resolve(const struct web_settings *settings, struct addrinfo **found, struct error *err)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE };
    char address[128], port[16];
    int code;

    (void)snprintf(address, sizeof(address), "%.*s", STR_ARG(settings->address));
    (void)snprintf(port, sizeof(port), "%d", settings->port);
    code = getaddrinfo(address, port, &hints, found);
    return code == 0 || error_set(err, ERROR_REQUEST, "web.address", "%s is not an address: %s",
                                  address, gai_strerror(code));
}

static bool bind_socket(const struct addrinfo *at, int fd, struct error *err)
{
    const int on = 1;

    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return true;
    return error_set(err, ERROR_TRANSIENT, "web.listen", "listen: %s", strerror(errno));
}

static bool open_socket(const struct web_settings *settings, int *fd, struct error *err)
{
    struct addrinfo *at;
    bool ok;

    if (!resolve(settings, &at, err))
        return false;
    *fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0)
        ok = error_set(err, ERROR_TRANSIENT, "web.socket", "socket: %s", strerror(errno));
    else
        ok = bind_socket(at, *fd, err);
    freeaddrinfo(at);
    if (!ok && *fd >= 0)
        (void)close(*fd);
    return ok || error_wrap(err, "%.*s port %d", STR_ARG(settings->address), settings->port);
}

static int port_of(int fd)
{
    struct sockaddr_storage at = { 0 };
    socklen_t size = sizeof(at);
    char port[16] = "0";

    if (getsockname(fd, (struct sockaddr *)&at, &size) == 0)
        (void)getnameinfo((struct sockaddr *)&at, size, NULL, 0, port, sizeof(port),
                          NI_NUMERICSERV);
    return (int)strtol(port, NULL, 10);
}

/* ---- the library ---- */

/* Targets are taken as they are; serve/target.h decodes their parts. */
static size_t leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

static void connected(void *context, struct MHD_Connection *connection, void **place,
                      enum MHD_ConnectionNotificationCode code)
{
    struct web_server *server = context;
    const union MHD_ConnectionInfo *info;

    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        deadline_give_back(&server->deadlines, *place);
        *place = NULL;
        return;
    }
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info != NULL)
        *place = deadline_take(&server->deadlines, info->connect_fd, server->settings.arrival_us);
}

static bool start_daemon(struct web_server *server, int fd, struct error *err)
{
    const struct web_settings *s = &server->settings;
    const bool is_tls = s->certificate.len > 0;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    struct MHD_OptionItem tls[] = {
        { MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)s->certificate.data },
        { MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)s->key.data },
        { MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)PRIORITIES },
        { MHD_OPTION_END, 0, NULL },
    };

    if (is_tls)
        flags |= MHD_USE_TLS;
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, exchange_go_on, server, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)s->connections_max,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)s->connections_per_peer_max,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(s->idle_us / US_PER_SECOND),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, WEB_CONNECTION_BYTES_MAX, MHD_OPTION_URI_LOG_CALLBACK,
        exchange_open, server, MHD_OPTION_NOTIFY_COMPLETED, exchange_close, server,
        MHD_OPTION_NOTIFY_CONNECTION, connected, server, MHD_OPTION_UNESCAPE_CALLBACK,
        leave_escaped, NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY,
        is_tls ? tls : &tls[3], MHD_OPTION_END);
    return server->daemon != NULL ||
           error_set(err, ERROR_REQUEST, "web.start", "%s",
                     is_tls ? "the server did not start: the certificate and the key must be PEM, "
                              "and belong to each other"
                            : "the server did not start");
}

/* ---- from start to end ---- */

static bool start_all(struct web_server *server, struct error *err)
{
    int fd;

    if (!open_socket(&server->settings, &fd, err))
        return false;
    server->port = port_of(fd);
    if (deadlines_start(&server->deadlines, (size_t)server->settings.connections_max, err) &&
        seats_start(&server->seats, server->settings.seats, server, err) &&
        start_daemon(server, fd, err))
        return true;
    (void)close(fd);
    return false;
}

bool web_server_start(struct web_server **out, const struct web_settings *settings,
                      struct error *err)
{
    struct web_server *server = calloc(1, sizeof(*server));

    *out = NULL;
    if (server == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a server");
    server->settings = *settings;
    (void)pthread_mutex_init(&server->lock, NULL);
    (void)pthread_cond_init(&server->drained, NULL);
    if (start_all(server, err)) {
        *out = server;
        return true;
    }
    web_server_stop(server);
    return false;
}

int web_server_port(const struct web_server *server)
{
    return server->port;
}

/* Until every response was taken, or it takes too long. */
static void drain(struct web_server *server)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until); /* the calendar may be set meanwhile */
    until.tv_sec += DRAIN_SECONDS;
    (void)pthread_mutex_lock(&server->lock);
    while (server->open > 0 &&
           pthread_cond_clockwait(&server->drained, &server->lock, CLOCK_MONOTONIC, &until) == 0)
        ;
    (void)pthread_mutex_unlock(&server->lock);
}

void web_server_stop(struct web_server *server)
{
    MHD_socket listening = MHD_INVALID_SOCKET;

    if (server == NULL)
        return;
    if (server->daemon != NULL) {
        listening = MHD_quiesce_daemon(server->daemon);
        seats_close(&server->seats);
        drain(server);
        MHD_stop_daemon(server->daemon);
    }
    if (listening != MHD_INVALID_SOCKET)
        (void)close(listening);
    seats_stop(&server->seats);
    deadlines_stop(&server->deadlines);
    (void)pthread_mutex_destroy(&server->lock);
    (void)pthread_cond_destroy(&server->drained);
    free(server);
}
