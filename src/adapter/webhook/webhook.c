/* POSTs, some at a time, and what their answers mean. */
#include "adapter/webhook/webhook.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adapter/webhook/sign.h"
#include "core/limits.h"
#include "data/retry_after.h"
#include "data/url.h"

/* A reply is not read for anything but its status; some are pages of HTML. */
#define REPLY_BYTES_MAX (INT64_C(1) << 20)
#define ARENA_BYTES_MAX ((size_t)EVENT_BYTES_MAX * 4)
/* However long the other end asks for: then it is asked again. */
#define QUIET_MAX_US US_PER_HOUR
enum { OWN_HEADERS = 7, URL_BYTES = SECRET_BYTES_MAX };

struct webhook {
    struct bus bus; /* first */
    struct bus_parts parts;
    webhook_opener opener;
    struct http *http;                     /* NULL: none, or used up */
    struct arena arenas[HTTP_TICKETS_MAX]; /* one per request under way */
    int64_t quiet_until_us;                /* monotonic: the other end asked for this */
};

/* One call. */
struct batch {
    struct webhook *hook;
    struct arena *arena;
    const struct bus_publish *publish;
    struct bus_receipt *receipts;
    struct error *err;
    int64_t until_us;
    bool failed; /* nothing more is started */
    bool is_signed;
    struct webhook_key key;
    struct secret url;
    struct secret token;
};

struct post {
    struct http_ticket *ticket; /* NULL: none is under way */
    size_t message;
};

static struct webhook *webhook_of(struct bus *bus)
{
    return (struct webhook *)bus;
}

/* ---- outcomes ---- */

static void settle(struct batch *batch, size_t i, enum bus_outcome outcome, struct str reason)
{
    batch->receipts[i].outcome = outcome;
    if (outcome == BUS_ACKED)
        return;
    batch->receipts[i].reason = arena_copy(batch->arena, reason);
    if (batch->receipts[i].reason.data == NULL)
        batch->receipts[i].reason = STR("memory is short");
}

/* The first that is worth the most stays. */
static void fail(struct batch *batch, const struct error *err)
{
    if (!batch->failed || err->level > batch->err->level)
        *batch->err = *err;
    batch->failed = true;
}

enum { STATUS_TEXT_MAX = 96 };

static void fail_status(struct batch *batch, enum error_level level, const char *code, int status)
{
    struct error err;

    (void)error_set(&err, level, code, "the webhook of %.*s answers with status %d%s",
                    STR_ARG(batch->hook->parts.spec->name), status,
                    status >= 300 && status < 400 ? ": redirects are not followed" : "");
    fail(batch, &err);
}

static void hear_retry_after(struct batch *batch, const struct http_response *reply)
{
    struct clock *clock = batch->hook->parts.clock;
    const struct retry_after after = retry_after_parse(
        http_header_value(reply->headers, STR("retry-after")), clock_now_us(clock));

    if (after.kind == RETRY_AFTER_WAIT)
        batch->hook->quiet_until_us = clock_monotonic_us(clock) +
                                      (after.wait_us < QUIET_MAX_US ? after.wait_us : QUIET_MAX_US);
}

static void read_status(struct batch *batch, size_t i, const struct http_response *reply)
{
    const int status = reply->status;
    char text[STATUS_TEXT_MAX];

    (void)snprintf(text, sizeof(text), "status %d", status);
    if (status >= 200 && status < 300) {
        settle(batch, i, BUS_ACKED, STR(""));
        return;
    }
    switch (status) {
    case 401:
    case 403:
    case 407:
        settle(batch, i, BUS_RETRY, str_of(text));
        fail_status(batch, ERROR_FATAL, "bus.auth", status);
        return;
    case 410:
        settle(batch, i, BUS_RETRY, str_of(text));
        fail_status(batch, ERROR_FATAL, "bus.missing", status);
        return;
    case 408:
    case 425:
    case 429:
    case 502:
    case 503:
    case 504:
        settle(batch, i, BUS_RETRY, str_of(text));
        hear_retry_after(batch, reply);
        fail_status(batch, ERROR_TRANSIENT, "bus.busy", status);
        return;
    default:
        break;
    }
    if (status < 400) {
        settle(batch, i, BUS_RETRY, str_of(text));
        fail_status(batch, ERROR_FATAL, "bus.missing", status);
    } else
        settle(batch, i, status < 500 ? BUS_REFUSED : BUS_RETRY, str_of(text));
}

/* What failed, without the URL: webhooks have tokens in their paths and queries. A URL that is
 * given by reference is not shown at all. */
static void tell_failure(const struct webhook *hook, const struct error *cause, struct error *err)
{
    const struct bus_spec *spec = hook->parts.spec;
    const bool is_timeout = strncmp(cause->code, "http.timeout", 12) == 0;
    const bool is_fatal = cause->level == ERROR_FATAL;
    struct url url = { 0 };
    struct error unused;

    if (secret_is_reference(spec->url) || !url_parse(spec->url, &url, &unused))
        url = (struct url){ 0 };
    (void)error_set(err, is_fatal ? ERROR_FATAL : ERROR_TRANSIENT,
                    is_fatal     ? "bus.tls"
                    : is_timeout ? "bus.timeout"
                                 : "bus.lost",
                    "the webhook of %.*s (%.*s%s%.*s) cannot be reached: %s", STR_ARG(spec->name),
                    STR_ARG(url.scheme), url.host.len > 0 ? "://" : "its URL is a secret",
                    STR_ARG(url.host), cause->code);
}

static void read_failure(struct batch *batch, size_t i, const struct error *cause)
{
    struct error err;

    settle(batch, i, BUS_RETRY, str_of(cause->code));
    tell_failure(batch->hook, cause, &err);
    fail(batch, &err);
}

/* ---- a request ---- */

static bool add_header(struct http_header *headers, size_t *count, struct str name,
                       struct str value)
{
    headers[(*count)++] = (struct http_header){ name, value };
    return value.data != NULL;
}

static struct str encoded(struct arena *arena, struct str text)
{
    struct buf out;

    buf_init(&out, arena, text.len * 3 + 1);
    url_encode(&out, text, URL_PATH);
    if (out.failed)
        return (struct str){ 0 };
    return out.len > 0 ? buf_str(&out) : STR("");
}

static bool sign(struct batch *batch, struct arena *arena, const struct bus_message *message,
                 struct http_header *headers, size_t *count)
{
    const int64_t at_s = clock_now_us(batch->hook->parts.clock) / US_PER_SECOND;
    struct str signature = { 0 };
    struct error err;

    if (!webhook_sign(arena, &batch->key,
                      &(struct webhook_signed){ message->event_id, at_s, message->body },
                      &signature, &err))
        return false;
    return add_header(headers, count, STR("webhook-signature"), signature);
}

/* False: memory is short. */
static bool make_headers(struct batch *batch, struct arena *arena,
                         const struct bus_message *message, struct http_request *request)
{
    struct http_header *headers =
        ARENA_ARRAY(arena, struct http_header, message->attribute_count + OWN_HEADERS + 1);
    const int64_t at_s = clock_now_us(batch->hook->parts.clock) / US_PER_SECOND;
    size_t count = 0;
    bool ok;

    if (headers == NULL)
        return false;
    for (size_t i = 0; i < message->attribute_count; i++)
        (void)add_header(headers, &count, message->attributes[i].name,
                         message->attributes[i].value);
    ok = add_header(headers, &count, STR("content-type"),
                    message->content_type.len > 0 ? message->content_type
                                                  : STR("application/octet-stream")) &&
         add_header(headers, &count, STR("webhook-id"), message->event_id) &&
         add_header(headers, &count, STR("webhook-timestamp"),
                    arena_printf(arena, "%" PRId64, at_s)) &&
         add_header(headers, &count, STR("patra-key"), encoded(arena, message->key)) &&
         add_header(headers, &count, STR("patra-version"),
                    arena_printf(arena, "%" PRId64, message->version));
    if (batch->is_signed)
        ok = ok && sign(batch, arena, message, headers, &count);
    if (batch->token.len > 0)
        ok = ok &&
             add_header(headers, &count, STR("authorization"),
                        arena_printf(arena, "Bearer %.*s", STR_ARG(secret_str(&batch->token))));
    request->headers = headers;
    request->header_count = count;
    return ok;
}

/* Why a message can never be a request; NULL: it can. */
static const char *unfit(const struct batch *batch, const struct bus_message *message)
{
    const int64_t most = batch->hook->parts.spec->message_bytes_max;

    for (size_t i = 0; i < message->attribute_count; i++) {
        if (!http_is_token(message->attributes[i].name) ||
            !http_is_header_value(message->attributes[i].value))
            return "an attribute cannot be a header";
    }
    if (!http_is_header_value(message->content_type) || !http_is_header_value(message->event_id))
        return "its content type or id cannot be a header";
    if (most > 0 && (int64_t)message->body.len > most)
        return "it is larger than message_max";
    return NULL;
}

static void start(struct batch *batch, struct post *post, struct arena *arena, size_t i)
{
    struct webhook *hook = batch->hook;
    const struct bus_spec *spec = hook->parts.spec;
    const struct bus_message *message = &batch->publish->messages[i];
    const int64_t left_us = batch->until_us - clock_monotonic_us(hook->parts.clock);
    struct http_request request = {
        .method = STR("POST"),
        .url = secret_str(&batch->url),
        .body = message->body,
        .allow_plain_http = spec->allow_plain,
        .ca_file = spec->tls.ca,
        .timeouts = { .connect_us =
                          spec->connect_timeout_us < left_us ? spec->connect_timeout_us : left_us,
                      .idle_us = left_us < HTTP_SILENCE_MAX_US ? left_us : HTTP_SILENCE_MAX_US,
                      .total_us = left_us },
        .limits = { .body_bytes_max = REPLY_BYTES_MAX, .inflated_bytes_max = REPLY_BYTES_MAX },
    };
    const char *why = unfit(batch, message);
    struct error err;

    arena_wipe(arena); /* the last request's headers had the token */
    if (why != NULL)
        settle(batch, i, BUS_REFUSED, str_of(why));
    else if (!make_headers(batch, arena, message, &request))
        settle(batch, i, BUS_RETRY, STR("memory is short"));
    else if (!http_start(hook->http, arena, &request, &post->ticket, &err)) {
        post->ticket = NULL;
        if (err.level == ERROR_REQUEST)
            settle(batch, i, BUS_REFUSED, str_of(err.code));
        else
            read_failure(batch, i, &err);
    }
    post->message = i;
}

static void finish(struct batch *batch, struct post *post)
{
    struct http_response reply;
    struct error err;

    if (post->ticket == NULL)
        return;
    if (http_wait(post->ticket, &reply, &err) || (reply.status != 0 && reply.status >= 300))
        read_status(batch, post->message, &reply);
    else if (reply.status != 0) /* it said 2xx, and its body broke: who knows */
        settle(batch, post->message, BUS_RETRY, STR("the response broke off"));
    else
        read_failure(batch, post->message, &err);
    post->ticket = NULL;
}

/* The requests in a ring: the oldest is waited for before its place is used again. */
static void post_all(struct batch *batch)
{
    struct webhook *hook = batch->hook;
    struct post posts[HTTP_TICKETS_MAX] = { 0 };
    size_t at = 0;

    for (size_t i = 0; i < batch->publish->count; i++) {
        finish(batch, &posts[at]);
        if (!batch->failed && clock_monotonic_us(hook->parts.clock) >= batch->until_us) {
            struct error err;

            (void)error_set(&err, ERROR_TRANSIENT, "bus.timeout",
                            "the webhook of %.*s: not all messages could be sent in time",
                            STR_ARG(hook->parts.spec->name));
            fail(batch, &err);
        }
        if (batch->failed)
            break;
        start(batch, &posts[at], &hook->arenas[at], i);
        at = (at + 1) % HTTP_TICKETS_MAX;
    }
    for (size_t i = 0; i < HTTP_TICKETS_MAX; i++)
        finish(batch, &posts[(at + i) % HTTP_TICKETS_MAX]);
}

/* ---- a process that must stop ---- */

/* http_wait cannot be woken, so somebody else watches the descriptor, and interrupts the handle. */
struct watch {
    pthread_t thread;
    struct http *http;
    int wake_fd;
    int end_fd;
    bool is_woken;
};

static void *watch_run(void *context)
{
    struct watch *watch = context;
    struct pollfd fds[2] = { { watch->wake_fd, POLLIN, 0 }, { watch->end_fd, POLLIN, 0 } };

    while (poll(fds, 2, -1) < 0)
        continue;
    if (fds[0].revents != 0) {
        watch->is_woken = true;
        http_interrupt(watch->http);
    }
    return NULL;
}

static bool watch_start(struct watch *watch, struct http *http, int wake_fd, struct error *err)
{
    *watch = (struct watch){ .http = http, .wake_fd = wake_fd, .end_fd = -1 };
    if (wake_fd < 0)
        return true;
    watch->end_fd = eventfd(0, EFD_CLOEXEC);
    if (watch->end_fd >= 0 && pthread_create(&watch->thread, NULL, watch_run, watch) == 0)
        return true;
    if (watch->end_fd >= 0)
        (void)close(watch->end_fd);
    return error_set(err, ERROR_TRANSIENT, "bus.busy", "no thread can be started");
}

/* True when the handle was interrupted. */
static bool watch_end(struct watch *watch)
{
    if (watch->end_fd < 0)
        return false;
    (void)!write(watch->end_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
    (void)pthread_join(watch->thread, NULL);
    (void)close(watch->end_fd);
    return watch->is_woken;
}

/* ---- a call ---- */

static bool read_secrets(struct batch *batch, struct error *err)
{
    const struct bus_parts *parts = &batch->hook->parts;
    const struct bus_spec *spec = parts->spec;
    struct secret signing;
    bool ok;

    if (secret_is_reference(spec->url)) {
        if (!secret_get(parts->secrets, spec->url, &batch->url, err))
            return false;
    } else {
        batch->url.len = spec->url.len;
        memcpy(batch->url.bytes, spec->url.data, spec->url.len);
    }
    if (spec->auth.token.len > 0 &&
        !secret_get(parts->secrets, spec->auth.token, &batch->token, err))
        return false;
    batch->is_signed = spec->auth.signing.len > 0;
    if (!batch->is_signed)
        return true;
    if (!secret_get(parts->secrets, spec->auth.signing, &signing, err))
        return false;
    ok = webhook_key_read(secret_str(&signing), &batch->key, err);
    secret_wipe(&signing);
    return ok || error_wrap(err, "%.*s", STR_ARG(spec->auth.signing));
}

static bool be_quiet(const struct webhook *hook, struct error *err)
{
    const int64_t left_us = hook->quiet_until_us - clock_monotonic_us(hook->parts.clock);

    return left_us <= 0 || error_set(err, ERROR_TRANSIENT, "bus.busy",
                                     "the webhook of %.*s asked to be left alone for another "
                                     "%" PRId64 " s (Retry-After)",
                                     STR_ARG(hook->parts.spec->name), left_us / US_PER_SECOND + 1);
}

static bool publish_batch(struct batch *batch)
{
    struct webhook *hook = batch->hook;
    struct watch watch;

    if (hook->http == NULL && !hook->opener(&hook->http, batch->err))
        return false;
    if (!watch_start(&watch, hook->http, batch->publish->wake_fd, batch->err))
        return false;
    post_all(batch);
    if (watch_end(&watch)) {
        http_close(hook->http);
        hook->http = NULL;
        if (!batch->failed)
            return true; /* everything was answered before */
        return error_set(batch->err, ERROR_TRANSIENT, "bus.timeout",
                         "the process was told to stop");
    }
    return !batch->failed;
}

static bool publish(struct bus *base, struct arena *arena, const struct bus_publish *publish,
                    struct bus_receipt *receipts, struct error *err)
{
    struct webhook *hook = webhook_of(base);
    struct batch *batch;
    bool ok;

    if (publish->count == 0)
        return true;
    if (!be_quiet(hook, err))
        return false;
    batch = calloc(1, sizeof(*batch)); /* not in the arena: it holds secrets, and is large */
    if (batch == NULL)
        return error_set(err, ERROR_TRANSIENT, "bus.busy", "memory is short");
    batch->hook = hook;
    batch->arena = arena;
    batch->publish = publish;
    batch->receipts = receipts;
    batch->err = err;
    batch->until_us = clock_monotonic_us(hook->parts.clock) + publish->timeout_us;
    ok = read_secrets(batch, err) && publish_batch(batch);
    for (size_t i = 0; i < HTTP_TICKETS_MAX; i++)
        arena_wipe(&hook->arenas[i]);
    explicit_bzero(batch, sizeof(*batch));
    free(batch);
    return ok;
}

/* Whether anybody answers. HEAD would be harmless, and many receivers know only POST: so any status
 * counts but those that concern every message. */
static bool check(struct bus *base, int64_t timeout_us, struct error *err)
{
    struct webhook *hook = webhook_of(base);
    const struct bus_spec *spec = hook->parts.spec;
    struct http_response reply;
    struct arena arena;
    struct secret url = { 0 };
    struct error cause;
    bool ok;

    if (hook->http == NULL && !hook->opener(&hook->http, err))
        return false;
    if (secret_is_reference(spec->url) && !secret_get(hook->parts.secrets, spec->url, &url, err))
        return false;
    arena_init(&arena, (size_t)4 << 20);
    ok = http_send(hook->http, &arena,
                   &(struct http_request){ .method = STR("HEAD"),
                                           .url = url.len > 0 ? secret_str(&url) : spec->url,
                                           .allow_plain_http = spec->allow_plain,
                                           .ca_file = spec->tls.ca,
                                           .timeouts = { timeout_us, timeout_us, timeout_us } },
                   &reply, &cause) ||
         reply.status != 0;
    if (!ok) {
        tell_failure(hook, &cause, err);
    } else if (reply.status == 410 || (reply.status >= 300 && reply.status < 400))
        ok =
            error_set(err, ERROR_FATAL, "bus.missing", "the webhook of %.*s answers with status %d",
                      STR_ARG(spec->name), reply.status);
    arena_release(&arena);
    secret_wipe(&url);
    return ok;
}

static void close_webhook(struct bus *base)
{
    struct webhook *hook = webhook_of(base);

    http_close(hook->http);
    for (size_t i = 0; i < HTTP_TICKETS_MAX; i++)
        arena_release(&hook->arenas[i]);
    free(hook);
}

static const struct bus_ops OPS = { .close = close_webhook, .check = check, .publish = publish };

bool webhook_open(const struct bus_parts *parts, webhook_opener opener, struct bus **bus,
                  struct error *err)
{
    struct webhook *hook = calloc(1, sizeof(*hook));

    if (hook == NULL)
        return error_set(err, ERROR_TRANSIENT, "bus.busy", "memory is short");
    if (parts->spec->url.len > URL_BYTES) {
        free(hook);
        return error_set(err, ERROR_FATAL, "bus.spec", "the URL has more than %d bytes", URL_BYTES);
    }
    hook->bus = (struct bus){ &OPS, BUS_ORDER };
    hook->parts = *parts;
    hook->opener = opener;
    for (size_t i = 0; i < HTTP_TICKETS_MAX; i++)
        arena_init(&hook->arenas[i], ARENA_BYTES_MAX);
    *bus = &hook->bus;
    return true;
}
