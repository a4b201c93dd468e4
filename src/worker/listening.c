/* The HTTP server of a process. */
#include "worker/listening.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "cli/file.h"
#include "port/web.h"
#include "serve/api.h"
#include "worker/session_sinks.h"

/* Four requests at a time: reading is fast, and each has a session of the store. Half of the
 * connections may be pages that are open (serve/live.h). */
enum { SEATS = 4, CONNECTIONS_MAX = 1024, CONNECTIONS_PER_PEER = 256 };
#define IDLE_US (30 * US_PER_SECOND)
#define ARRIVAL_US (20 * US_PER_SECOND)
#define SENDING_US (3600 * US_PER_SECOND) /* all records of a source, to a slow client */

/* A chain of certificates, or a key. */
#define PEM_BYTES_MAX ((size_t)1 << 20)

/* Of one token or address. A page of a board makes some ten requests. */
static const double RATE = 50, BURST = 200;

struct listening {
    const struct web_module *module;
    struct web_server *server;
    struct api *api;
    struct session_sinks sinks;
    struct arena arena; /* the certificate and its key */
};

/* ---- options ---- */

static bool split_address(const char *text, struct listening_settings *settings, struct error *err)
{
    const char *colon = strrchr(text, ':');
    struct str host = { text, colon != NULL ? (size_t)(colon - text) : 0 };
    int64_t port;

    if (host.len >= 2 && host.data[0] == '[' && host.data[host.len - 1] == ']')
        host = str_slice(host, 1, host.len - 1);
    if (host.len == 0 || host.len >= sizeof(settings->address) ||
        !str_to_i64(str_of(colon + 1), &port) || port < 0 || port > 65535)
        return command_misused(err, "--listen: '%s' is not ADDR:PORT, such as " LISTENING_DEFAULT,
                               text);
    memcpy(settings->address, host.data, host.len);
    settings->address[host.len] = '\0';
    settings->port = (int)port;
    return true;
}

static bool is_loopback(const char *address)
{
    struct in6_addr six;
    struct in_addr four;

    if (inet_pton(AF_INET, address, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static bool check_tls(const struct invocation *invocation,
                      const struct listening_settings *settings, struct error *err)
{
    if ((settings->certificate == NULL) != (settings->key == NULL))
        return command_misused(err, "--tls-cert and --tls-key belong together");
    if (is_loopback(settings->address) || settings->certificate != NULL ||
        invocation_flag(invocation, "insecure-listen"))
        return true;
    return command_misused(err,
                           "--listen %s: tokens would cross the network readable; give --tls-cert "
                           "and --tls-key, or say --insecure-listen",
                           settings->address);
}

bool listening_read(const struct invocation *invocation, bool has_role,
                    struct listening_settings *settings, struct error *err)
{
    const char *given = invocation_value(invocation, "listen");

    *settings = (struct listening_settings){
        .is_on = has_role || given != NULL,
        .is_watched_only = !has_role,
        .certificate = invocation_value(invocation, "tls-cert"),
        .key = invocation_value(invocation, "tls-key"),
        .needs_token = invocation_flag(invocation, "require-token"),
    };
    return !settings->is_on ||
           (split_address(given != NULL ? given : LISTENING_DEFAULT, settings, err) &&
            check_tls(invocation, settings, err));
}

/* ---- from start to end ---- */

static bool open_api(struct listening *l, const struct listening_settings *settings,
                     const struct listening_parts *parts, struct error *err)
{
    struct session *session = parts->session;

    l->sinks = session_sinks(session);
    return api_open(
        &l->api,
        &(struct api_settings){
            .store = session->store,
            .seats = SEATS,
            .is_watched_only = settings->is_watched_only,
            .access = { .needs_token = settings->needs_token, .rate = RATE, .burst = BURST },
            .clock = &session->clock,
            .random = &session->random,
            .secrets = &session->secrets.source,
            .specs = session->specs,
            .sinks = &l->sinks.sinks,
            .meters = parts->meters,
            .log = parts->log },
        err);
}

static bool read_pem(struct listening *l, const char *path, struct str *pem, struct error *err)
{
    struct str text;

    if (path == NULL)
        return true;
    if (!file_read(&l->arena, path, PEM_BYTES_MAX, &text, err))
        return false;
    *pem = arena_copy(&l->arena, text); /* the library wants a NUL */
    return pem->data != NULL || arena_error(&l->arena, err);
}

static bool start_server(struct listening *l, const struct listening_settings *settings,
                         struct error *err)
{
    struct web_settings web = { .address = str_of(settings->address),
                                .port = settings->port,
                                .seats = SEATS,
                                .connections_max = CONNECTIONS_MAX,
                                .connections_per_peer_max = CONNECTIONS_PER_PEER,
                                .idle_us = IDLE_US,
                                .arrival_us = ARRIVAL_US,
                                .sending_us = SENDING_US,
                                .handler = api_handler(l->api) };

    l->module = module_load("http", err);
    return l->module != NULL && read_pem(l, settings->certificate, &web.certificate, err) &&
           read_pem(l, settings->key, &web.key, err) && l->module->start(&l->server, &web, err);
}

bool listening_start(struct listening **out, const struct listening_settings *settings,
                     const struct listening_parts *parts, struct error *err)
{
    struct listening *l;

    *out = NULL;
    if (!settings->is_on)
        return true;
    l = calloc(1, sizeof(*l));
    if (l == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for the API");
    arena_init(&l->arena, 8 * PEM_BYTES_MAX);
    if (!open_api(l, settings, parts, err) || !start_server(l, settings, err)) {
        listening_stop(l);
        return error_wrap(err, "start the API");
    }
    log_event(parts->log, LOG_INFO, "listening", LOG_STR("address", str_of(settings->address)),
              LOG_I64("port", l->module->port(l->server)),
              LOG_BOOL("tls", settings->certificate != NULL),
              LOG_BOOL("api", !settings->is_watched_only));
    *out = l;
    return true;
}

void listening_stop(struct listening *l)
{
    if (l == NULL)
        return;
    if (l->server != NULL)
        l->module->stop(l->server);
    api_close(l->api);
    arena_wipe(&l->arena); /* it had the key */
    arena_release(&l->arena);
    free(l);
}
