/* rpc: calls over gRPC, that can be waited for together with a file descriptor.
 *
 *      the caller's thread   starts batches of operations, waits on event_fd and wake_fd
 *      one thread            takes what ends from the completion queue, marks it, writes event_fd
 *
 * gRPC's completion queue can be waited for, but not with anything else; hence the thread. It is
 * joined when the rpc is closed, and no operation is under way then.
 */
#ifndef PATRA_ADAPTER_PUBSUB_RPC_H
#define PATRA_ADAPTER_PUBSUB_RPC_H

#include <grpc/grpc.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct rpc {
    grpc_channel *channel;
    grpc_completion_queue *queue;
    pthread_t thread;
    bool has_thread;
    int event_fd;
};

struct rpc_options {
    const char *target; /* host:port */
    const char *roots;  /* PEM: the authorities that are trusted; NULL: no TLS */
};

/* Connects to nothing yet. */
bool rpc_open(struct rpc *rpc, const struct rpc_options *options, struct error *err) MUST_CHECK;
void rpc_close(struct rpc *rpc); /* accepts one that is not open */

/* When a call has to end, and what ends it earlier. */
struct rpc_until {
    int64_t at_us; /* monotonic */
    int wake_fd;
};

int64_t rpc_now_us(void);
struct rpc_until rpc_until(int64_t timeout_us, int wake_fd);
bool rpc_is_over(struct rpc_until until);
/* Until an operation has ended, or until is over. */
void rpc_wait(const struct rpc *rpc, struct rpc_until until);

/* A batch under way; its address is the tag. */
struct rpc_op {
    atomic_bool is_done;
    bool is_ok;
};

static inline bool rpc_op_is_done(struct rpc_op *op)
{
    return atomic_load_explicit(&op->is_done, memory_order_acquire);
}

/* ---- one request, one answer ---- */

struct rpc_call {
    grpc_call *call; /* NULL: none */
    struct rpc_op op;
    grpc_byte_buffer *sent;
    grpc_byte_buffer *got;
    grpc_metadata_array initial, trailing;
    grpc_status_code status;
    grpc_slice details;
};

struct rpc_request {
    const char *method;     /* "/google.pubsub.v1.Publisher/Publish" */
    grpc_byte_buffer *body; /* taken over */
    struct str token;       /* empty: none */
    int64_t timeout_us;
};

void rpc_call_start(struct rpc *rpc, struct rpc_call *call, const struct rpc_request *request);
/* Only when it is done, or it is cancelled first. */
void rpc_call_end(struct rpc *rpc, struct rpc_call *call);

/* Metadata with the token, for the start of a call. Returns how many: 0 or 1. */
size_t rpc_metadata(grpc_metadata *metadata, struct str token);
void rpc_metadata_release(grpc_metadata *metadata, size_t count);

/* All bytes of a buffer in one slice, which the caller unrefs. */
grpc_slice rpc_bytes(grpc_byte_buffer *buffer);
struct str rpc_slice_str(const grpc_slice *slice);

#endif
