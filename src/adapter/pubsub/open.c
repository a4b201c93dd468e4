/* The handle: opened, checked, closed; and calls with one answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/pubsub/pubsub.h"
#include "base/instant.h"

enum { ARENA_BYTES_MAX = 4 << 20, ROOTS_BYTES_MAX = 2 << 20 };

static const char SYSTEM_ROOTS[] = "/etc/ssl/certs/ca-certificates.crt";

/* ---- the channel ---- */

/* gRPC takes the authorities as text. */
static const char *read_roots(struct arena *arena, const char *path, struct error *err)
{
    FILE *file = fopen(path, "re");
    char *text = arena_alloc_raw(arena, ROOTS_BYTES_MAX);
    size_t len = 0;

    if (file != NULL && text != NULL)
        len = fread(text, 1, ROOTS_BYTES_MAX - 1, file);
    if (file != NULL)
        (void)fclose(file);
    if (len > 0 && len < ROOTS_BYTES_MAX - 1) {
        text[len] = '\0';
        return text;
    }
    (void)error_set(err, ERROR_FATAL, "bus.tls", "the file of trusted authorities, %s, %s", path,
                    len > 0 ? "is too large" : "is empty or cannot be read");
    return NULL;
}

static bool open_channel(struct pubsub *pubsub, struct error *err)
{
    const struct str ca = pubsub->parts.spec->tls.ca;
    struct arena scratch;
    const char *roots = NULL;
    bool ok;

    if (pubsub->rpc.queue != NULL)
        return true;
    arena_init(&scratch, (size_t)2 * ROOTS_BYTES_MAX);
    ok = pubsub->is_plain ||
         (roots = read_roots(&scratch, ca.len > 0 ? arena_copy(&scratch, ca).data : SYSTEM_ROOTS,
                             err)) != NULL;
    ok = ok && rpc_open(&pubsub->rpc, &(struct rpc_options){ pubsub->target, roots }, err);
    arena_release(&scratch);
    return ok;
}

bool pubsub_ready(struct pubsub *pubsub, struct rpc_until until, struct str *token,
                  struct error *err)
{
    const int64_t left_us = until.at_us - rpc_now_us();

    *token = (struct str){ 0 };
    return open_channel(pubsub, err) &&
           token_get(&pubsub->token, left_us > US_PER_MS ? left_us : US_PER_MS, token, err);
}

/* ---- calls ---- */

grpc_byte_buffer *pubsub_pack(const ProtobufCMessage *message)
{
    grpc_slice slice = grpc_slice_malloc(protobuf_c_message_get_packed_size(message));
    grpc_byte_buffer *buffer;

    (void)protobuf_c_message_pack(message, GRPC_SLICE_START_PTR(slice));
    buffer = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    return buffer;
}

bool pubsub_fail(const struct pubsub *pubsub, const struct rpc_call *call, const char *doing,
                 struct error *err)
{
    const struct str details = rpc_slice_str(&call->details);
    const struct pubsub_fault fault = pubsub_fault(call->status, details);

    (void)error_set(err, fault.level, fault.code, "%s: %s: %.*s", doing,
                    pubsub_status_name(call->status), STR_ARG(details));
    token_redact(&pubsub->token, err);
    return false;
}

static bool call_once(struct pubsub *pubsub, const struct rpc_request *request,
                      struct rpc_until until, struct rpc_call *call)
{
    rpc_call_start(&pubsub->rpc, call, request);
    while (!rpc_op_is_done(&call->op) && !rpc_is_over(until))
        rpc_wait(&pubsub->rpc, until);
    return rpc_op_is_done(&call->op);
}

static bool is_refused_token(const struct pubsub *pubsub, const struct rpc_call *call)
{
    return pubsub->token.source != TOKEN_NONE && call->status == GRPC_STATUS_UNAUTHENTICATED;
}

bool pubsub_call(struct pubsub *pubsub, const char *method, const ProtobufCMessage *message,
                 struct rpc_until until, grpc_slice *reply, struct error *err)
{
    struct rpc_call call;
    struct str token;
    bool ok = false;

    for (int attempt = 0; attempt < 2; attempt++) {
        if (!pubsub_ready(pubsub, until, &token, err))
            return false;
        ok = call_once(pubsub,
                       &(struct rpc_request){ .method = method,
                                              .body = pubsub_pack(message),
                                              .token = token,
                                              .timeout_us = until.at_us - rpc_now_us() },
                       until, &call);
        if (!ok)
            (void)error_set(err, ERROR_TRANSIENT, "bus.timeout", "%s: no answer", method);
        else if (call.status != GRPC_STATUS_OK)
            ok = pubsub_fail(pubsub, &call, method, err);
        else if (reply != NULL)
            *reply = rpc_bytes(call.got);
        rpc_call_end(&pubsub->rpc, &call);
        if (ok || !is_refused_token(pubsub, &call))
            break;
        token_drop(&pubsub->token, pubsub->token.number);
    }
    return ok;
}

/* ---- check and create ---- */

/* A request without messages: who may publish is told that it is not valid, everybody else that the
 * topic is missing, or not theirs. It needs no more rights than publishing. */
static bool check(struct bus *bus, int64_t timeout_us, struct error *err)
{
    struct pubsub *pubsub = (struct pubsub *)bus;
    Wire__PublishRequest request = WIRE__PUBLISH_REQUEST__INIT;

    request.topic = pubsub_bytes(pubsub->topic);
    return pubsub_call(pubsub, PUBSUB_PUBLISH, &request.base, rpc_until(timeout_us, -1), NULL,
                       err) ||
           strcmp(err->code, "bus.refused") == 0;
}

/* ALREADY_EXISTS is the only refusal that is good. */
static bool make(struct pubsub *pubsub, const char *method, const ProtobufCMessage *message,
                 struct rpc_until until, bool *made, struct error *err)
{
    if (pubsub_call(pubsub, method, message, until, NULL, err)) {
        *made = true;
        return true;
    }
    if (strcmp(err->code, "bus.refused") != 0)
        return false;
    if (str_find(str_of(err->text), STR("ALREADY_EXISTS")) < strlen(err->text))
        return true;
    err->level = ERROR_FATAL;
    err->code = "bus.spec";
    return false;
}

static struct str path_of(struct arena *arena, struct str project, const char *kind, struct str id)
{
    if (str_starts(id, STR("projects/")))
        return arena_copy(arena, id);
    return arena_printf(arena, "projects/%.*s/%s/%.*s", STR_ARG(project), kind, STR_ARG(id));
}

static bool make_subscription(struct pubsub *pubsub, struct rpc_until until, bool *made,
                              struct error *err)
{
    const struct bus_spec *spec = pubsub->parts.spec;
    const struct str name =
        path_of(&pubsub->arena, spec->project, "subscriptions", spec->subscription);
    Wire__Subscription subscription = WIRE__SUBSCRIPTION__INIT;
    Wire__Duration keep = WIRE__DURATION__INIT;

    if (name.data == NULL)
        return arena_error(&pubsub->arena, err);
    keep.seconds = spec->create.keep_us / US_PER_SECOND;
    subscription.name = pubsub_bytes(name);
    subscription.topic = pubsub_bytes(pubsub->topic);
    subscription.enable_message_ordering = true;
    subscription.retain_acked_messages = true; /* so that reading can begin again */
    subscription.message_retention_duration = keep.seconds > 0 ? &keep : NULL;
    subscription.ack_deadline_seconds = pubsub->reader.deadline_s;
    return make(pubsub, PUBSUB_CREATE_SUBSCRIPTION, &subscription.base, until, made, err);
}

static bool create(struct bus *bus, int64_t timeout_us, bool *made, struct error *err)
{
    struct pubsub *pubsub = (struct pubsub *)bus;
    const struct rpc_until until = rpc_until(timeout_us, -1);
    Wire__Topic topic = WIRE__TOPIC__INIT;
    Wire__Duration keep = WIRE__DURATION__INIT;

    keep.seconds = pubsub->parts.spec->create.keep_us / US_PER_SECOND;
    topic.name = pubsub_bytes(pubsub->topic);
    topic.message_retention_duration = keep.seconds > 0 ? &keep : NULL;
    return make(pubsub, PUBSUB_CREATE_TOPIC, &topic.base, until, made, err) &&
           (pubsub->parts.spec->subscription.len == 0 ||
            make_subscription(pubsub, until, made, err));
}

/* ---- open and close ---- */

static void close_bus(struct bus *bus)
{
    struct pubsub *pubsub = (struct pubsub *)bus;

    pubsub_reader_close(pubsub);
    rpc_close(&pubsub->rpc);
    token_close(&pubsub->token);
    arena_release(&pubsub->arena);
    free(pubsub);
}

static const struct bus_ops OPS = {
    .close = close_bus,
    .check = check,
    .create = create,
    .publish = pubsub_publish,
    .subscribe = pubsub_subscribe,
    .poll = pubsub_poll,
    .settle = pubsub_settle,
    .seek = pubsub_seek,
    .lag = pubsub_lag,
};

/* An emulator has no TLS and no credentials, whatever else is configured. */
static bool choose_target(struct pubsub *pubsub, struct error *err)
{
    const struct bus_spec *spec = pubsub->parts.spec;
    struct secret emulator = { 0 };
    const bool is_emulated =
        secret_get(pubsub->parts.secrets, STR("env:PUBSUB_EMULATOR_HOST"), &emulator, err);
    struct str target = STR("pubsub.googleapis.com:443");

    if (!is_emulated && !secret_error_is_missing(err))
        return false;
    if (is_emulated)
        target = secret_str(&emulator);
    else if (spec->address_count > 0)
        target = spec->addresses[0];
    pubsub->is_plain = is_emulated || spec->allow_plain;
    pubsub->token.source = pubsub->is_plain                 ? TOKEN_NONE
                           : spec->auth.credentials.len > 0 ? TOKEN_KEY
                                                            : TOKEN_METADATA;
    pubsub->target = arena_copy(&pubsub->arena, target).data;
    return pubsub->target != NULL || arena_error(&pubsub->arena, err);
}

static int deadline_of(const struct bus_spec *spec)
{
    const int64_t hold_s = (spec->read.hold_us + US_PER_SECOND - 1) / US_PER_SECOND;

    if (hold_s < PUBSUB_DEADLINE_MIN_S)
        return PUBSUB_DEADLINE_MIN_S;
    return hold_s > PUBSUB_DEADLINE_MAX_S ? PUBSUB_DEADLINE_MAX_S : (int)hold_s;
}

static bool prepare(struct pubsub *pubsub, struct error *err)
{
    const struct bus_spec *spec = pubsub->parts.spec;

    pubsub->token.parts = &pubsub->parts;
    pubsub->reader.deadline_s = deadline_of(spec);
    pubsub->topic = path_of(&pubsub->arena, spec->project, "topics", spec->topic);
    if (pubsub->topic.data == NULL)
        return arena_error(&pubsub->arena, err);
    if (spec->project.len == 0 || spec->topic.len == 0)
        return error_set(err, ERROR_FATAL, "bus.spec", "project or topic is missing");
    if (spec->auth.credentials.len > 0 && !secret_is_reference(spec->auth.credentials))
        return error_set(err, ERROR_FATAL, "bus.spec",
                         "the key file is given by reference (file:PATH)");
    return choose_target(pubsub, err);
}

bool pubsub_open(const struct bus_parts *parts, bus_http_opener opener, struct bus **bus,
                 struct error *err)
{
    struct pubsub *pubsub = calloc(1, sizeof(*pubsub));

    *bus = NULL;
    if (pubsub == NULL)
        return error_set(err, ERROR_TRANSIENT, "bus.lost", "no memory for a Pub/Sub client");
    pubsub->bus = (struct bus){
        .ops = &OPS,
        .capabilities = BUS_SEEK_TIME | BUS_EXTEND | BUS_ORDER | BUS_READ | BUS_CREATE,
    };
    pubsub->parts = *parts;
    pubsub->token.opener = opener;
    arena_init(&pubsub->arena, ARENA_BYTES_MAX);
    if (prepare(pubsub, err)) {
        *bus = &pubsub->bus;
        return true;
    }
    close_bus(&pubsub->bus);
    return false;
}
