/* Calls over gRPC, and the thread that waits for them. */
#include "adapter/pubsub/rpc.h"

#include <assert.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc_security.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/instant.h"

/* An answer of StreamingPull has several messages of up to 10 MB. */
enum { RECEIVE_BYTES_MAX = 64 << 20 };
/* Waits are looked at this often, so that a call that was cancelled is noticed. */
enum { WAIT_MAX_MS = 1000 };

int64_t rpc_now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

struct rpc_until rpc_until(int64_t timeout_us, int wake_fd)
{
    return (struct rpc_until){ rpc_now_us() + (timeout_us > 0 ? timeout_us : 0), wake_fd };
}

bool rpc_is_over(struct rpc_until until)
{
    struct pollfd wake = { .fd = until.wake_fd, .events = POLLIN };

    if (rpc_now_us() >= until.at_us)
        return true;
    return until.wake_fd >= 0 && poll(&wake, 1, 0) > 0;
}

void rpc_wait(const struct rpc *rpc, struct rpc_until until)
{
    struct pollfd fds[2] = { { .fd = rpc->event_fd, .events = POLLIN },
                             { .fd = until.wake_fd, .events = POLLIN } };
    int64_t left_ms = (until.at_us - rpc_now_us() + US_PER_MS - 1) / US_PER_MS;
    uint64_t count;

    if (left_ms < 0)
        left_ms = 0;
    if (left_ms > WAIT_MAX_MS)
        left_ms = WAIT_MAX_MS;
    if (poll(fds, until.wake_fd >= 0 ? 2 : 1, (int)left_ms) <= 0 || fds[0].revents == 0)
        return;
    if (read(rpc->event_fd, &count, sizeof(count)) < 0)
        return; /* somebody else was faster: the same */
}

/* ---- the thread ---- */

static void *take_events(void *context)
{
    static const uint64_t ONE = 1;
    struct rpc *rpc = context;
    grpc_event event;
    struct rpc_op *op;

    for (;;) {
        event = grpc_completion_queue_next(rpc->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
        if (event.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        if (event.type != GRPC_OP_COMPLETE)
            continue;
        op = event.tag;
        op->is_ok = event.success != 0;
        atomic_store_explicit(&op->is_done, true, memory_order_release);
        if (write(rpc->event_fd, &ONE, sizeof(ONE)) < 0)
            continue; /* it is full, so it is readable */
    }
}

static bool start_thread(struct rpc *rpc)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's threads */
    rpc->has_thread = pthread_create(&rpc->thread, NULL, take_events, rpc) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rpc->has_thread;
}

/* ---- open and close ---- */

/* The library would print its lines. What matters of them is in the status of calls. */
static void take_line(gpr_log_func_args *args)
{
    (void)args;
}

static grpc_arg int_arg(const char *key, int value)
{
    return (grpc_arg){ .type = GRPC_ARG_INTEGER, .key = (char *)key, .value.integer = value };
}

static grpc_channel *make_channel(const struct rpc_options *options)
{
    grpc_arg args[] = {
        int_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, RECEIVE_BYTES_MAX),
        int_arg(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1), /* a handle's connection is its own */
        int_arg(GRPC_ARG_ENABLE_HTTP_PROXY, 0),         /* whatever the environment has */
        int_arg(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200),
        int_arg(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2000),
        int_arg(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5000),
        int_arg(GRPC_ARG_KEEPALIVE_TIME_MS, 300000), /* more often is refused by Google */
        int_arg(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20000),
    };
    const grpc_channel_args all = { ARRAY_LEN(args), args };
    grpc_channel_credentials *credentials =
        options->roots != NULL ? grpc_ssl_credentials_create(options->roots, NULL, NULL, NULL)
                               : grpc_insecure_credentials_create();
    grpc_channel *channel = grpc_channel_create(options->target, credentials, &all);

    grpc_channel_credentials_release(credentials);
    return channel;
}

bool rpc_open(struct rpc *rpc, const struct rpc_options *options, struct error *err)
{
    gpr_set_log_function(take_line);
    grpc_init();
    *rpc = (struct rpc){ .event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) };
    rpc->queue = grpc_completion_queue_create_for_next(NULL);
    rpc->channel = make_channel(options);
    if (rpc->event_fd >= 0 && rpc->channel != NULL && start_thread(rpc))
        return true;
    rpc_close(rpc);
    return error_set(err, ERROR_TRANSIENT, "bus.lost",
                     "this machine lacks memory, descriptors or threads for a gRPC client");
}

void rpc_close(struct rpc *rpc)
{
    if (rpc->queue == NULL)
        return;
    if (rpc->channel != NULL)
        grpc_channel_destroy(rpc->channel);
    grpc_completion_queue_shutdown(rpc->queue);
    if (rpc->has_thread)
        (void)pthread_join(rpc->thread, NULL);
    grpc_completion_queue_destroy(rpc->queue);
    if (rpc->event_fd >= 0)
        (void)close(rpc->event_fd);
    *rpc = (struct rpc){ .event_fd = -1 };
    grpc_shutdown_blocking();
}

/* ---- one request, one answer ---- */

size_t rpc_metadata(grpc_metadata *metadata, struct str token)
{
    grpc_slice value;

    if (token.len == 0)
        return 0;
    value = grpc_slice_malloc(sizeof("Bearer ") - 1 + token.len);
    memcpy(GRPC_SLICE_START_PTR(value), "Bearer ", sizeof("Bearer ") - 1);
    memcpy(GRPC_SLICE_START_PTR(value) + sizeof("Bearer ") - 1, token.data, token.len);
    *metadata =
        (grpc_metadata){ .key = grpc_slice_from_static_string("authorization"), .value = value };
    return 1;
}

void rpc_metadata_release(grpc_metadata *metadata, size_t count)
{
    if (count > 0)
        grpc_slice_unref(metadata->value);
}

static gpr_timespec deadline_in(int64_t timeout_us)
{
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                        gpr_time_from_micros(timeout_us, GPR_TIMESPAN));
}

void rpc_call_start(struct rpc *rpc, struct rpc_call *call, const struct rpc_request *request)
{
    grpc_metadata metadata;
    const size_t metadata_count = rpc_metadata(&metadata, request->token);
    grpc_op ops[] = {
        { .op = GRPC_OP_SEND_INITIAL_METADATA },  { .op = GRPC_OP_SEND_MESSAGE },
        { .op = GRPC_OP_SEND_CLOSE_FROM_CLIENT }, { .op = GRPC_OP_RECV_INITIAL_METADATA },
        { .op = GRPC_OP_RECV_MESSAGE },           { .op = GRPC_OP_RECV_STATUS_ON_CLIENT },
    };

    memset(call, 0, sizeof(*call));
    call->sent = request->body;
    call->details = grpc_empty_slice();
    grpc_metadata_array_init(&call->initial);
    grpc_metadata_array_init(&call->trailing);
    call->call = grpc_channel_create_call(rpc->channel, NULL, GRPC_PROPAGATE_DEFAULTS, rpc->queue,
                                          grpc_slice_from_static_string(request->method), NULL,
                                          deadline_in(request->timeout_us), NULL);
    ops[0].data.send_initial_metadata.metadata = &metadata;
    ops[0].data.send_initial_metadata.count = metadata_count;
    ops[1].data.send_message.send_message = call->sent;
    ops[3].data.recv_initial_metadata.recv_initial_metadata = &call->initial;
    ops[4].data.recv_message.recv_message = &call->got;
    ops[5].data.recv_status_on_client.trailing_metadata = &call->trailing;
    ops[5].data.recv_status_on_client.status = &call->status;
    ops[5].data.recv_status_on_client.status_details = &call->details;
    if (grpc_call_start_batch(call->call, ops, ARRAY_LEN(ops), &call->op, NULL) != GRPC_CALL_OK)
        assert(!"a batch of operations that is always valid");
    rpc_metadata_release(&metadata, metadata_count);
}

void rpc_call_end(struct rpc *rpc, struct rpc_call *call)
{
    if (call->call == NULL)
        return;
    if (!rpc_op_is_done(&call->op))
        (void)grpc_call_cancel(call->call, NULL);
    while (!rpc_op_is_done(&call->op)) /* soon: it is cancelled, and the thread takes events */
        rpc_wait(rpc, rpc_until(US_PER_SECOND, -1));
    grpc_byte_buffer_destroy(call->sent);
    if (call->got != NULL)
        grpc_byte_buffer_destroy(call->got);
    grpc_metadata_array_destroy(&call->initial);
    grpc_metadata_array_destroy(&call->trailing);
    grpc_slice_unref(call->details);
    grpc_call_unref(call->call);
    call->call = NULL;
}

/* ---- bytes ---- */

grpc_slice rpc_bytes(grpc_byte_buffer *buffer)
{
    grpc_byte_buffer_reader reader;
    grpc_slice all;

    if (buffer == NULL || !grpc_byte_buffer_reader_init(&reader, buffer))
        return grpc_empty_slice();
    all = grpc_byte_buffer_reader_readall(&reader);
    grpc_byte_buffer_reader_destroy(&reader);
    return all;
}

struct str rpc_slice_str(const grpc_slice *slice)
{
    return (struct str){ (const char *)GRPC_SLICE_START_PTR(*slice), GRPC_SLICE_LENGTH(*slice) };
}
