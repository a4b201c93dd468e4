/* Names: servers of names that fail, hang, change their mind, or give several addresses; and
 * addresses of IPv6. getaddrinfo() of this program is the test's, and libcurl finds it first.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "adapter/curl/curl_http.h"
#include "base/instant.h"
#include "raw_server.h"
#include "test.h"

int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict list);

/* ---- the server of names ---- */

static struct {
    const char *_Atomic addresses[3]; /* NULL: no more */
    atomic_int failure;               /* EAI_..., or 0 */
    atomic_int hang_ms;
    atomic_int asked;
} names;

static struct addrinfo *entry_of(const char *address, const char *service,
                                 const struct addrinfo *hints)
{
    struct addrinfo *entry = calloc(1, sizeof(*entry) + sizeof(struct sockaddr_in6));
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)(entry + 1);
    struct sockaddr_in *four = (struct sockaddr_in *)six;
    const uint16_t port = htons((uint16_t)atoi(service != NULL ? service : "0"));

    entry->ai_socktype = hints != NULL ? hints->ai_socktype : SOCK_STREAM;
    entry->ai_addr = (struct sockaddr *)six;
    if (strchr(address, ':') != NULL) {
        entry->ai_family = six->sin6_family = AF_INET6;
        entry->ai_addrlen = sizeof(*six);
        six->sin6_port = port;
        (void)inet_pton(AF_INET6, address, &six->sin6_addr);
    } else {
        entry->ai_family = four->sin_family = AF_INET;
        entry->ai_addrlen = sizeof(*four);
        four->sin_port = port;
        (void)inet_pton(AF_INET, address, &four->sin_addr);
    }
    return entry;
}

int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict list)
{
    const int ms = atomic_load(&names.hang_ms);
    const struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

    (void)node;
    (void)atomic_fetch_add(&names.asked, 1);
    (void)nanosleep(&pause, NULL);
    *list = NULL;
    for (size_t i = ARRAY_LEN(names.addresses); i > 0; i--) {
        const char *address = atomic_load(&names.addresses[i - 1]);
        struct addrinfo *entry = address != NULL ? entry_of(address, service, hints) : NULL;

        if (entry == NULL)
            continue;
        entry->ai_next = *list;
        *list = entry;
    }
    return atomic_load(&names.failure);
}

void freeaddrinfo(struct addrinfo *list)
{
    while (list != NULL) {
        struct addrinfo *next = list->ai_next;

        free(list);
        list = next;
    }
}

/* ---- requests ---- */

static struct {
    struct raw_server *server;
    struct http *http;
    struct arena arena;
    struct arena texts;
    struct http_response reply;
    struct error err;
} to;

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static void begin(void)
{
    memset(&to, 0, sizeof(to));
    arena_init(&to.arena, 1 << 20);
    arena_init(&to.texts, 1 << 20);
    to.server = raw_server_start();
    REQUIRE(to.server != NULL, "a server");
    for (int i = 0; i < 8; i++)
        raw_server_reply(to.server, STR(OK), RAW_CLOSE);
    REQUIRE_OK(curl_http_open(NULL, &to.http, &to.err), to.err);
    for (size_t i = 0; i < ARRAY_LEN(names.addresses); i++)
        atomic_store(&names.addresses[i], NULL);
    atomic_store(&names.failure, 0);
    atomic_store(&names.hang_ms, 0);
    atomic_store(&names.asked, 0);
}

static void end(void)
{
    http_close(to.http);
    raw_server_stop(to.server);
    arena_release(&to.arena);
    arena_release(&to.texts);
}

static const char *get(const char *host)
{
    const struct http_request request = {
        .url = arena_printf(&to.texts, "http://%s:%d/?api_key=S3CRET", host,
                            raw_server_port(to.server)),
        .allow_plain_http = true,
        .timeouts = { .connect_us = US_PER_SECOND, .total_us = 10 * US_PER_SECOND },
    };

    arena_reset(&to.arena);
    to.err = (struct error){ 0 };
    return http_send(to.http, &to.arena, &request, &to.reply, &to.err) ? "" : to.err.code;
}

static int64_t now_us(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * US_PER_SECOND + at.tv_nsec / 1000;
}

TEST(a_server_of_names_that_fails_is_asked_again_by_the_next_request)
{
    static const int failures[] = { EAI_AGAIN, EAI_NONAME, EAI_FAIL, EAI_NODATA, EAI_SYSTEM };

    begin();
    for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
        atomic_store(&names.failure, failures[i]);
        CHECK_STR(str_of(get("api.example.org")), STR("http.dns"), to.err.text);
        CHECK_EQ(to.err.level, ERROR_TRANSIENT, to.err.text);
        CHECK(strstr(to.err.text, "S3CRET") == NULL, to.err.text);
        CHECK_EQ(atomic_load(&names.asked), (int64_t)i + 1, "a failure is not remembered");
    }
    atomic_store(&names.failure, 0);
    atomic_store(&names.addresses[0], "127.0.0.1");
    CHECK_STR(str_of(get("api.example.org")), STR(""), to.err.text);
    end();
}

TEST(a_server_of_names_that_hangs_is_not_waited_for)
{
    int64_t begun_us;

    begin();
    atomic_store(&names.addresses[0], "127.0.0.1");
    atomic_store(&names.hang_ms, 6000);
    begun_us = now_us();
    CHECK_STR(str_of(get("api.example.org")), STR("http.timeout.connect"), to.err.text);
    CHECK(now_us() - begun_us < 4 * US_PER_SECOND, "after a second, as the request says");
    end();
    CHECK(now_us() - begun_us < 5 * US_PER_SECOND, "nor is its end");
}

TEST(of_several_addresses_one_that_answers_is_enough)
{
    begin();
    atomic_store(&names.addresses[0], "127.0.0.3"); /* nobody listens there */
    atomic_store(&names.addresses[1], "127.0.0.1");
    CHECK_STR(str_of(get("two.example.org")), STR(""), to.err.text);
    CHECK_EQ(raw_server_requests(to.server), 1, "one request");
    atomic_store(&names.addresses[0], "100::1"); /* no route, or nobody there */
    CHECK_STR(str_of(get("six.example.org")), STR(""), to.err.text);
    CHECK_EQ(raw_server_requests(to.server), 2, "one request");
    end();
}

/* libcurl itself remembers an address for a minute, also one where nobody is. */
TEST(a_name_that_has_moved_is_found_at_its_new_address)
{
    int64_t begun_us;

    begin();
    atomic_store(&names.addresses[0], "127.0.0.3");
    CHECK_STR(str_of(get("moving.example.org")), STR("http.connect"), to.err.text);
    atomic_store(&names.addresses[0], "127.0.0.1");
    begun_us = now_us();
    while (strcmp(get("moving.example.org"), "") != 0 && now_us() - begun_us < 8 * US_PER_SECOND)
        (void)usleep(50000); /* the retries of a source */
    CHECK(now_us() - begun_us < 8 * US_PER_SECOND, "a few seconds later");
    CHECK_EQ(to.reply.status, 200, to.err.text);
    end();
}

/* ---- IPv6 ---- */

static void *answer_six(void *context)
{
    const int listener = *(const int *)context;
    const int wire = accept(listener, NULL, NULL);
    char head[4096];

    if (wire < 0)
        return NULL;
    (void)!read(wire, head, sizeof(head));
    (void)!write(wire, OK, strlen(OK));
    (void)close(wire);
    return NULL;
}

TEST(a_server_may_have_an_address_of_ipv6)
{
    struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    socklen_t len = sizeof(address);
    int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct http_request request = { .allow_plain_http = true };
    pthread_t thread;

    if (listener < 0 || bind(listener, (struct sockaddr *)&address, len) != 0)
        TEST_SKIP("there is no IPv6 here");
    begin();
    REQUIRE(listen(listener, 1) == 0 &&
                getsockname(listener, (struct sockaddr *)&address, &len) == 0 &&
                pthread_create(&thread, NULL, answer_six, &listener) == 0,
            "a server");
    atomic_store(&names.addresses[0], "::1");
    request.url = arena_printf(&to.texts, "http://[::1]:%d/", ntohs(address.sin6_port));
    CHECK(http_send(to.http, &to.arena, &request, &to.reply, &to.err), to.err.text);
    CHECK_STR(to.reply.address, arena_printf(&to.texts, "[::1]:%d", ntohs(address.sin6_port)),
              "address");
    (void)shutdown(listener, SHUT_RDWR);
    (void)pthread_join(thread, NULL);
    (void)close(listener);
    end();
}
