/* response: sends a response, correctly or as badly as the fault says.
 *
 *      body ─ gzip ─ framing (Content-Length, chunked, until close) ─ wire
 *                        ╰ a wrong length, a truncation, a drip, a stall, a reset: here
 */
#ifndef PATRA_SIM_SERVER_RESPONSE_H
#define PATRA_SIM_SERVER_RESPONSE_H

#include "sim/fault/fault_plan.h"
#include "sim/http/call.h"
#include "sim/http/request.h"
#include "sim/http/wire.h"

enum response_frame { FRAME_LENGTH, FRAME_CHUNKED, FRAME_CLOSE };
enum response_end {
    RESPONSE_KEEP,
    RESPONSE_CLOSE,
    RESPONSE_RESET
}; /* what happens to the connection */

struct response_options {
    int gzip_level;            /* 0: never compress */
    enum response_frame frame; /* of responses without a fault */
    int64_t stall_max_us;
};

struct response {
    struct wire *wire;
    struct http_call *call;
    const struct fault *fault;
    const struct request_traits *traits;
    const struct response_options *options;
    /* Called once, before the last bytes are sent (so that a client that has read its response
     * finds the request in the audit), or before the connection is broken. */
    void (*done)(void *context, bool complete);
    void *context;

    /* private to response_send() */
    struct str body;
    bool gzipped;
    bool is_done;
    enum response_frame frame;
    int64_t length; /* what Content-Length says */
};

/* `broken` is set when the peer did not receive what it should have. */
enum response_end response_send(struct response *response, bool *broken);

#endif
