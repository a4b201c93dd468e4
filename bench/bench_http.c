/* bench_http: bodies over loopback through the http port, against libcurl used directly in the same
 * run.
 *
 * The direct side does the least that still puts the body in memory: one easy handle, the same
 * receive buffer, a callback that appends to a buffer that is kept. The port's side does what it
 * does for the engine: a checked request, all headers, the body in an arena that is reset for every
 * page. Rounds are short and alternate, because the machine may be shared, and the best of each
 * side counts.
 */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <libgen.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "adapter/curl/curl_http.h"

enum { ROUNDS = 80, ARENA_BYTES_MAX = 256 << 20, BUFFER_BYTES = 512 << 10, HEAD_BYTES_MAX = 4096 };

struct cost {
    double wall_s;
    double cpu_s; /* of the thread that sends requests */
};

static double read_s(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct cost now(void)
{
    return (struct cost){ read_s(CLOCK_MONOTONIC), read_s(CLOCK_THREAD_CPUTIME_ID) };
}

static struct cost since(struct cost start)
{
    const struct cost at = now();

    return (struct cost){ at.wall_s - start.wall_s, at.cpu_s - start.cpu_s };
}

static void keep_best(struct cost *best, struct cost cost)
{
    if (cost.wall_s < best->wall_s)
        best->wall_s = cost.wall_s;
    if (cost.cpu_s < best->cpu_s)
        best->cpu_s = cost.cpu_s;
}

static void must(bool ok, const char *what)
{
    if (!ok) {
        (void)fprintf(stderr, "bench_http: %s\n", what);
        exit(1);
    }
}

/* ---- the server: /0, /1, ... are prepared bodies ---- */

static const struct {
    const char *label;
    size_t bytes;
    bool packed;
    int requests; /* per round */
} bodies[] = {
    { "1 KB", 1 << 10, false, 200 },
    { "0.5 MB", 512 << 10, false, 20 },
    { "5 MB", 5 << 20, false, 5 },
    { "5 MB as gzip", 5 << 20, true, 1 },
};
enum { BODIES = ARRAY_LEN(bodies) };

static struct str replies[BODIES];

/* JSON-like lines that compress to about a sixth, like a page. */
static char *make_text(size_t bytes)
{
    char *text = malloc(bytes + 200);
    size_t len = 0;

    must(text != NULL, "memory");
    for (unsigned n = 1; len < bytes; n = n * 1103515245U + 12345U)
        len += (size_t)sprintf(text + len,
                               "{\"DOI\":\"10.%u/%x\",\"title\":[\"On the %u-th of all things\"],"
                               "\"indexed\":{\"timestamp\":%u}},\n",
                               n % 9000 + 1000, n, n >> 20, n ^ 0x5bd1e995U);
    return text;
}

static size_t pack(char *text, size_t len, char *out, size_t room)
{
    z_stream stream = { .next_in = (Bytef *)text,
                        .avail_in = (uInt)len,
                        .next_out = (Bytef *)out,
                        .avail_out = (uInt)room };

    must(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK &&
             deflate(&stream, Z_FINISH) == Z_STREAM_END,
         "gzip");
    (void)deflateEnd(&stream);
    return stream.total_out;
}

static void make_reply(size_t index)
{
    const size_t bytes = bodies[index].bytes;
    char *text = make_text(bytes), *reply = malloc(bytes + 1000), *packed = malloc(bytes);
    const size_t len = bodies[index].packed ? pack(text, bytes, packed, bytes) : bytes;
    int head;

    must(reply != NULL && packed != NULL, "memory");
    head = sprintf(
        reply, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n",
        len, bodies[index].packed ? "Content-Encoding: gzip\r\n" : "");
    memcpy(reply + head, bodies[index].packed ? packed : text, len);
    replies[index] = (struct str){ reply, (size_t)head + len };
    free(packed);
    free(text);
}

static void *serve_one(void *context)
{
    const int fd = (int)(intptr_t)context;
    char head[HEAD_BYTES_MAX];
    size_t len = 0;
    ssize_t got;

    while ((got = read(fd, head + len, sizeof(head) - len)) > 0) {
        struct str left;

        len += (size_t)got;
        if (len < 4 || memcmp(head + len - 4, "\r\n\r\n", 4) != 0)
            continue;
        left = replies[(head[5] - '0') % BODIES];
        for (; left.len > 0 && got > 0; left = str_slice(left, (size_t)got, left.len))
            got = send(fd, left.data, left.len, MSG_NOSIGNAL);
        len = 0;
    }
    (void)close(fd);
    return NULL;
}

static void *serve(void *context)
{
    const int listener = (int)(intptr_t)context;
    pthread_t thread;

    for (;;) {
        const int fd = accept(listener, NULL, NULL);

        must(fd >= 0, "connection");
        must(pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)fd) == 0, "thread");
        (void)pthread_detach(thread);
    }
    return NULL;
}

static int start_server(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof(address);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    pthread_t thread;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
             listen(fd, 16) == 0 && getsockname(fd, (struct sockaddr *)&address, &size) == 0,
         "server");
    must(pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd) == 0, "thread");
    (void)pthread_detach(thread);
    return ntohs(address.sin_port);
}

/* ---- the two sides: seconds for a number of requests ---- */

static struct {
    char *data;
    size_t len, room;
} bare_body;

static size_t bare_write(char *bytes, size_t size, size_t count, void *context)
{
    (void)size;
    (void)context;
    if (bare_body.room - bare_body.len < count) {
        bare_body.room = 2 * bare_body.room + count;
        bare_body.data = realloc(bare_body.data, bare_body.room);
        must(bare_body.data != NULL, "memory");
    }
    memcpy(bare_body.data + bare_body.len, bytes, count);
    bare_body.len += count;
    return count;
}

static struct cost run_bare(CURL *easy, const char *url, size_t index)
{
    const struct cost start = now();

    for (int i = 0; i < bodies[index].requests; i++) {
        bare_body.len = 0;
        (void)curl_easy_setopt(easy, CURLOPT_URL, url);
        must(curl_easy_perform(easy) == CURLE_OK && bare_body.len == bodies[index].bytes, "bare");
    }
    return since(start);
}

static struct cost run_port(struct http *http, struct arena *arenas, const char *url, size_t index)
{
    const struct http_request request = { .url = str_of(url), .allow_plain_http = true };
    const struct cost start = now();
    struct http_response reply;
    struct error err;

    for (int i = 0; i < bodies[index].requests; i++) {
        arena_reset(&arenas[0]);
        must(http_send(http, &arenas[0], &request, &reply, &err) &&
                 reply.body.len == bodies[index].bytes,
             "port");
    }
    return since(start);
}

/* The next request is always in progress while this response is read. */
static struct cost run_started(struct http *http, struct arena *arenas, const char *url,
                               size_t index)
{
    const struct http_request request = { .url = str_of(url), .allow_plain_http = true };
    const struct cost start = now();
    struct http_ticket *ticket;
    struct http_response reply;
    struct error err;

    arena_reset(&arenas[1]);
    must(http_start(http, &arenas[1], &request, &ticket, &err), "start");
    for (int i = 0; i < bodies[index].requests; i++) {
        must(http_wait(ticket, &reply, &err) && reply.body.len == bodies[index].bytes, "wait");
        arena_reset(&arenas[i % 2]);
        must(http_start(http, &arenas[i % 2], &request, &ticket, &err), "start");
    }
    http_cancel(ticket);
    return since(start);
}

static void compare(CURL *easy, struct http *http, struct http *started, struct arena *arenas,
                    int port, size_t index)
{
    struct cost bare = { 1e9, 1e9 }, sent = { 1e9, 1e9 }, ahead = { 1e9, 1e9 };
    const int n = bodies[index].requests;
    char url[100];

    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/%zu", port, index);
    for (int round = 0; round < ROUNDS; round++) {
        keep_best(&bare, run_bare(easy, url, index));
        keep_best(&sent, run_port(http, arenas, url, index));
        keep_best(&ahead, run_started(started, arenas, url, index));
    }
    (void)printf("| %s | %.0f | %.0f | %.2f | %.2f | %.0f | %.2f |\n", bodies[index].label,
                 n / bare.wall_s, n / sent.wall_s, bare.wall_s / sent.wall_s,
                 bare.cpu_s / sent.cpu_s, n / ahead.wall_s, bare.wall_s / ahead.wall_s);
}

/* The module is in the build folder, one above this program. */
static void find_module(const char *program)
{
    char path[4096], folder[4096];

    (void)snprintf(path, sizeof(path), "%s", program);
    (void)snprintf(folder, sizeof(folder), "%.4000s/..", dirname(path));
    (void)setenv("PATRA_MODULES", folder, 0);
}

int main(int argc, char **argv)
{
    const int port = start_server();
    struct arena arenas[2];
    struct http *http, *started;
    struct error err;
    CURL *easy;

    (void)argc;
    find_module(argv[0]);
    for (size_t i = 0; i < BODIES; i++)
        make_reply(i);
    arena_init(&arenas[0], ARENA_BYTES_MAX);
    arena_init(&arenas[1], ARENA_BYTES_MAX);
    must(curl_http_open(NULL, &http, &err) && curl_http_open(NULL, &started, &err),
         "patra-curl.so is not there");
    easy = curl_easy_init();
    must(easy != NULL, "libcurl");
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, bare_write);
    (void)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)BUFFER_BYTES);
    (void)curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)printf("| body | bare, bodies/s | port, bodies/s | port : bare | the same by CPU time | "
                 "started ahead, bodies/s | ahead : bare |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < BODIES; i++)
        compare(easy, http, started, arenas, port, i);
    curl_easy_cleanup(easy);
    http_close(http);
    http_close(started);
    return 0;
}
