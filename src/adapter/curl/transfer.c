/* One request: begun, received through the callbacks of the library, followed through redirects,
 * settled. */
#include "adapter/curl/transfer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapter/curl/fault.h"
#include "adapter/curl/unpack.h"
#include "data/http_redirect.h"

enum {
    /* The request twice (as given, as header lines), and as redirects change it. */
    SCRATCH_BYTES_MAX = 256 << 20,
    BUFFER_BYTES_MIN = 64 << 10,
    BUFFER_KEPT_MAX = 8 << 20, /* memory for a few large pages must not be kept forever */
    STREAM_BYTES = 512 << 10,  /* several of the library's reads */
};

int64_t transfer_clock_us(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * US_PER_SECOND + at.tv_nsec / 1000;
}

bool transfer_open(struct transfer *t, struct http *http, struct error *err)
{
    if (t->ticket.http == NULL)
        arena_init(&t->scratch, SCRATCH_BYTES_MAX);
    t->ticket.http = http;
    transfer_forget_way(t);
    t->easy = curl_easy_init();
    return t->easy != NULL ||
           error_set(err, ERROR_TRANSIENT, "http.resource", "no memory for a request");
}

void transfer_close(struct transfer *t)
{
    if (t->ticket.http == NULL)
        return;
    curl_easy_cleanup(t->easy);
    transfer_wipe(t);
    transfer_forget_way(t);
    arena_release(&t->scratch);
    transfer_stop_stream(t);
    free(t->buffer);
    *t = (struct transfer){ 0 };
}

/* The handle may be paused: the next request needs one as new. */
void transfer_stop_stream(struct transfer *t)
{
    if (!t->stream.is_on)
        return;
    gunzip_release(&t->stream.gunzip);
    free(t->stream.bytes);
    memset(&t->stream, 0, sizeof(t->stream));
    transfer_forget_way(t);
}

bool transfer_start_stream(struct transfer *t, struct error *err)
{
    t->stream.bytes = malloc(STREAM_BYTES);
    if (t->stream.bytes == NULL)
        return error_set(err, ERROR_TRANSIENT, "http.resource", "no memory for a stream");
    t->stream.is_on = true;
    return true;
}

void transfer_wipe(struct transfer *t)
{
    arena_wipe(&t->scratch);
    t->lines = NULL;
    t->request = t->hop = (struct http_request){ 0 };
    if (t->buffer_room > BUFFER_KEPT_MAX) {
        free(t->buffer);
        t->buffer = NULL;
        t->buffer_room = 0;
    }
}

bool transfer_prepare(struct transfer *t, struct arena *arena, const struct http_request *request,
                      struct error *err)
{
    t->arena = arena;
    t->followed = 0;
    t->begun_us = 0;
    t->is_settled = t->ok = false;
    t->reply = (struct http_response){ 0 };
    if (!http_request_copy(&t->scratch, request, &t->request, err) ||
        !http_request_check(&t->request, err))
        return false;
    if (request->auth != NULL)
        return error_set(err, ERROR_FATAL, "http.auth",
                         "%s: needs a credential, and this handle has none",
                         http_title(request, request->url).text);
    t->hop = t->request;
    return true;
}

/* ---- settling ---- */

static void settle(struct transfer *t, bool ok)
{
    t->is_settled = true;
    t->ok = ok;
}

/* Puts method and URL in front of the text of t->err. Returns false. */
static bool name_request(struct transfer *t)
{
    return error_wrap(&t->err, "%s", http_title(&t->request, t->hop.url).text);
}

bool transfer_begin(struct transfer *t, int64_t now_us)
{
    if (t->begun_us == 0)
        t->begun_us = now_us;
    t->has_begun = t->has_moved = false;
    t->sent_bytes = 0;
    t->err = (struct error){ 0 };
    memset(&t->body, 0, sizeof(t->body));
    http_head_init(&t->head, t->arena, &t->request.limits);
    if (transfer_setup(t, &t->err))
        return true;
    settle(t, name_request(t));
    return false;
}

/* ---- what the library calls: for the head, the body, the connection and progress ---- */

size_t transfer_on_header(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *t = context;
    const struct str line = { bytes, size * count };

    t->has_moved = true;
    if (!http_head_add(&t->head, line, &t->err))
        return line.len + 1; /* any other return value ends the transfer */
    return line.len;
}

static bool too_large(struct transfer *t)
{
    const bool by_line = (int64_t)t->body.max == t->request.limits.body_bytes_max;

    return error_set(&t->err, ERROR_REQUEST, by_line ? "http.too_large" : "http.inflate_limit",
                     "the body is larger than %zu bytes", t->body.max);
}

/* At the first bytes: where the body goes, and how large it may be. */
static bool place_body(struct transfer *t)
{
    const struct http_limits *limits = &t->request.limits;
    curl_off_t announced = -1;

    t->body.is_placed = true;
    t->body.is_coded =
        !unpack_is_identity(http_header_value(t->head.headers, STR("Content-Encoding")));
    t->body.max = (size_t)limits->body_bytes_max;
    if (!t->body.is_coded && limits->inflated_bytes_max < limits->body_bytes_max)
        t->body.max = (size_t)limits->inflated_bytes_max;
    (void)curl_easy_getinfo(t->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
    if (announced > (curl_off_t)t->body.max)
        return too_large(t);
    if (announced > 0 && !t->body.is_coded) {
        t->body.data = arena_alloc_raw(t->arena, (size_t)announced);
        t->body.room = (size_t)announced;
        t->body.is_direct = true;
        return t->body.data != NULL || arena_error(t->arena, &t->err);
    }
    t->body.data = t->buffer;
    t->body.room = t->buffer_room;
    return true;
}

static bool make_room(struct transfer *t, size_t more)
{
    size_t wanted = t->buffer_room > 0 ? 2 * t->buffer_room : BUFFER_BYTES_MIN;
    char *bytes;

    if (t->body.room - t->body.len >= more)
        return true;
    if (t->body.is_direct)
        return error_set(&t->err, ERROR_TRANSIENT, "http.protocol",
                         "the body is longer than announced");
    if (wanted < t->body.len + more)
        wanted = t->body.len + more;
    bytes = realloc(t->buffer, wanted);
    if (bytes == NULL)
        return error_set(&t->err, ERROR_TRANSIENT, "http.resource", "no memory for a body");
    t->buffer = t->body.data = bytes;
    t->buffer_room = t->body.room = wanted;
    return true;
}

/* The library gives bytes that are refused again when it is told to go on. */
static size_t keep_for_reader(struct transfer *t, const char *bytes, size_t len)
{
    t->stream.is_flowing = true;
    if (len > STREAM_BYTES - t->stream.len) {
        t->stream.is_paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    memcpy(t->stream.bytes + t->stream.len, bytes, len);
    t->stream.len += len;
    t->stream.received += (int64_t)len;
    return len;
}

size_t transfer_on_body(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *t = context;
    const size_t len = size * count;

    t->has_moved = true;
    if (t->stream.is_on && t->head.is_complete && t->head.status / 100 == 2)
        return keep_for_reader(t, bytes, len);
    if (!t->body.is_placed && !place_body(t))
        return len + 1;
    if (len > t->body.max - t->body.len) {
        (void)too_large(t);
        return len + 1;
    }
    if (!make_room(t, len))
        return len + 1;
    memcpy(t->body.data + t->body.len, bytes, len);
    t->body.len += len;
    return len;
}

/* libcurl calls this before it sends the request, and again when it finds a kept connection dead
 * and would send it a second time. The permit was for one request. */
int transfer_on_connected(void *context, char *remote_ip, char *local_ip, int remote_port,
                          int local_port)
{
    struct transfer *t = context;

    (void)remote_ip;
    (void)local_ip;
    (void)remote_port;
    (void)local_port;
    if (t->has_begun) {
        (void)error_set(&t->err, ERROR_TRANSIENT, "http.reset",
                        "the server closed a kept connection instead of responding");
        return CURL_PREREQFUNC_ABORT;
    }
    t->has_begun = true;
    t->has_moved = true;
    return CURL_PREREQFUNC_OK;
}

int transfer_on_progress(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                         curl_off_t up)
{
    struct transfer *t = context;

    (void)down_total;
    (void)down;
    (void)up_total;
    if (up > t->sent_bytes) {
        t->sent_bytes = up;
        t->has_moved = true;
    }
    return 0;
}

/* ---- the end of a hop ---- */

static int64_t time_of(CURL *easy, CURLINFO what)
{
    curl_off_t us = 0;

    (void)curl_easy_getinfo(easy, what, &us);
    return us;
}

/* Everything but the body. False when the arena is full. */
static bool fill_reply(struct transfer *t, int64_t now_us)
{
    struct http_response *reply = &t->reply;
    struct buf url;
    long connects = 0, port = 0;
    char *ip = NULL, address[80];

    buf_init(&url, t->arena, HTTP_TOLD_URL_BYTES_MAX);
    http_redact_url(&url, &t->request, t->hop.url);
    (void)curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &connects);
    (void)curl_easy_getinfo(t->easy, CURLINFO_PRIMARY_PORT, &port);
    (void)curl_easy_getinfo(t->easy, CURLINFO_PRIMARY_IP, &ip);
    *reply = (struct http_response){
        .status = t->head.is_complete ? t->head.status : 0,
        .version = t->head.version,
        .wire_bytes = (int64_t)t->body.len,
        .url = buf_str(&url),
        .redirects = t->followed,
        .attempts = t->has_begun,
        .reused = connects == 0 && t->has_begun,
        .timings = { .name_us = time_of(t->easy, CURLINFO_NAMELOOKUP_TIME_T),
                     .connect_us = time_of(t->easy, CURLINFO_CONNECT_TIME_T),
                     .tls_us = time_of(t->easy, CURLINFO_APPCONNECT_TIME_T),
                     .first_byte_us = time_of(t->easy, CURLINFO_STARTTRANSFER_TIME_T),
                     .total_us = now_us - t->begun_us },
    };
    if (t->head.is_complete)
        reply->headers = t->head.headers;
    if (!buf_ok(&url, &t->err))
        return false;
    if (ip == NULL || ip[0] == '\0')
        return true;
    (void)snprintf(address, sizeof(address), strchr(ip, ':') != NULL ? "[%s]:%ld" : "%s:%ld", ip,
                   port);
    reply->address = arena_copy(t->arena, str_of(address));
    return reply->address.data != NULL || arena_error(t->arena, &t->err);
}

bool transfer_head(struct transfer *t, int64_t now_us, struct http_response *reply,
                   struct error *err)
{
    const struct str coding = http_header_value(t->head.headers, STR("Content-Encoding"));

    if (!fill_reply(t, now_us)) {
        *err = t->err;
        return false;
    }
    *reply = t->reply;
    if (unpack_is_identity(coding) || str_eq_nocase(str_trim(coding), STR("gzip")))
        return true; /* gzip is found by its bytes, whoever packed them */
    return error_set(err, ERROR_TRANSIENT, "http.encoding",
                     "%s: the content coding %.*s was not requested",
                     http_title(&t->request, t->hop.url).text, STR_ARG(coding));
}

/* Makes room, and lets the library go on. */
static void resume(struct transfer *t)
{
    t->stream.at = t->stream.len = 0;
    if (!t->stream.is_paused)
        return;
    t->stream.is_paused = false;
    t->has_moved = true; /* the silence was ours */
    (void)curl_easy_pause(t->easy, CURLPAUSE_CONT);
}

bool transfer_take(struct transfer *t, struct http_room room, size_t *len, bool *is_end,
                   struct error *err)
{
    struct str in = { t->stream.bytes + t->stream.at, t->stream.len - t->stream.at };
    const size_t before = in.len;
    bool ok;

    *is_end = false;
    ok = gunzip_take(&t->stream.gunzip, &in, t->is_settled, room, len, err);
    t->stream.at += before - in.len;
    if (ok && *len == 0 && t->is_settled) {
        if (!t->ok) {
            *err = t->err;
            return false;
        }
        *is_end = true;
        ok = gunzip_end(&t->stream.gunzip, err);
    }
    if (!ok)
        return error_wrap(err, "%s", http_title(&t->request, t->hop.url).text);
    if (*len == 0 && !*is_end && in.len == 0)
        resume(t);
    return true;
}

/* The body, decoded. */
static bool fill_body(struct transfer *t)
{
    const struct str bytes = { t->body.data, t->body.len };

    t->reply.body = bytes;
    if (t->body.is_direct)
        return true;
    if (t->body.is_coded)
        return unpack(t->arena,
                      &(struct packed_body){
                          .coding = http_header_value(t->head.headers, STR("Content-Encoding")),
                          .bytes = bytes,
                          .bytes_max = t->request.limits.inflated_bytes_max },
                      &t->reply.body, &t->err);
    t->reply.body = arena_copy(t->arena, bytes);
    return t->reply.body.data != NULL || arena_error(t->arena, &t->err);
}

/* A failure after the head of a response whose status is not 2xx: the status is worth more than the
 * body. The part of the body that was received is returned where it can be read. */
static bool is_rescued(struct transfer *t)
{
    if (t->reply.status == 0 || t->reply.status / 100 == 2 ||
        !http_fault_spares_status(t->err.code))
        return false;
    t->reply.body_cut = true;
    if (t->body.is_coded || t->body.len == 0)
        t->reply.body = STR("");
    else if (!fill_body(t))
        return false;
    t->err = (struct error){ 0 };
    return true;
}

/* What a proxy answered to the request for a tunnel; 0: there was none. */
static long tunnel_status(const struct transfer *t)
{
    long status = 0;

    (void)curl_easy_getinfo(t->easy, CURLINFO_HTTP_CONNECTCODE, &status);
    return t->has_begun ? 0 : status;
}

/* The library's result as a fault of the port, unless a callback has found one. */
static void name_fault(struct transfer *t, CURLcode result)
{
    const struct http_fault *fault;

    if (t->err.code != NULL)
        return;
    fault = curl_fault((struct curl_outcome){
        .result = result,
        .has_proxy = t->request.proxy.len > 0,
        .has_begun = t->has_begun,
        .head_is_complete = t->head.is_complete,
    });
    if (tunnel_status(t) >= 300)
        (void)error_set(&t->err, fault->level, fault->code, "%s (status %ld)", fault->meaning,
                        tunnel_status(t));
    else if (curl_fault_has_text(result) && t->text[0] != '\0')
        (void)error_set(&t->err, fault->level, fault->code, "%s (%s)", fault->meaning, t->text);
    else
        (void)error_set(&t->err, fault->level, fault->code, "%s (%s)", fault->meaning,
                        curl_easy_strerror(result));
}

/* Follows a redirect. True when there is another request to send. */
static bool next_hop(struct transfer *t)
{
    const struct http_arrival at = { &t->request, t->hop.url, t->followed, &t->reply };
    struct http_hop hop;

    if (!http_redirect(&t->scratch, &at, &hop, &t->err)) {
        settle(t, false); /* its text already has method and URL */
        return false;
    }
    if (hop.url.data == NULL) {
        settle(t, true);
        return false;
    }
    hop.url = arena_copy(&t->scratch, hop.url); /* the library needs a NUL after it */
    if (hop.url.data == NULL || !http_hop_request(&t->scratch, &t->hop, &hop, &t->hop, &t->err)) {
        (void)arena_error(&t->scratch, &t->err);
        settle(t, name_request(t));
        return false;
    }
    t->followed++;
    return true;
}

/* True when there is a response to continue with; otherwise the transfer is settled. */
static bool finish_hop(struct transfer *t, CURLcode result, int64_t now_us)
{
    if (result == CURLE_OK && t->err.code == NULL && !t->head.is_complete)
        result = CURLE_RECV_ERROR; /* the library takes a head without its end for a response */
    if (fill_reply(t, now_us)) {
        if (result != CURLE_OK || t->err.code != NULL)
            name_fault(t, result);
        else
            (void)fill_body(t);
    }
    if (t->err.code == NULL || is_rescued(t))
        return true;
    settle(t, name_request(t));
    return false;
}

bool transfer_end(struct transfer *t, CURLcode result, int64_t now_us)
{
    return finish_hop(t, result, now_us) && next_hop(t) && transfer_begin(t, now_us);
}

/* ---- giving up ---- */

int64_t transfer_deadline_us(struct transfer *t, int64_t now_us)
{
    const int64_t total_us = t->begun_us + t->request.timeouts.total_us;
    int64_t idle_us;

    if (!t->has_begun) /* the library minds the connect timeout */
        return total_us;
    if (t->has_moved) {
        t->has_moved = false;
        t->moved_us = now_us;
    }
    idle_us = t->moved_us + t->request.timeouts.idle_us;
    if (t->stream.is_flowing)
        return idle_us; /* a file may take hours */
    return idle_us < total_us ? idle_us : total_us;
}

void transfer_abort(struct transfer *t, const char *code, int64_t now_us)
{
    const struct http_fault *fault = http_fault_find(code);

    (void)error_set(&t->err, fault->level, fault->code, "%s", fault->meaning);
    if (finish_hop(t, CURLE_OK, now_us))
        settle(t, true);
}

void transfer_mistrust(struct transfer *t)
{
    (void)curl_easy_setopt(t->easy, CURLOPT_FORBID_REUSE, 1L);
}

void transfer_expire(struct transfer *t, int64_t now_us)
{
    const bool is_total =
        !t->stream.is_flowing && now_us >= t->begun_us + t->request.timeouts.total_us;

    transfer_abort(t, is_total ? "http.timeout.total" : "http.timeout.idle", now_us);
}
