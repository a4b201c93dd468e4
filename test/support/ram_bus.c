/* The bus in RAM: what arrives is kept, what fails is drawn by chance. */
#include "ram_bus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "random.h"

struct ram_bus {
    struct random random;
    struct clock *clock;
    struct ram_bus_faults faults;
    bool is_down;
    int64_t down_until_us;
    int64_t calls;
    bool has_fence;
    const char *refused;
    int64_t refused_version;
    void (*on_publish)(void *context);
    void *context;
    struct ram_arrival *items;
    size_t count, room;
    struct {
        int64_t epoch;
        int64_t last; /* what its last message is called */
    } lanes[OUTBOX_LANES];
    int64_t last; /* of all */
    const char *complaint;
};

struct handle {
    struct bus bus; /* first */
    struct ram_bus *server;
};

static struct ram_bus *server_of(struct bus *bus)
{
    return ((struct handle *)bus)->server;
}

static bool happens(struct ram_bus *s, int permille)
{
    return permille > 0 && random_between(&s->random, 0, 1000) < permille;
}

static bool is_down(struct ram_bus *s)
{
    return s->is_down || (s->clock != NULL && clock_now_us(s->clock) < s->down_until_us);
}

static void handle_close(struct bus *bus)
{
    free(bus);
}

static bool handle_check(struct bus *bus, int64_t timeout_us, struct error *err)
{
    (void)timeout_us;
    return !is_down(server_of(bus)) ||
           error_set(err, ERROR_TRANSIENT, "bus.lost", "the bus is down");
}

/* ---- publishing ---- */

static void add(struct ram_bus *s, const struct bus_message *m, int64_t epoch)
{
    struct ram_arrival *a;

    if (s->count == s->room) {
        s->room = s->room == 0 ? 1024 : 2 * s->room;
        s->items = realloc(s->items, s->room * sizeof(s->items[0]));
        if (s->items == NULL)
            abort();
    }
    a = &s->items[s->count++];
    *a = (struct ram_arrival){ .version = m->version, .lane = m->lane, .epoch = epoch };
    (void)snprintf(a->event_id, sizeof(a->event_id), "%.*s", STR_ARG(m->event_id));
    (void)snprintf(a->key, sizeof(a->key), "%.*s", STR_ARG(m->key));
}

static void check_call(struct ram_bus *s, const struct bus_publish *call)
{
    for (size_t i = 0; i < call->count; i++) {
        bool has_fence = false;

        for (size_t k = 0; k < i && call->count <= 64; k++) {
            if (str_eq(call->messages[i].key, call->messages[k].key))
                s->complaint = "a key twice in a call";
        }
        for (size_t k = 0; k < call->fence_count; k++)
            has_fence |= call->fences[k].lane == call->messages[i].lane;
        if (!has_fence)
            s->complaint = "a lane without a fence";
        if (call->messages[i].event_id.len != 36 || call->messages[i].body.len == 0)
            s->complaint = "a message without its id or body";
    }
}

static const struct bus_fence *fence_of(const struct bus_publish *call, int64_t lane)
{
    for (size_t i = 0; i < call->fence_count; i++) {
        if (call->fences[i].lane == lane)
            return &call->fences[i];
    }
    abort();
}

/* A lane is its owner's who has the highest epoch, if it knows the lane's last message or says that
 * it does not. */
static bool may_publish(const struct ram_bus *s, const struct bus_fence *fence)
{
    char last[24];

    (void)snprintf(last, sizeof(last), "%" PRId64, s->lanes[fence->lane].last);
    return fence->lease_epoch >= s->lanes[fence->lane].epoch &&
           (fence->ack_id.len == 0 || str_eq(fence->ack_id, str_of(last)));
}

static bool lanes_are_own(struct ram_bus *s, const struct bus_publish *call,
                          struct bus_receipt *receipts, struct error *err)
{
    for (size_t i = 0; i < call->fence_count && s->has_fence; i++) {
        if (may_publish(s, &call->fences[i])) {
            s->lanes[call->fences[i].lane].epoch = call->fences[i].lease_epoch;
            continue;
        }
        for (size_t k = 0; k < call->count; k++)
            receipts[k] = (struct bus_receipt){ BUS_RETRY, STR(""), STR("overtaken") };
        return error_set(err, ERROR_TRANSIENT, "bus.fenced", "lane %" PRId64 " is another's",
                         call->fences[i].lane);
    }
    return true;
}

static bool is_refused(const struct ram_bus *s, const struct bus_message *m)
{
    char key[RAM_BUS_KEY_MAX];

    (void)snprintf(key, sizeof(key), "%.*s", STR_ARG(m->key));
    return s->refused != NULL && strstr(key, s->refused) != NULL &&
           m->version >= s->refused_version;
}

static void publish_one(struct ram_bus *s, struct arena *arena, const struct bus_publish *call,
                        size_t i, struct bus_receipt *receipt)
{
    const struct bus_message *m = &call->messages[i];
    const struct bus_fence *fence = fence_of(call, m->lane);

    if (is_refused(s, m)) {
        *receipt = (struct bus_receipt){ BUS_REFUSED, STR(""), STR("not this one") };
        return;
    }
    if (happens(s, s->faults.retry)) {
        *receipt = (struct bus_receipt){ BUS_RETRY, STR(""), STR("not now") };
        return;
    }
    for (int n = happens(s, s->faults.duplicate) ? 2 : 1; n > 0; n--)
        add(s, m, fence->lease_epoch);
    s->lanes[m->lane].last = ++s->last;
    *receipt = (struct bus_receipt){ BUS_ACKED, arena_printf(arena, "%" PRId64, s->last), STR("") };
}

/* Whatever was acknowledged, nobody hears of it. */
static bool unknown(const struct bus_publish *call, struct bus_receipt *receipts, const char *code,
                    struct error *err)
{
    for (size_t i = 0; i < call->count; i++)
        receipts[i] = (struct bus_receipt){ BUS_RETRY, STR(""), STR("no answer") };
    return error_set(err, ERROR_TRANSIENT, code, "no answer that makes sense");
}

static bool handle_publish(struct bus *bus, struct arena *arena, const struct bus_publish *call,
                           struct bus_receipt *receipts, struct error *err)
{
    struct ram_bus *s = server_of(bus);
    size_t most = call->count;

    check_call(s, call);
    s->calls++;
    if (is_down(s))
        return error_set(err, ERROR_TRANSIENT, "bus.lost", "the bus is down");
    if (s->on_publish != NULL)
        s->on_publish(s->context);
    if (happens(s, s->faults.stall) && s->clock != NULL) {
        (void)clock_sleep_us(s->clock, call->timeout_us, CLOCK_NO_WAKE);
        return error_set(err, ERROR_TRANSIENT, "bus.timeout", "no answer in time");
    }
    if (!lanes_are_own(s, call, receipts, err))
        return false;
    if (happens(s, s->faults.fail))
        most = (size_t)random_between(&s->random, 0, (int64_t)call->count);
    for (size_t i = 0; i < most; i++)
        publish_one(s, arena, call, i, &receipts[i]);
    if (most < call->count)
        return error_set(err, ERROR_TRANSIENT, "bus.lost", "the connection was reset");
    if (happens(s, s->faults.drop_ack))
        return unknown(call, receipts, "bus.timeout", err);
    if (happens(s, s->faults.garbage))
        return unknown(call, receipts, "bus.answer", err);
    return true;
}

static const struct bus_ops OPS = { .close = handle_close,
                                    .check = handle_check,
                                    .publish = handle_publish };

/* ---- from the outside ---- */

struct ram_bus *ram_bus_new(uint64_t seed, struct clock *clock)
{
    struct ram_bus *s = calloc(1, sizeof(*s));

    if (s == NULL)
        abort();
    s->random = (struct random){ seed };
    s->clock = clock;
    return s;
}

void ram_bus_free(struct ram_bus *s)
{
    if (s == NULL)
        return;
    free(s->items);
    free(s);
}

struct bus *ram_bus_connect(struct ram_bus *server)
{
    struct handle *handle = calloc(1, sizeof(*handle));

    if (handle == NULL)
        abort();
    handle->bus = (struct bus){ &OPS, BUS_ORDER | (server->has_fence ? BUS_FENCE : 0U) };
    handle->server = server;
    return &handle->bus;
}

void ram_bus_set_faults(struct ram_bus *s, const struct ram_bus_faults *faults)
{
    s->faults = *faults;
}

void ram_bus_set_down(struct ram_bus *s, bool is_down)
{
    s->is_down = is_down;
}

void ram_bus_set_down_until(struct ram_bus *s, int64_t at_us)
{
    s->down_until_us = at_us;
}

int64_t ram_bus_calls(const struct ram_bus *s)
{
    return s->calls;
}

void ram_bus_set_fenced(struct ram_bus *s, bool has_fence)
{
    s->has_fence = has_fence;
}

void ram_bus_refuse(struct ram_bus *s, const char *part, int64_t version)
{
    s->refused = part;
    s->refused_version = version;
}

void ram_bus_on_publish(struct ram_bus *s, void (*call)(void *context), void *context)
{
    s->on_publish = call;
    s->context = context;
}

size_t ram_bus_count(const struct ram_bus *s)
{
    return s->count;
}

const struct ram_arrival *ram_bus_arrivals(const struct ram_bus *s)
{
    return s->items;
}

void ram_bus_clear(struct ram_bus *s)
{
    s->count = 0;
}

const char *ram_bus_complaint(const struct ram_bus *s)
{
    return s->complaint;
}
