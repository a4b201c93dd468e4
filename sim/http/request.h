/* request: reads HTTP/1.0 and 1.1 requests from a connection.
 *
 * The bytes after a request belong to the connection: a client may send its next request before it
 * has read the response (pipelining).
 */
#ifndef PATRA_SIM_HTTP_REQUEST_H
#define PATRA_SIM_HTTP_REQUEST_H

#include "sim/http/call.h"
#include "sim/http/wire.h"

enum { REQUEST_HEAD_MAX = 64 << 10, REQUEST_BODY_MAX = 16 << 20 };

struct request_input {
    size_t from, to; /* the unread bytes */
    char bytes[REQUEST_HEAD_MAX];
};

struct request_traits { /* what the server must know besides the call */
    bool keep_alive;
    bool http_1_0;
    bool chunked;
    bool expects_continue;
    bool accepts_gzip;
    int64_t content_length;
};

enum request_state {
    REQUEST_READY,
    REQUEST_END, /* the peer closed, nothing came in time, or the server stops */
    REQUEST_BAD, /* respond with call->status and err's text, then close */
};

/* Waits for one complete request and fills in the call's request from it. The call has its arena
 * and is otherwise zero. All memory is in the arena. */
enum request_state request_read(struct wire *wire, struct request_input *input,
                                struct http_call *call, struct request_traits *traits,
                                struct error *err);

/* Parses only the head: from the request line to the empty line, both included. On false
 * call->status is the response's status. */
bool request_parse_head(struct http_call *call, struct request_traits *traits, struct str head,
                        struct error *err) MUST_CHECK;

/* What makes two requests the same: method, path, the parameters in any order, the body, and the
 * token where that is sent in a header (X-Token). */
uint64_t request_identity(const struct http_call *call);

#endif
