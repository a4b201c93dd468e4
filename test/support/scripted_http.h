/* scripted_http: the http port with responses from a script.
 *
 *      struct scripted_http http;
 *
 *      scripted_http_init(&http, &clock.clock);
 *      scripted_http_reply(&http, &(struct scripted_reply){ .status = 200, .body = STR("{}") });
 *      scripted_http_reply(&http, &(struct scripted_reply){ .url_part = STR("/token"), .times = -1
 * }); scripted_http_reply(&http, &(struct scripted_reply){ .error_code = "http.reset" });
 *
 * A request takes the first response of the script that matches it and is not used up. A request
 * that matches none fails with "http.script" (L4), whose text names the request. Every request is
 * recorded in `sent`. The port's rules that do not depend on a network hold: requests are checked,
 * redirects are followed as adapter/curl does, limits apply, a broken body of a status other than
 * 2xx is cut. The clock (may be NULL) moves by the response's took_us. The response to a started
 * request is made when it is waited for. One thread at a time.
 */
#ifndef PATRA_TEST_SUPPORT_SCRIPTED_HTTP_H
#define PATRA_TEST_SUPPORT_SCRIPTED_HTTP_H

#include "base/arena.h"
#include "port/clock.h"
#include "port/http.h"

struct scripted_reply {
    /* Which requests: all conditions that are given must hold. */
    struct str method;
    struct str url_part;  /* the URL contains it */
    struct str body_part; /* the body contains it */
    bool (*matches)(void *context, const struct http_request *request);
    void *context;
    int times; /* how often it may be used; 0 is once, -1 always */

    /* The response, or with error_code a failure from the port's table. With a status and an
     * error, the headers arrive and the body breaks. */
    int status;
    const struct http_header *headers;
    size_t header_count;
    struct str body;
    const char *error_code;
    int64_t took_us;
    /* Or computed: fills in the fields above; the arena is the response's. */
    void (*make)(void *context, struct arena *arena, const struct http_request *request,
                 struct scripted_reply *reply);
};

struct scripted_sent { /* a request as it went out */
    struct str method;
    struct str url;
    struct http_headers headers;
    struct str body;
    struct str proxy;
    struct str traceparent;
    bool cancelled; /* given up before its response was waited for */
};

struct scripted_http {
    struct http http; /* first: hand out &scripted.http */
    struct arena arena;
    struct clock *clock;
    struct {
        struct scripted_reply *items;
        size_t count;
    } script;
    struct {
        struct scripted_sent *items;
        size_t count;
    } sent;
    size_t under_way;
    bool interrupted;
    size_t read_max; /* bytes of one read of a stream; 0: as many as there is room for */
    bool is_streaming;
    const char *stream_error;
};

void scripted_http_init(struct scripted_http *http, struct clock *clock);
void scripted_http_release(struct scripted_http *http);

/* Appends to the script. The bytes that the reply's views point to must outlive the http. */
void scripted_http_reply(struct scripted_http *http, const struct scripted_reply *reply);

#endif
