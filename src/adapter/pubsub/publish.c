/* Messages to requests, and answers to receipts.
 *
 *      chain   the messages of one ordering key, in order       one request under way
 *      round   start what may start, wait, take what has ended  until nothing is left
 *
 * With `order: key` a chain is one message, because a call has each key once. With `order: lane` it
 * is a lane, in requests of as many messages as Google takes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/pubsub/pubsub.h"
#include "base/instant.h"

/* Requests under way at a time, over one connection: Google's servers take 100 streams. */
enum { CALLS_MAX = 100 };

struct chain {
    size_t *places; /* of its messages in the call */
    size_t count;
    size_t next;        /* the first that has no outcome */
    size_t under_way;   /* messages of the request that is */
    bool is_one_by_one; /* a request with several was refused: which of them? */
    bool is_stopped;
    bool has_new_token;   /* its request was sent again with another token */
    int64_t token_number; /* of the request under way */
    struct rpc_call call;
};

struct run {
    struct pubsub *pubsub;
    struct arena *arena;
    const struct bus_publish *publish;
    struct bus_receipt *receipts;
    Wire__PubsubMessage **messages; /* NULL: refused */
    struct chain *chains;
    size_t chain_count;
    struct rpc_until until;
    bool has_failed;
    struct error *err; /* of the call: the worst of its requests */
};

/* ---- chains ---- */

static void set_outcome(const struct run *run, size_t place, enum bus_outcome outcome,
                        const char *reason)
{
    run->receipts[place].outcome = outcome;
    run->receipts[place].reason = arena_copy(run->arena, str_of(reason));
}

/* Messages as Google wants them. Those that it would refuse are not sent. */
static bool make_messages(struct run *run, struct error *err)
{
    const enum bus_order order = run->pubsub->parts.spec->order;
    const int64_t bytes_max = run->pubsub->parts.spec->message_bytes_max;
    const char *refusal;

    for (size_t i = 0; i < run->publish->count; i++) {
        const struct bus_message *message = &run->publish->messages[i];

        if (!pubsub_message_make(run->arena, message, order, &run->messages[i], &refusal, err))
            return false;
        if (refusal == NULL && bytes_max > 0 && message->body.len > (size_t)bytes_max)
            refusal = "the message is larger than message_max";
        if (refusal == NULL)
            continue;
        set_outcome(run, i, BUS_REFUSED, refusal);
        run->messages[i] = NULL;
    }
    return true;
}

static struct str key_at(const struct run *run, size_t place)
{
    return pubsub_str(run->messages[place]->ordering_key);
}

static int by_key_and_place(const void *a, const void *b, void *context)
{
    const struct run *run = context;
    const size_t one = *(const size_t *)a, other = *(const size_t *)b;
    const int order = str_cmp(key_at(run, one), key_at(run, other));

    return order != 0 ? order : one < other ? -1 : one > other;
}

static bool make_chains(struct run *run, struct error *err)
{
    const size_t count = run->publish->count;
    size_t *places = ARENA_ARRAY(run->arena, size_t, count + 1);
    size_t used = 0;

    run->chains = ARENA_ARRAY(run->arena, struct chain, count + 1);
    if (places == NULL || run->chains == NULL)
        return arena_error(run->arena, err);
    for (size_t i = 0; i < count; i++) {
        if (run->messages[i] != NULL)
            places[used++] = i;
    }
    qsort_r(places, used, sizeof(*places), by_key_and_place, run);
    for (size_t i = 0; i < used; i++) {
        if (i == 0 || !str_eq(key_at(run, places[i - 1]), key_at(run, places[i])))
            run->chains[run->chain_count++] = (struct chain){ .places = &places[i] };
        run->chains[run->chain_count - 1].count++;
    }
    return true;
}

/* ---- requests ---- */

/* As many as one request takes. */
static size_t next_size(const struct run *run, const struct chain *chain)
{
    size_t bytes = run->pubsub->topic.len + 64;
    size_t count = 0;

    while (chain->next + count < chain->count && count < PUBSUB_REQUEST_MESSAGES_MAX) {
        bytes += wire__pubsub_message__get_packed_size(
                     run->messages[chain->places[chain->next + count]]) +
                 16; /* tag and length */
        if (count > 0 && (bytes > PUBSUB_REQUEST_BYTES_MAX || chain->is_one_by_one))
            break;
        count++;
    }
    return count;
}

static bool start(struct run *run, struct chain *chain, struct error *err)
{
    Wire__PublishRequest request = WIRE__PUBLISH_REQUEST__INIT;
    const size_t count = next_size(run, chain);
    Wire__PubsubMessage **messages = ARENA_ARRAY(run->arena, Wire__PubsubMessage *, count);
    struct str token;

    if (messages == NULL)
        return arena_error(run->arena, err);
    if (!pubsub_ready(run->pubsub, run->until, &token, err))
        return false;
    for (size_t i = 0; i < count; i++)
        messages[i] = run->messages[chain->places[chain->next + i]];
    request.topic = pubsub_bytes(run->pubsub->topic);
    request.n_messages = count;
    request.messages = messages;
    rpc_call_start(&run->pubsub->rpc, &chain->call,
                   &(struct rpc_request){ .method = PUBSUB_PUBLISH,
                                          .body = pubsub_pack(&request.base),
                                          .token = token,
                                          .timeout_us = run->until.at_us - rpc_now_us() });
    chain->token_number = run->pubsub->token.number;
    chain->under_way = count;
    return true;
}

/* ---- answers ---- */

static void note_error(struct run *run, const struct error *err)
{
    if (!run->has_failed || err->level > run->err->level)
        *run->err = *err;
    run->has_failed = true;
}

static void acknowledge(struct run *run, struct chain *chain)
{
    const grpc_slice bytes = rpc_bytes(chain->call.got);
    const struct str text = rpc_slice_str(&bytes);
    Wire__PublishResponse *response =
        wire__publish_response__unpack(NULL, text.len, (const uint8_t *)text.data);
    const bool is_whole = response != NULL && response->n_message_ids == chain->under_way;
    struct error err;

    for (size_t i = 0; i < chain->under_way; i++) {
        const size_t place = chain->places[chain->next + i];

        if (is_whole) {
            run->receipts[place].outcome = BUS_ACKED;
            run->receipts[place].ack_id =
                arena_copy(run->arena, pubsub_str(response->message_ids[i]));
        } else {
            set_outcome(run, place, BUS_RETRY, "the answer has not an id for each message");
        }
    }
    if (!is_whole) {
        (void)error_set(&err, ERROR_TRANSIENT, "bus.lost",
                        "publish: the answer has not an id for each message");
        note_error(run, &err);
        chain->is_stopped = true;
    }
    if (response != NULL)
        wire__publish_response__free_unpacked(response, NULL);
    grpc_slice_unref(bytes);
    chain->next += chain->under_way;
}

/* A request that is refused for one message alone is sent again in pieces. */
static void refuse(struct run *run, struct chain *chain)
{
    struct error err;

    if (chain->under_way > 1) {
        chain->is_one_by_one = true;
        return;
    }
    (void)pubsub_fail(run->pubsub, &chain->call, "publish", &err);
    set_outcome(run, chain->places[chain->next], BUS_REFUSED, err.text);
    chain->next++; /* what follows is of other records: the relay has the last word on it */
}

static void fail(struct run *run, struct chain *chain)
{
    struct error err;

    (void)pubsub_fail(run->pubsub, &chain->call, "publish", &err);
    if (err.level == ERROR_REQUEST) {
        err.level = ERROR_FATAL;
        err.code = "bus.spec";
    }
    for (size_t i = 0; i < chain->under_way; i++)
        set_outcome(run, chain->places[chain->next + i], BUS_RETRY, err.text);
    note_error(run, &err);
    chain->is_stopped = true;
}

static bool is_refused_token(const struct run *run, const struct chain *chain)
{
    return run->pubsub->token.source != TOKEN_NONE && !chain->has_new_token &&
           chain->call.status == GRPC_STATUS_UNAUTHENTICATED;
}

static void take(struct run *run, struct chain *chain)
{
    const grpc_status_code status = chain->call.status;

    if (status == GRPC_STATUS_OK) {
        acknowledge(run, chain);
    } else if (is_refused_token(run, chain)) {
        token_drop(&run->pubsub->token, chain->token_number);
        chain->has_new_token = true;
    } else if (status == GRPC_STATUS_INVALID_ARGUMENT || status == GRPC_STATUS_OUT_OF_RANGE) {
        refuse(run, chain);
    } else {
        fail(run, chain);
    }
    rpc_call_end(&run->pubsub->rpc, &chain->call);
    chain->under_way = 0;
}

/* The time is over, or the process must stop. The requests may have succeeded. */
static void give_up(struct run *run)
{
    struct error err;

    for (size_t i = 0; i < run->chain_count; i++) {
        struct chain *chain = &run->chains[i];

        if (chain->under_way == 0)
            continue;
        for (size_t j = 0; j < chain->under_way; j++)
            set_outcome(run, chain->places[chain->next + j], BUS_RETRY, "no answer in time");
        rpc_call_end(&run->pubsub->rpc, &chain->call);
        chain->under_way = 0;
    }
    (void)error_set(&err, ERROR_TRANSIENT, "bus.timeout", "publish: no answer in time");
    note_error(run, &err);
}

/* ---- the call ---- */

static bool has_more(const struct chain *chain)
{
    return !chain->is_stopped && chain->next < chain->count;
}

/* Starts what may start. Returns how many requests are under way. After the first error nothing
 * more is started: the bus as a whole is in trouble. */
static size_t start_some(struct run *run)
{
    struct error err;
    size_t under_way = 0;

    for (size_t i = 0; i < run->chain_count; i++)
        under_way += run->chains[i].under_way > 0;
    for (size_t i = 0; i < run->chain_count && under_way < CALLS_MAX && !run->has_failed; i++) {
        if (run->chains[i].under_way > 0 || !has_more(&run->chains[i]))
            continue;
        if (start(run, &run->chains[i], &err)) {
            under_way++;
            continue;
        }
        note_error(run, &err);
    }
    return under_way;
}

static void take_some(struct run *run)
{
    for (size_t i = 0; i < run->chain_count; i++) {
        if (run->chains[i].under_way > 0 && rpc_op_is_done(&run->chains[i].call.op))
            take(run, &run->chains[i]);
    }
}

bool pubsub_publish(struct bus *bus, struct arena *arena, const struct bus_publish *publish,
                    struct bus_receipt *receipts, struct error *err)
{
    struct run run = {
        .pubsub = (struct pubsub *)bus,
        .arena = arena,
        .publish = publish,
        .receipts = receipts,
        .messages = ARENA_ARRAY(arena, Wire__PubsubMessage *, publish->count + 1),
        .until = rpc_until(publish->timeout_us, publish->wake_fd),
        .err = err,
    };

    if (run.messages == NULL)
        return arena_error(arena, err);
    if (!make_messages(&run, err) || !make_chains(&run, err))
        return false;
    while (start_some(&run) > 0) {
        if (rpc_is_over(run.until)) {
            take_some(&run); /* what has just come counts */
            give_up(&run);
            break;
        }
        rpc_wait(&run.pubsub->rpc, run.until);
        take_some(&run);
    }
    return !run.has_failed;
}
