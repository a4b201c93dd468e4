/* reply: puts an answer on the wire, well or as badly as the fault says.
 *
 *      answer ─ gzip ─ framing (Content-Length, chunked, until close) ─ wire
 *                          ╰ a wrong length, a cut, a drip, a stall, a reset: here
 */
#ifndef PATRA_SIM_SERVER_RESPONSE_H
#define PATRA_SIM_SERVER_RESPONSE_H

#include "sim/fault/fault_plan.h"
#include "sim/http/call.h"
#include "sim/http/request.h"
#include "sim/http/wire.h"

enum reply_frame { FRAME_LENGTH, FRAME_CHUNKED, FRAME_CLOSE };
enum reply_end { REPLY_KEEP, REPLY_CLOSE, REPLY_RESET }; /* what becomes of the connection */

struct reply_options {
    int gzip_level;         /* 0: never compress */
    enum reply_frame frame; /* of answers that no fault touches */
    int64_t stall_max_us;
};

struct reply {
    struct wire *wire;
    struct exchange *exchange;
    const struct fault *fault;
    const struct request_traits *traits;
    const struct reply_options *options;
    /* Called once, before the last bytes leave (so that a client that has read its answer finds it
     * in the audit), or before the connection is broken. */
    void (*done)(void *context, bool complete);
    void *context;

    /* reply_send()'s own */
    struct str body;
    bool gzipped;
    bool is_done;
    enum reply_frame frame;
    int64_t length; /* what Content-Length says */
};

/* `broken` is set when the peer did not take what should have reached it. */
enum reply_end reply_send(struct reply *reply, bool *broken);

#endif
