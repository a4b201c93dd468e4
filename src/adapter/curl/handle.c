/* A handle: slots for requests, and who drives libcurl's multi interface for them:
 *
 *      nothing started     http_send drives it in the caller's thread, and returns
 *      something started   the handle's thread drives it; callers queue requests and wait for DONE
 *
 * The lock guards the state of the slots. The multi, and the transfers of slots that are RUNNING,
 * belong to the driver and need no lock: there is one driver at a time, and the lock passes them
 * from one to the next.
 *
 *      FREE ─prepare─ QUEUED ─ RUNNING ─ DONE ─wait, cancel─ FREE
 */
#include "adapter/curl/handle.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "adapter/curl/transfer.h"

enum {
    CONNECTIONS_KEPT = 16,
    USER_AGENT_MAX = 512,
    POLL_MS_MAX = HTTP_WATCH_US / US_PER_MS, /* the deadlines decide, and who watches */
};

struct slot {
    struct transfer transfer; /* first: a ticket is a slot */
    enum slot_state { SLOT_FREE, SLOT_QUEUED, SLOT_RUNNING, SLOT_DONE } state;
    bool is_unwanted; /* cancelled */
    struct http_stream stream;
};

struct curl_handle {
    struct http http;
    CURLM *multi;
    char user_agent[USER_AGENT_MAX];
    atomic_bool is_interrupted;
    pthread_mutex_t lock;
    pthread_cond_t queued; /* for the thread: there is work, or it must end */
    pthread_cond_t done;   /* for the callers */
    pthread_t thread;
    bool has_thread;
    bool is_closing;
    bool has_stream;  /* in the caller's thread, which then drives the multi */
    size_t under_way; /* slots that are not free; only callers use it */
    struct slot slots[HTTP_TICKETS_MAX];
};

static struct curl_handle *handle_of(struct http *http)
{
    return (struct curl_handle *)http;
}

/* ---- driving ---- */

static void add_to_multi(struct curl_handle *handle, struct transfer *transfer)
{
    if (curl_multi_add_handle(handle->multi, transfer->easy) != CURLM_OK)
        transfer_abort(transfer, "http.resource", transfer_clock_us());
}

static void begin(struct curl_handle *handle, struct transfer *transfer)
{
    if (!transfer_begin(transfer, transfer_clock_us()))
        return;
    if (atomic_load(&handle->is_interrupted))
        transfer_abort(transfer, "http.cancelled", transfer_clock_us());
    else
        add_to_multi(handle, transfer);
}

static void take_results(struct curl_handle *handle)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(handle->multi, &left)) != NULL) {
        const CURLcode result = message->data.result;
        struct transfer *transfer = NULL;

        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        (void)curl_multi_remove_handle(handle->multi, transfer->easy);
        if (transfer_end(transfer, result, transfer_clock_us()))
            add_to_multi(handle, transfer);
    }
}

static bool is_wanted(struct curl_handle *handle, struct slot *slot)
{
    bool is_unwanted;

    (void)pthread_mutex_lock(&handle->lock);
    is_unwanted = slot->is_unwanted || handle->is_closing;
    (void)pthread_mutex_unlock(&handle->lock);
    return !is_unwanted && !atomic_load(&handle->is_interrupted);
}

/* Gives up transfers that are late or cancelled. Returns when to check again. */
static int64_t mind_deadlines(struct curl_handle *handle, struct slot *const *running, size_t count)
{
    const int64_t now_us = transfer_clock_us();
    int64_t next_us = now_us + POLL_MS_MAX * US_PER_MS;

    for (size_t i = 0; i < count; i++) {
        struct transfer *transfer = &running[i]->transfer;
        const bool wanted = is_wanted(handle, running[i]);
        int64_t deadline_us;

        if (transfer->is_settled)
            return now_us;
        deadline_us = transfer_deadline_us(transfer, now_us);
        if (wanted && deadline_us > now_us) {
            if (deadline_us < next_us)
                next_us = deadline_us;
            continue;
        }
        if (wanted)
            transfer_mistrust(transfer);
        (void)curl_multi_remove_handle(handle->multi, transfer->easy);
        if (wanted)
            transfer_expire(transfer, now_us);
        else
            transfer_abort(transfer, "http.cancelled", now_us);
        return now_us;
    }
    return next_us;
}

/* One round: lets the library work and takes what is finished; when nothing is, waits for the
 * sockets. Returns with at least one transfer settled, or after a wait. */
static void drive(struct curl_handle *handle, struct slot *const *running, size_t count)
{
    int64_t wait_us;
    int active;

    (void)curl_multi_perform(handle->multi, &active);
    take_results(handle);
    wait_us = mind_deadlines(handle, running, count) - transfer_clock_us();
    if (wait_us > 0)
        (void)curl_multi_poll(handle->multi, NULL, 0, (int)((wait_us + 999) / 1000), NULL);
}

static void tell_watch(const struct transfer *transfer)
{
    struct http_watch *watch = transfer->request.watch;

    if (watch != NULL)
        watch->waits(watch);
}

/* ---- the thread ---- */

/* Without the lock: it may take as long as the page is large. */
static void let_take(struct slot *const *running, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct transfer *transfer = &running[i]->transfer;
        struct http_taker *taker = transfer->request.taker;

        if (transfer->is_settled && transfer->ok && taker != NULL)
            taker->take(taker, &transfer->reply);
    }
}

/* The slots to be driven; begins the queued ones. The caller holds the lock. */
static size_t take_running(struct curl_handle *handle, struct slot **running)
{
    size_t count = 0;

    for (size_t i = 0; i < HTTP_TICKETS_MAX; i++) {
        struct slot *slot = &handle->slots[i];

        if (slot->state == SLOT_QUEUED) {
            slot->state = SLOT_RUNNING;
            begin(handle, &slot->transfer);
        }
        if (slot->state == SLOT_RUNNING)
            running[count++] = slot;
    }
    return count;
}

static void publish(struct curl_handle *handle, struct slot *const *running, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (running[i]->transfer.is_settled)
            running[i]->state = SLOT_DONE;
    }
    (void)pthread_cond_broadcast(&handle->done);
}

static void *run_thread(void *context)
{
    struct curl_handle *handle = context;
    struct slot *running[HTTP_TICKETS_MAX];
    size_t count;

    (void)pthread_mutex_lock(&handle->lock);
    for (;;) {
        count = take_running(handle, running);
        if (count == 0 && handle->is_closing)
            break;
        if (count == 0) {
            (void)pthread_cond_wait(&handle->queued, &handle->lock);
            continue;
        }
        (void)pthread_mutex_unlock(&handle->lock);
        drive(handle, running, count);
        let_take(running, count);
        (void)pthread_mutex_lock(&handle->lock);
        publish(handle, running, count);
    }
    (void)pthread_mutex_unlock(&handle->lock);
    return NULL;
}

/* Signals are for the program's own threads. */
static bool start_thread(struct curl_handle *handle, struct error *err)
{
    sigset_t all, before;
    int failed;

    if (handle->has_thread)
        return true;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&handle->thread, NULL, run_thread, handle);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0)
        return error_set(err, ERROR_TRANSIENT, "http.resource", "no thread for a request");
    handle->has_thread = true;
    return true;
}

/* ---- slots ---- */

static struct slot *find_free(struct curl_handle *handle)
{
    struct slot *slot = NULL;

    (void)pthread_mutex_lock(&handle->lock);
    for (size_t i = 0; slot == NULL && i < HTTP_TICKETS_MAX; i++) {
        if (handle->slots[i].state == SLOT_FREE)
            slot = &handle->slots[i];
    }
    (void)pthread_mutex_unlock(&handle->lock);
    return slot;
}

static struct slot *take_slot(struct curl_handle *handle, struct arena *arena,
                              const struct http_request *request, struct error *err)
{
    struct slot *slot = find_free(handle);

    if (handle->has_stream) {
        (void)error_set(err, ERROR_REQUEST, "http.limit", "a stream of this handle is open");
        return NULL;
    }
    if (slot == NULL) {
        (void)error_set(err, ERROR_REQUEST, "http.limit",
                        "%d requests of this handle are already under way", HTTP_TICKETS_MAX);
        return NULL;
    }
    slot->is_unwanted = false;
    if (slot->transfer.easy == NULL && !transfer_open(&slot->transfer, &handle->http, err))
        return NULL;
    slot->transfer.user_agent = handle->user_agent;
    if (transfer_prepare(&slot->transfer, arena, request, err))
        return slot;
    transfer_wipe(&slot->transfer);
    return NULL;
}

static void queue(struct curl_handle *handle, struct slot *slot)
{
    (void)pthread_mutex_lock(&handle->lock);
    slot->state = SLOT_QUEUED;
    handle->under_way++;
    (void)pthread_cond_signal(&handle->queued);
    (void)pthread_mutex_unlock(&handle->lock);
    (void)curl_multi_wakeup(handle->multi);
}

/* The driver wakes all waiting callers after each round. */
static void wait_for(struct curl_handle *handle, struct slot *slot)
{
    (void)pthread_mutex_lock(&handle->lock);
    while (slot->state != SLOT_DONE) {
        (void)pthread_cond_wait(&handle->done, &handle->lock);
        (void)pthread_mutex_unlock(&handle->lock);
        tell_watch(&slot->transfer);
        (void)pthread_mutex_lock(&handle->lock);
    }
    slot->state = SLOT_FREE;
    handle->under_way--;
    (void)pthread_mutex_unlock(&handle->lock);
}

static bool give_result(struct slot *slot, struct http_response *reply, struct error *err)
{
    *reply = slot->transfer.reply;
    if (!slot->transfer.ok)
        *err = slot->transfer.err;
    transfer_wipe(&slot->transfer);
    return slot->transfer.ok;
}

/* ---- the port ---- */

static bool handle_start(struct http *http, struct arena *arena, const struct http_request *request,
                         struct http_ticket **ticket, struct error *err)
{
    struct curl_handle *handle = handle_of(http);
    struct slot *slot;

    if (!start_thread(handle, err))
        return false;
    slot = take_slot(handle, arena, request, err);
    if (slot == NULL)
        return false;
    queue(handle, slot);
    *ticket = &slot->transfer.ticket;
    return true;
}

static bool handle_wait(struct http_ticket *ticket, struct http_response *reply, struct error *err)
{
    struct slot *slot = (struct slot *)ticket;

    wait_for(handle_of(ticket->http), slot);
    return give_result(slot, reply, err);
}

static void handle_cancel(struct http_ticket *ticket)
{
    struct curl_handle *handle = handle_of(ticket->http);
    struct slot *slot = (struct slot *)ticket;

    (void)pthread_mutex_lock(&handle->lock);
    slot->is_unwanted = true;
    (void)pthread_mutex_unlock(&handle->lock);
    (void)curl_multi_wakeup(handle->multi);
    wait_for(handle, slot);
    transfer_wipe(&slot->transfer);
}

static bool handle_send(struct http *http, struct arena *arena, const struct http_request *request,
                        struct http_response *reply, struct error *err)
{
    struct curl_handle *handle = handle_of(http);
    struct slot *slot = take_slot(handle, arena, request, err);

    if (slot == NULL)
        return false;
    if (handle->under_way > 0) {
        queue(handle, slot);
        wait_for(handle, slot);
        return give_result(slot, reply, err);
    }
    begin(handle, &slot->transfer);
    while (!slot->transfer.is_settled) {
        drive(handle, &slot, 1);
        tell_watch(&slot->transfer);
    }
    return give_result(slot, reply, err);
}

/* ---- streams: driven by the caller's thread, between its reads not at all ---- */

/* One round: returns with new bytes, at the end, or after a wait. */
static void drive_stream(struct curl_handle *handle, struct slot *slot)
{
    struct transfer *transfer = &slot->transfer;
    const int64_t before = transfer->stream.received;
    int64_t wait_us;
    int active;

    (void)curl_multi_perform(handle->multi, &active);
    take_results(handle);
    tell_watch(transfer);
    if (transfer->is_settled || transfer->stream.received > before)
        return;
    wait_us = mind_deadlines(handle, &slot, 1) - transfer_clock_us();
    if (wait_us > 0)
        (void)curl_multi_poll(handle->multi, NULL, 0, (int)((wait_us + 999) / 1000), NULL);
}

static void close_stream(struct curl_handle *handle, struct slot *slot)
{
    struct transfer *transfer = &slot->transfer;

    if (!transfer->is_settled)
        (void)curl_multi_remove_handle(handle->multi, transfer->easy);
    transfer_stop_stream(transfer);
    transfer_wipe(transfer);
    handle->has_stream = false;
}

static bool begin_stream(struct curl_handle *handle, struct slot *slot, struct http_response *reply,
                         struct error *err)
{
    struct transfer *transfer = &slot->transfer;

    begin(handle, transfer);
    while (!transfer->is_settled && !transfer->stream.is_flowing)
        drive_stream(handle, slot);
    if (transfer->stream.is_flowing) /* its end, or failure, is for the reads to find */
        return transfer_head(transfer, transfer_clock_us(), reply, err);
    *reply = transfer->reply;
    if (!transfer->ok)
        *err = transfer->err;
    return transfer->ok;
}

static bool handle_open(struct http *http, struct arena *arena, const struct http_request *request,
                        struct http_stream **stream, struct http_response *reply, struct error *err)
{
    struct curl_handle *handle = handle_of(http);
    struct slot *slot;
    bool ok;

    if (handle->under_way > 0)
        return error_set(err, ERROR_REQUEST, "http.limit",
                         "a stream needs a handle without other requests");
    slot = take_slot(handle, arena, request, err);
    if (slot == NULL)
        return false;
    handle->has_stream = true;
    slot->stream = (struct http_stream){ .http = http };
    ok = transfer_start_stream(&slot->transfer, err) && begin_stream(handle, slot, reply, err);
    if (ok && reply->status / 100 == 2)
        *stream = &slot->stream;
    else
        close_stream(handle, slot);
    return ok;
}

static struct slot *slot_of(struct http_stream *stream)
{
    return (struct slot *)((char *)stream - offsetof(struct slot, stream));
}

static bool handle_read(struct http_stream *stream, struct http_room room, size_t *len,
                        struct error *err)
{
    struct curl_handle *handle = handle_of(stream->http);
    struct slot *slot = slot_of(stream);
    bool is_end = false, ok = true;

    slot->transfer.has_moved = true; /* the silence until now was ours */
    while (ok && *len == 0 && !is_end) {
        ok = transfer_take(&slot->transfer, room, len, &is_end, err);
        if (ok && *len == 0 && !is_end)
            drive_stream(handle, slot);
    }
    stream->is_packed = slot->transfer.stream.gunzip.is_packed;
    stream->wire_bytes = slot->transfer.stream.received;
    return ok;
}

static void handle_end(struct http_stream *stream)
{
    close_stream(handle_of(stream->http), slot_of(stream));
}

static void handle_interrupt(struct http *http)
{
    struct curl_handle *handle = handle_of(http);

    atomic_store(&handle->is_interrupted, true);
    (void)curl_multi_wakeup(handle->multi);
}

static void handle_close(struct http *http)
{
    struct curl_handle *handle = handle_of(http);

    if (handle->has_thread) {
        (void)pthread_mutex_lock(&handle->lock);
        handle->is_closing = true;
        (void)pthread_cond_signal(&handle->queued);
        (void)pthread_mutex_unlock(&handle->lock);
        (void)curl_multi_wakeup(handle->multi);
        (void)pthread_join(handle->thread, NULL);
    }
    for (size_t i = 0; i < HTTP_TICKETS_MAX; i++)
        transfer_close(&handle->slots[i].transfer);
    (void)curl_multi_cleanup(handle->multi);
    (void)pthread_mutex_destroy(&handle->lock);
    (void)pthread_cond_destroy(&handle->queued);
    (void)pthread_cond_destroy(&handle->done);
    free(handle);
    curl_global_cleanup(); /* libcurl counts these: the last one cleans up */
}

static void init_handle(struct curl_handle *handle, const struct curl_http_options *options)
{
    static const struct http_ops ops = { .send = handle_send,
                                         .start = handle_start,
                                         .wait = handle_wait,
                                         .cancel = handle_cancel,
                                         .open = handle_open,
                                         .read = handle_read,
                                         .end = handle_end,
                                         .interrupt = handle_interrupt,
                                         .close = handle_close };
    const struct str agent = options != NULL ? options->user_agent : STR("");

    handle->http.ops = &ops;
    (void)snprintf(handle->user_agent, sizeof(handle->user_agent), "%.*s",
                   STR_ARG(agent.len > 0 ? agent : STR("patra/" PATRA_VERSION)));
    (void)pthread_mutex_init(&handle->lock, NULL);
    (void)pthread_cond_init(&handle->queued, NULL);
    (void)pthread_cond_init(&handle->done, NULL);
    (void)curl_multi_setopt(handle->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_KEPT);
}

bool curl_handle_open(const struct curl_http_options *options, struct http **http,
                      struct error *err)
{
    struct curl_handle *handle;

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return error_set(err, ERROR_FATAL, "http.module", "libcurl does not start");
    handle = calloc(1, sizeof(*handle));
    if (handle != NULL)
        handle->multi = curl_multi_init();
    if (handle == NULL || handle->multi == NULL) {
        free(handle);
        curl_global_cleanup();
        return error_set(err, ERROR_TRANSIENT, "http.resource", "no memory for an HTTP handle");
    }
    init_handle(handle, options);
    *http = &handle->http;
    return true;
}
