/* The options of a connection, and the thread that makes it. */
#include "adapter/nats/dial.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adapter/nats/fault.h"
#include "base/instant.h"

enum { ADDRESS_MAX = 300, WRITE_DEADLINE_MS_MAX = 5000 };
/* What libnats writes and reads at once: a hundred messages and more, instead of thirty. */
enum { IO_BYTES = 256 << 10 };

struct nats_target {
    char address[ADDRESS_MAX];
    natsOptions *options;
};

struct nats_dial {
    pthread_mutex_t mutex;
    int refs; /* the caller's and the thread's */
    int fd;
    struct nats_target *targets;
    size_t count;
    size_t turn;
    char *jwt; /* of the credential, for the library's callbacks; wiped with the dial */
    char *seed;
    struct nats_queue *queue;
    natsConnection *nc;
    struct error err;
};

/* ---- the end ---- */

static void wipe(char *text)
{
    if (text != NULL)
        explicit_bzero(text, strlen(text));
    free(text);
}

static void dial_free(struct nats_dial *dial)
{
    for (size_t i = 0; i < dial->count; i++)
        natsOptions_Destroy(dial->targets[i].options);
    free(dial->targets);
    natsConnection_Destroy(dial->nc);
    nats_queue_release(dial->queue);
    wipe(dial->jwt);
    wipe(dial->seed);
    if (dial->fd >= 0)
        (void)close(dial->fd);
    (void)pthread_mutex_destroy(&dial->mutex);
    free(dial);
}

static void dial_release(struct nats_dial *dial)
{
    int refs;

    (void)pthread_mutex_lock(&dial->mutex);
    refs = --dial->refs;
    (void)pthread_mutex_unlock(&dial->mutex);
    if (refs == 0)
        dial_free(dial);
}

/* ---- credentials ---- */

static natsStatus give_jwt(char **jwt, char **error_text, void *context)
{
    const struct nats_dial *dial = context;

    (void)error_text;
    *jwt = strdup(dial->jwt);
    return *jwt != NULL ? NATS_OK : NATS_NO_MEMORY;
}

static natsStatus give_signature(char **error_text, unsigned char **signature, int *len,
                                 const char *nonce, void *context)
{
    const struct nats_dial *dial = context;

    (void)error_text;
    return nats_Sign(dial->seed, nonce, signature, len);
}

/* A secret as a C text that the caller wipes; NULL with an error. */
static char *secret_text(const struct bus_parts *parts, struct str reference, struct error *err)
{
    struct secret secret;
    char *text;

    if (!secret_get(parts->secrets, reference, &secret, err))
        return NULL;
    text = malloc(secret.len + 1);
    if (text != NULL) {
        memcpy(text, secret.bytes, secret.len);
        text[secret.len] = '\0';
    } else
        (void)error_set(err, ERROR_TRANSIENT, "bus.busy", "memory is short");
    secret_wipe(&secret);
    return text;
}

/* The part of a creds file between two lines of dashes with these words. */
static char *creds_part(const char *creds, const char *words)
{
    const char *at = strstr(creds, words), *end;

    at = at != NULL ? strchr(at, '\n') : NULL;
    if (at == NULL)
        return NULL;
    at += strspn(at, " \t\r\n");
    end = at + strcspn(at, " \t\r\n");
    return end > at ? strndup(at, (size_t)(end - at)) : NULL;
}

static bool read_creds(const struct bus_parts *parts, struct nats_dial *dial, struct error *err)
{
    char *creds = secret_text(parts, parts->spec->auth.credentials, err);

    if (creds == NULL)
        return false;
    dial->jwt = creds_part(creds, "BEGIN NATS USER JWT");
    dial->seed = creds_part(creds, "BEGIN USER NKEY SEED");
    wipe(creds);
    return (dial->jwt != NULL && dial->seed != NULL) ||
           error_set(err, ERROR_FATAL, "bus.auth",
                     "%.*s is not a creds file of NATS: it needs a user JWT and a seed",
                     STR_ARG(parts->spec->auth.credentials));
}

/* The user is a value or a reference. */
static char *user_text(const struct bus_parts *parts, struct error *err)
{
    const struct str user = parts->spec->auth.user;

    if (secret_is_reference(user))
        return secret_text(parts, user, err);
    return strndup(user.len > 0 ? user.data : "", user.len);
}

static bool set_user(const struct bus_parts *parts, natsOptions *options, struct error *err)
{
    char *user = user_text(parts, err);
    char *password = user != NULL ? secret_text(parts, parts->spec->auth.password, err) : NULL;
    natsStatus status = NATS_OK;

    if (password != NULL)
        status = natsOptions_SetUserInfo(options, user, password);
    wipe(user);
    if (password == NULL)
        return false;
    wipe(password);
    return status == NATS_OK || nats_fault(err, status, "set user and password");
}

static bool set_token(const struct bus_parts *parts, natsOptions *options, struct error *err)
{
    char *token = secret_text(parts, parts->spec->auth.token, err);
    natsStatus status;

    if (token == NULL)
        return false;
    status = natsOptions_SetToken(options, token);
    wipe(token);
    return status == NATS_OK || nats_fault(err, status, "set the token");
}

static bool set_nkey(const struct bus_parts *parts, struct nats_dial *dial, natsOptions *options,
                     struct error *err)
{
    char *user = user_text(parts, err);
    natsStatus status;

    if (user == NULL)
        return false;
    status = natsOptions_SetNKey(options, user, give_signature, dial);
    wipe(user);
    return status == NATS_OK || nats_fault(err, status, "set the NKey");
}

static bool set_auth(const struct bus_parts *parts, struct nats_dial *dial, natsOptions *options,
                     struct error *err)
{
    const struct bus_auth *auth = &parts->spec->auth;
    natsStatus status;

    if (auth->credentials.len > 0) {
        status =
            natsOptions_SetUserCredentialsCallbacks(options, give_jwt, dial, give_signature, dial);
        return status == NATS_OK || nats_fault(err, status, "set the credential");
    }
    if (auth->nkey.len > 0)
        return set_nkey(parts, dial, options, err);
    if (auth->token.len > 0)
        return set_token(parts, options, err);
    return auth->password.len == 0 || set_user(parts, options, err);
}

/* ---- TLS ---- */

static bool set_certificate(const struct bus_parts *parts, natsOptions *options, struct error *err)
{
    char *certificate = secret_text(parts, parts->spec->tls.certificate, err);
    char *key = certificate != NULL ? secret_text(parts, parts->spec->tls.key, err) : NULL;
    natsStatus status = NATS_OK;

    if (key != NULL)
        status = natsOptions_SetCertificatesChain(options, certificate, key);
    wipe(certificate);
    if (key == NULL)
        return false;
    wipe(key);
    return status == NATS_OK || error_set(err, ERROR_FATAL, "bus.tls",
                                          "tls.certificate and tls.key are not a pair in PEM");
}

/* The name in the certificate must be that of the address: each target has options of its own. */
static bool set_tls(const struct bus_parts *parts, const char *address, natsOptions *options,
                    struct error *err)
{
    char host[ADDRESS_MAX], ca[4096];
    const char *begin = address + strlen("tls://");
    size_t len = begin[0] == '[' ? strcspn(begin, "]") + 1 : strcspn(begin, ":");
    natsStatus status = natsOptions_SetSecure(options, true);

    if (begin[0] == '[' && len >= 2) {
        begin++;
        len -= 2;
    }
    (void)snprintf(host, sizeof(host), "%.*s", (int)len, begin);
    if (status == NATS_OK)
        status = natsOptions_SetExpectedHostname(options, host);
    if (status != NATS_OK)
        return nats_fault(err, status, "begin TLS");
    if (parts->spec->tls.ca.len > 0) {
        (void)snprintf(ca, sizeof(ca), "%.*s", STR_ARG(parts->spec->tls.ca));
        if (natsOptions_LoadCATrustedCertificates(options, ca) != NATS_OK)
            return error_set(err, ERROR_FATAL, "bus.tls",
                             "tls.ca: %s cannot be read as certificates", ca);
    }
    return parts->spec->tls.certificate.len == 0 || set_certificate(parts, options, err);
}

/* ---- options ---- */

static void on_closed(natsConnection *nc, void *queue)
{
    (void)nc;
    nats_queue_mark(queue, true, false);
    nats_queue_release(queue);
}

static void on_error(natsConnection *nc, natsSubscription *sub, natsStatus status, void *queue)
{
    (void)nc;
    (void)sub;
    if (status == NATS_NOT_PERMITTED)
        nats_queue_mark(queue, false, true);
}

static natsStatus set_plain(const struct bus_parts *parts, struct nats_dial *dial,
                            const char *address, natsOptions *options)
{
    const int64_t connect_ms = parts->spec->connect_timeout_us / 1000;
    const int64_t publish_ms = parts->spec->publish_timeout_us / 1000;
    const natsStatus statuses[] = {
        natsOptions_SetURL(options, address),
        natsOptions_SetName(options, "patra"),
        natsOptions_SetTimeout(options, connect_ms),
        natsOptions_SetIOBufSize(options, IO_BYTES),
        natsOptions_SetAllowReconnect(options, false),
        natsOptions_SetIgnoreDiscoveredServers(options, true),
        natsOptions_SetPingInterval(options, 10000),
        natsOptions_SetMaxPingsOut(options, 2),
        natsOptions_SetWriteDeadline(
            options, publish_ms < WRITE_DEADLINE_MS_MAX ? publish_ms : WRITE_DEADLINE_MS_MAX),
        natsOptions_SetClosedCB(options, on_closed, dial->queue),
        natsOptions_SetErrorHandler(options, on_error, dial->queue),
    };

    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (statuses[i] != NATS_OK)
            return statuses[i];
    }
    return NATS_OK;
}

static bool make_target(const struct bus_parts *parts, struct nats_dial *dial, struct str address,
                        struct error *err)
{
    struct nats_target *target = &dial->targets[dial->count];
    natsStatus status = natsOptions_Create(&target->options);

    if (status != NATS_OK)
        return nats_fault(err, status, "begin with NATS");
    dial->count++;
    (void)snprintf(target->address, sizeof(target->address), "%.*s", STR_ARG(address));
    status = set_plain(parts, dial, target->address, target->options);
    if (status != NATS_OK)
        return nats_fault(err, status, target->address);
    return (!str_starts(address, STR("tls://")) ||
            set_tls(parts, target->address, target->options, err)) &&
           set_auth(parts, dial, target->options, err);
}

/* ---- the thread ---- */

static void *dial_run(void *context)
{
    struct nats_dial *dial = context;
    char doing[ADDRESS_MAX + 32];

    for (size_t i = 0; i < dial->count && dial->nc == NULL; i++) {
        const struct nats_target *target = &dial->targets[(dial->turn + i) % dial->count];
        natsStatus status;

        nats_queue_hold(dial->queue); /* for on_closed */
        status = natsConnection_Connect(&dial->nc, target->options);
        if (status == NATS_OK)
            break;
        nats_queue_release(dial->queue);
        (void)snprintf(doing, sizeof(doing), "connect to %s", target->address);
        if (dial->err.level < ERROR_FATAL) /* that one a person must see */
            (void)nats_fault(&dial->err, status, doing);
    }
    (void)pthread_mutex_lock(&dial->mutex); /* so that what was written is seen by who reads it */
    (void)!write(dial->fd, &(uint64_t){ 1 }, sizeof(uint64_t));
    (void)pthread_mutex_unlock(&dial->mutex);
    nats_ReleaseThreadMemory();
    dial_release(dial);
    return NULL;
}

/* The thread, and all that libnats starts from it, take no signals. */
static bool start_thread(struct nats_dial *dial, struct error *err)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int failed;

    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    dial->refs++;
    failed = pthread_create(&thread, &attributes, dial_run, dial);
    (void)pthread_attr_destroy(&attributes);
    if (failed == 0)
        return true;
    dial->refs--;
    return error_set(err, ERROR_TRANSIENT, "bus.busy", "no thread can be started");
}

static bool prepare(const struct bus_parts *parts, struct nats_dial *dial, struct error *err)
{
    const struct bus_spec *spec = parts->spec;

    dial->targets = calloc(spec->address_count, sizeof(*dial->targets));
    dial->queue = nats_queue_new();
    dial->fd = eventfd(0, EFD_CLOEXEC);
    if (dial->targets == NULL || dial->queue == NULL || dial->fd < 0)
        return error_set(err, ERROR_TRANSIENT, "bus.busy", "memory or descriptors are short");
    if (spec->auth.credentials.len > 0 && !read_creds(parts, dial, err))
        return false;
    if (spec->auth.nkey.len > 0) {
        dial->seed = secret_text(parts, spec->auth.nkey, err);
        if (dial->seed == NULL)
            return false;
        if (strncmp(dial->seed, "SU", 2) != 0)
            return error_set(err, ERROR_FATAL, "bus.auth", "%.*s is not the seed of a user's NKey",
                             STR_ARG(spec->auth.nkey));
    }
    for (size_t i = 0; i < spec->address_count; i++) {
        if (!make_target(parts, dial, spec->addresses[i], err))
            return false;
    }
    return true;
}

bool nats_dial_begin(const struct bus_parts *parts, size_t turn, struct nats_dial **out,
                     struct error *err)
{
    struct nats_dial *dial = calloc(1, sizeof(*dial));
    sigset_t all, before;
    bool ok;

    if (dial == NULL)
        return error_set(err, ERROR_TRANSIENT, "bus.busy", "memory is short");
    *dial = (struct nats_dial){ .refs = 1, .fd = -1, .turn = turn };
    (void)pthread_mutex_init(&dial->mutex, NULL);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    ok = prepare(parts, dial, err) && start_thread(dial, err);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!ok) {
        dial_release(dial);
        return false;
    }
    *out = dial;
    return true;
}

int nats_dial_fd(const struct nats_dial *dial)
{
    return dial->fd;
}

bool nats_dial_end(struct nats_dial *dial, natsConnection **nc, struct nats_queue **queue,
                   struct error *err)
{
    uint64_t count;
    bool ok;

    (void)!read(dial->fd, &count, sizeof(count)); /* its last act but for letting go */
    (void)pthread_mutex_lock(&dial->mutex);
    (void)pthread_mutex_unlock(&dial->mutex);
    ok = dial->nc != NULL;
    if (ok) {
        *nc = dial->nc;
        *queue = dial->queue;
        dial->nc = NULL;
        dial->queue = NULL;
    } else
        *err = dial->err;
    dial_release(dial);
    return ok;
}

void nats_dial_abandon(struct nats_dial *dial)
{
    if (dial != NULL)
        dial_release(dial);
}
