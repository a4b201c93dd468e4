/* One request, from its first line to the end of its response. All but exchange_work() runs in the
 * library's thread. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/microhttpd/server.h"

/* What the client sees where the handler cannot be asked. */
static const char TOO_LARGE[] = "{\"type\":\"urn:patra:problem:body.size\",\"title\":"
                                "\"The body is too large.\",\"status\":413,\"code\":\"body.size\"}";
static const char BUSY[] = "{\"type\":\"urn:patra:problem:server.busy\",\"title\":"
                           "\"Too many requests are under way.\",\"status\":503,"
                           "\"code\":\"server.busy\"}";

/* ---- the request ---- */

void *exchange_open(void *server, const char *target, struct MHD_Connection *connection)
{
    struct web_server *of = server;
    struct exchange *exchange = calloc(1, sizeof(*exchange));

    if (exchange == NULL)
        return NULL;
    exchange->server = of;
    exchange->connection = connection;
    arena_init(&exchange->arena, WEB_ARENA_BYTES_MAX);
    arena_init(&exchange->chunk_arena, WEB_CHUNK_BYTES_MAX);
    buf_init(&exchange->body, &exchange->arena, WEB_BODY_BYTES_MAX);
    exchange->request.target = arena_copy(&exchange->arena, str_of(target));
    (void)pthread_mutex_lock(&of->lock);
    of->open++;
    (void)pthread_mutex_unlock(&of->lock);
    return exchange;
}

static struct str header(const struct exchange *exchange, const char *name)
{
    return str_of(MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name));
}

static struct str kept_header(struct exchange *exchange, const char *name)
{
    const struct str value = header(exchange, name);

    return value.data == NULL ? value : arena_copy(&exchange->arena, value);
}

static bool is_loopback_v4(const struct in_addr *address)
{
    return ntohl(address->s_addr) >> 24 == 127;
}

static void read_peer(struct exchange *exchange)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct web_request *request = &exchange->request;
    char text[INET6_ADDRSTRLEN] = "";
    struct sockaddr_in6 six;
    struct sockaddr_in four;

    if (info == NULL || info->client_addr == NULL)
        return;
    if (info->client_addr->sa_family == AF_INET) {
        memcpy(&four, info->client_addr, sizeof(four));
    } else if (info->client_addr->sa_family == AF_INET6) {
        memcpy(&six, info->client_addr, sizeof(six));
        if (!IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
            request->is_loopback = IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
            (void)inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof(text));
            request->peer = arena_copy(&exchange->arena, str_of(text));
            return;
        }
        memcpy(&four.sin_addr, &six.sin6_addr.s6_addr[12], sizeof(four.sin_addr));
    } else {
        return;
    }
    request->is_loopback = is_loopback_v4(&four.sin_addr);
    (void)inet_ntop(AF_INET, &four.sin_addr, text, sizeof(text));
    request->peer = arena_copy(&exchange->arena, str_of(text));
}

static void read_head(struct exchange *exchange, const char *method)
{
    struct web_request *request = &exchange->request;

    request->method = arena_copy(&exchange->arena, str_of(method));
    request->host = kept_header(exchange, "Host");
    request->authorization = kept_header(exchange, "Authorization");
    request->content_type = kept_header(exchange, "Content-Type");
    request->origin = kept_header(exchange, "Origin");
    request->fetch_site = kept_header(exchange, "Sec-Fetch-Site");
    request->if_none_match = kept_header(exchange, "If-None-Match");
    request->idempotency_key = kept_header(exchange, "Idempotency-Key");
    request->accept = kept_header(exchange, "Accept");
    request->cookie = kept_header(exchange, "Cookie");
    request->is_tls = exchange->server->settings.certificate.len > 0;
    request->is_forwarded = header(exchange, "Forwarded").data != NULL ||
                            header(exchange, "X-Forwarded-For").data != NULL ||
                            header(exchange, "X-Real-IP").data != NULL;
    read_peer(exchange);
}

/* ---- the response ---- */

static struct deadline *deadline_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info == NULL ? NULL : info->socket_context;
}

/* The library asks for the next bytes of a stream. */
static ssize_t give(void *context, uint64_t position, char *out, size_t room)
{
    struct exchange *exchange = context;
    const size_t left = exchange->chunk.len - exchange->chunk_sent;
    const size_t now = left < room ? left : room;

    (void)position;
    if (exchange->is_broken)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (now > 0) {
        memcpy(out, exchange->chunk.data + exchange->chunk_sent, now);
        exchange->chunk_sent += now;
        return (ssize_t)now;
    }
    if (exchange->is_end)
        return MHD_CONTENT_READER_END_OF_STREAM;
    return seats_take(&exchange->server->seats, exchange, true) ? 0
                                                                : MHD_CONTENT_READER_END_WITH_ERROR;
}

static struct MHD_Response *make_response(struct exchange *exchange)
{
    const struct web_response *response = &exchange->response;
    const size_t block = (size_t)32 << 10;

    if (response->stream != NULL)
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, block, give, exchange, NULL);
    /* The library takes a pointer to what it will not change. */
    return MHD_create_response_from_buffer(
        response->body.len, (void *)(uintptr_t)response->body.data, MHD_RESPMEM_PERSISTENT);
}

static bool add_headers(struct MHD_Response *made, struct exchange *exchange)
{
    const struct web_response *response = &exchange->response;
    bool ok = true;

    for (size_t i = 0; i < response->header_count && ok; i++) {
        const struct str name = arena_copy(&exchange->arena, response->headers[i].name);
        const struct str value = arena_copy(&exchange->arena, response->headers[i].value);

        ok = name.data != NULL && value.data != NULL &&
             MHD_add_response_header(made, name.data, value.data) == MHD_YES;
    }
    return ok;
}

static enum MHD_Result answer(struct exchange *exchange)
{
    struct MHD_Response *made = make_response(exchange);
    enum MHD_Result result = MHD_NO;

    if (made == NULL)
        return MHD_NO;
    exchange->state = EXCHANGE_SENDING;
    deadline_set(&exchange->server->deadlines, deadline_of(exchange->connection),
                 exchange->server->settings.sending_us);
    if (add_headers(made, exchange))
        result =
            MHD_queue_response(exchange->connection, (unsigned)exchange->response.status, made);
    MHD_destroy_response(made);
    return result;
}

static enum MHD_Result refuse(struct exchange *exchange, int status, const char *problem)
{
    exchange->response = (struct web_response){ .status = status, .body = str_of(problem) };
    web_header_add(&exchange->response, STR("Content-Type"), STR("application/problem+json"));
    web_header_add(&exchange->response, STR("Connection"), STR("close"));
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        web_header_add(&exchange->response, STR("Retry-After"), STR("1"));
    return answer(exchange);
}

/* ---- the library's calls ---- */

static void receive(struct exchange *exchange, const char *upload, size_t size)
{
    if (exchange->body.len + size > WEB_BODY_BYTES_MAX)
        exchange->is_too_large = true;
    else
        buf_add(&exchange->body, (struct str){ upload, size });
}

static enum MHD_Result received(struct exchange *exchange)
{
    struct error err;

    if (exchange->is_too_large)
        return refuse(exchange, MHD_HTTP_CONTENT_TOO_LARGE, TOO_LARGE);
    if (exchange->arena.failed || !buf_ok(&exchange->body, &err))
        return MHD_NO;
    exchange->request.body = buf_str(&exchange->body);
    exchange->state = EXCHANGE_WAITING;
    deadline_set(&exchange->server->deadlines, deadline_of(exchange->connection), 0);
    if (seats_take(&exchange->server->seats, exchange, false))
        return MHD_YES;
    return refuse(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, BUSY);
}

enum MHD_Result exchange_go_on(void *server, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **context)
{
    struct exchange *exchange = *context;

    (void)server;
    (void)connection;
    (void)url; /* it is in the target */
    (void)version;
    if (exchange == NULL)
        return MHD_NO;
    if (exchange->state == EXCHANGE_NEW) {
        read_head(exchange, method);
        exchange->state = EXCHANGE_RECEIVING;
        return MHD_YES;
    }
    if (*upload_size > 0) {
        receive(exchange, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    return exchange->state == EXCHANGE_RECEIVING ? received(exchange) : answer(exchange);
}

/* Ours, in the arena. */
static void wipe(struct str secret)
{
    if (secret.len > 0)
        explicit_bzero((void *)(uintptr_t)secret.data, secret.len);
}

void exchange_close(void *server, struct MHD_Connection *connection, void **context,
                    enum MHD_RequestTerminationCode why)
{
    struct web_server *of = server;
    struct exchange *exchange = *context;

    (void)why;
    if (exchange == NULL)
        return;
    /* The next request on this connection. */
    deadline_set(&of->deadlines, deadline_of(connection),
                 of->settings.idle_us + of->settings.arrival_us);
    if (exchange->response.stream != NULL)
        exchange->response.stream->close(exchange->response.stream);
    arena_release(&exchange->chunk_arena);
    wipe(exchange->request.authorization);
    wipe(exchange->request.cookie);
    arena_release(&exchange->arena);
    free(exchange);
    *context = NULL;
    (void)pthread_mutex_lock(&of->lock);
    of->open--;
    (void)pthread_cond_signal(&of->drained);
    (void)pthread_mutex_unlock(&of->lock);
}

/* ---- at a seat ---- */

bool exchange_work(struct exchange *exchange, int seat)
{
    struct web_stream *stream = exchange->response.stream;
    struct web_handler *handler = exchange->server->settings.handler;
    struct error err;

    if (exchange->state == EXCHANGE_WAITING) {
        handler->handle(handler, seat, &exchange->arena, &exchange->request, &exchange->response);
        exchange->state = EXCHANGE_ANSWERED;
        return true;
    }
    arena_reset(&exchange->chunk_arena);
    buf_init(&exchange->chunk, &exchange->chunk_arena, WEB_CHUNK_BYTES_MAX);
    exchange->chunk_sent = 0;
    if (!stream->more(stream, seat, &exchange->chunk, &exchange->is_end, &err) ||
        !buf_ok(&exchange->chunk, &err))
        exchange->is_broken = true;
    return exchange->is_broken || exchange->is_end || exchange->chunk.len > 0;
}
