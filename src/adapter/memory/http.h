/* memory_http: replies from a script, for tests and simulations.
 *
 *      struct memory_http http;
 *
 *      memory_http_init(&http, &clock.clock);
 *      memory_http_reply(&http, &(struct memory_reply){ .status = 200, .body = STR("{}") });
 *      memory_http_reply(&http, &(struct memory_reply){ .url_part = STR("/token"), .times = -1 });
 *      memory_http_reply(&http, &(struct memory_reply){ .error_code = "http.reset" });
 *
 * A request takes the first reply of the script that matches it and is not used up; one that
 * matches none fails with "http.script" (L4), which names it. Every request is remembered. The
 * rules of the port that are not the network's are kept: the request is checked, redirects are
 * followed as the real one does, limits hold, a broken body behind a status other than 2xx is cut.
 * Its clock (may be NULL) moves by the reply's took_us. A started request is answered when it is
 * waited for. Not for two threads at once.
 */
#ifndef PATRA_ADAPTER_MEMORY_HTTP_H
#define PATRA_ADAPTER_MEMORY_HTTP_H

#include "base/arena.h"
#include "port/clock.h"
#include "port/http.h"

struct memory_reply {
    /* When: all that is given must hold. */
    struct str method;
    struct str url_part;  /* the URL contains it */
    struct str body_part; /* the body does */
    bool (*matches)(void *context, const struct http_request *request);
    void *context;
    int times; /* how often it may be used; 0 is once, -1 always */

    /* What: a reply, or with error_code a failure of the port's table; with both a status and an
     * error, the headers came and the body broke. */
    int status;
    const struct http_header *headers;
    size_t header_count;
    struct str body;
    const char *error_code;
    int64_t took_us;
    /* Or computed: fills in what stands above; the arena is the reply's. */
    void (*make)(void *context, struct arena *arena, const struct http_request *request,
                 struct memory_reply *reply);
};

struct memory_sent { /* a request as it went out */
    struct str method;
    struct str url;
    struct http_headers headers;
    struct str body;
    struct str proxy;
    struct str traceparent;
    bool cancelled; /* it was given up before its reply was asked for */
};

struct memory_http {
    struct http http; /* first: hand out &memory.http */
    struct arena arena;
    struct clock *clock;
    struct {
        struct memory_reply *items;
        size_t count;
    } script;
    struct {
        struct memory_sent *items;
        size_t count;
    } sent;
    size_t under_way;
    bool interrupted;
};

void memory_http_init(struct memory_http *http, struct clock *clock);
void memory_http_release(struct memory_http *http);

/* Appends to the script. What the reply's views look at must outlive the http. */
void memory_http_reply(struct memory_http *http, const struct memory_reply *reply);

#endif
