/* Spans to a collector. */
#include "worker/tracing.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adapter/curl/curl_http.h"
#include "adapter/system/system.h"
#include "cli/who.h"
#include "data/otlp.h"
#include "port/http.h"
#include "worker/meter_table.h"
#include "worker/thread.h"
#include "worker/tracing_settings.h"

/* Spans wait this long for company. */
#define PAUSE_US (US_PER_SECOND / 5)
#define TIMEOUT_US (3 * US_PER_SECOND)
#define BACKOFF_US US_PER_SECOND
enum { SETTINGS_BYTES_MAX = 64 << 10, BODY_BYTES_MAX = 8 << 20, ANSWER_BYTES_MAX = 64 << 10 };

struct tracing {
    struct tracer *tracer;
    struct clock *clock; /* the session's */
    struct log *log;
    struct meters *meters;
    struct http *http;
    struct arena kept; /* the settings */
    struct tracing_settings settings;
    struct http_header headers[TRACING_HEADERS_MAX + 1];
    struct str secret_names[TRACING_HEADERS_MAX];
    char instance[WHO_PROCESS_MAX];
    struct span spans[TRACING_BATCH];
    struct arena arena; /* of a request */
    int stop_fd;
    pthread_t thread;
    bool is_failing;            /* at the last request */
    int64_t lost;               /* spans that were dropped or given up */
    char error[ERROR_TEXT_MAX]; /* of the last request that failed */
};

static void count(struct tracing *t, const char *outcome, int64_t spans)
{
    const struct str label = str_of(outcome);

    if (spans > 0)
        meters_add(t->meters, METRIC_SPANS, &label, (double)spans);
}

static void lose(struct tracing *t, const char *outcome, int64_t spans)
{
    t->lost += spans;
    count(t, outcome, spans);
}

/* Once when it begins, once when it is over. */
static void tell(struct tracing *t, const struct error *err)
{
    if (err != NULL)
        memcpy(t->error, err->text, sizeof(t->error));
    if (err != NULL && !t->is_failing)
        log_event(t->log, LOG_WARN, "spans not sent", LOG_STR("code", str_of(err->code)),
                  LOG_STR("error", str_of(err->text)));
    if (err == NULL && t->is_failing)
        log_event(t->log, LOG_INFO, "spans sent again", LOG_STR("service", t->settings.service));
    t->is_failing = err != NULL;
}

static bool is_later(int status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

/* L1: it may be taken later. */
static bool post(struct tracing *t, struct str body, struct error *err)
{
    const struct http_request request = { .method = STR("POST"),
                                          .url = t->settings.url,
                                          .headers = t->headers,
                                          .header_count = t->settings.header_count + 1,
                                          .body = body,
                                          .timeouts = { TIMEOUT_US, TIMEOUT_US, TIMEOUT_US },
                                          .limits = { .body_bytes_max = ANSWER_BYTES_MAX },
                                          .allow_plain_http = true,
                                          .secret_names = t->secret_names,
                                          .secret_count = t->settings.header_count };
    struct http_response reply;

    if (!http_send(t->http, &t->arena, &request, &reply, err))
        return false;
    return (reply.status >= 200 && reply.status < 300) ||
           error_set(err, is_later(reply.status) ? ERROR_TRANSIENT : ERROR_REQUEST,
                     "tracing.refused", "%s: status %d", http_title(&request, request.url).text,
                     reply.status);
}

static bool send_once(struct tracing *t, size_t spans, struct error *err)
{
    const struct otlp_resource resource = { t->settings.service, STR(PATRA_VERSION),
                                            str_of(t->instance) };
    struct buf body;

    arena_reset(&t->arena);
    buf_init(&body, &t->arena, BODY_BYTES_MAX);
    otlp_write(&body, &resource, t->spans, spans);
    return buf_ok(&body, err) && post(t, buf_str(&body), err);
}

/* False: it must end. */
static bool pause_for(struct tracing *t, int64_t us)
{
    return clock_sleep_us(t->clock, us, t->stop_fd);
}

/* What the queue gets meanwhile waits there, or is dropped. */
static void send_all(struct tracing *t, size_t spans)
{
    struct error err;

    for (int tries = 1;; tries++) {
        const bool ok = send_once(t, spans, &err);

        tell(t, ok ? NULL : &err);
        if (ok) {
            count(t, "sent", (int64_t)spans);
            return;
        }
        if (err.level != ERROR_TRANSIENT || tries == TRACING_TRIES ||
            !pause_for(t, tries * BACKOFF_US))
            break;
    }
    lose(t, "given_up", (int64_t)spans);
}

/* Returns whether there may be more. */
static bool turn(struct tracing *t)
{
    int64_t dropped;
    const size_t spans = tracer_take(t->tracer, t->spans, TRACING_BATCH, &dropped);

    lose(t, "dropped", dropped);
    if (spans > 0)
        send_all(t, spans);
    return spans == TRACING_BATCH;
}

/* After the end is asked for, as long as the collector takes them. */
static void *run(void *context)
{
    struct tracing *t = context;

    while (pause_for(t, turn(t) ? 0 : PAUSE_US))
        continue;
    while (turn(t) && !t->is_failing)
        continue;
    return NULL;
}

/* ---- from start to end ---- */

static const char *variable(const char *name)
{
    return getenv(name);
}

static void free_tracing(struct tracing *t)
{
    http_close(t->http);
    tracer_close(t->tracer);
    if (t->stop_fd >= 0)
        (void)close(t->stop_fd);
    arena_wipe(&t->kept);
    arena_release(&t->kept);
    arena_release(&t->arena);
    free(t);
}

/* Whatever their names are: the values of these headers are not shown. */
static bool read_settings(struct tracing *t, struct error *err)
{
    if (!tracing_settings_read(&t->kept, variable, &t->settings, err))
        return false;
    for (size_t i = 0; i < t->settings.header_count; i++)
        t->secret_names[i] = t->settings.headers[i].name;
    t->headers[0] = (struct http_header){ STR("content-type"), STR("application/json") };
    memcpy(&t->headers[1], t->settings.headers, sizeof(t->settings.headers));
    return true;
}

static bool open_all(struct tracing *t, struct error *err)
{
    struct random_source random = system_random();

    who_process(t->instance, random_source_u64(&random), "traces");
    t->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (t->stop_fd < 0)
        return error_set(err, ERROR_TRANSIENT, "workers.thread", "eventfd: %s", strerror(errno));
    return tracer_open(&t->tracer, err) && curl_http_open(NULL, &t->http, err) &&
           thread_start(&t->thread, run, t, err);
}

bool tracing_start(struct tracing **out, struct session *session, struct log *log,
                   struct meters *meters, struct error *err)
{
    struct tracing *t = calloc(1, sizeof(*t));
    bool ok;

    *out = NULL;
    if (t == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for traces");
    *t = (struct tracing){ .clock = &session->clock, .log = log, .meters = meters, .stop_fd = -1 };
    arena_init(&t->kept, SETTINGS_BYTES_MAX);
    arena_init(&t->arena, 2 * BODY_BYTES_MAX);
    ok = read_settings(t, err);
    if (ok && t->settings.is_on && open_all(t, err)) {
        *out = t;
        return true;
    }
    ok = ok && !t->settings.is_on;
    free_tracing(t);
    return ok || error_wrap(err, "start sending traces");
}

struct tracer *tracing_tracer(struct tracing *t)
{
    return t != NULL ? t->tracer : NULL;
}

static void end(struct tracing *t)
{
    const uint64_t one = 1;

    (void)!write(t->stop_fd, &one, sizeof(one));
    (void)pthread_join(t->thread, NULL);
}

void tracing_join(struct tracing *t)
{
    if (t == NULL)
        return;
    end(t);
    free_tracing(t);
}

void tracing_join_told(struct tracing *t, FILE *talk)
{
    if (t == NULL)
        return;
    end(t);
    if (t->lost > 0)
        fprintf(talk, "traces: %" PRId64 " spans were not sent%s%s\n", t->lost,
                t->error[0] != '\0' ? ": " : "", t->error);
    free_tracing(t);
}
