/* ask: a request to the simulator without a server, for tests. */
#ifndef PATRA_TEST_SIM_ASK_H
#define PATRA_TEST_SIM_ASK_H

#include <string.h>

#include "sim/exchange.h"
#include "sim/protocol.h"
#include "sim/world.h"
#include "test.h"

enum { ASK_BYTES_MAX = 512 << 20 };

struct ask {
    struct arena arena;
    struct exchange exchange;
    struct str body;
};

static inline struct sim_world *ask_world(const struct world_options *options)
{
    struct error err = { 0 };
    struct sim_world *world = world_open(options, &err);

    REQUIRE(world != NULL, err.text);
    return world;
}

static inline void ask_begin(struct ask *ask, int64_t now_us, const char *method, struct str url)
{
    struct exchange *exchange = &ask->exchange;
    struct error err = { 0 };
    struct str rest;

    memset(ask, 0, sizeof(*ask));
    arena_init(&ask->arena, ASK_BYTES_MAX);
    exchange->arena = &ask->arena;
    buf_init(&exchange->reply, &ask->arena, ASK_BYTES_MAX);
    exchange->method = str_of(method);
    exchange->scheme = STR("http");
    exchange->host = STR("127.0.0.1:8080");
    exchange->other_base = STR("http://localhost:8080");
    exchange->now_us = now_us;
    rest = arena_copy(&ask->arena, url);
    exchange->raw_path = str_cut(&rest, '?');
    exchange->query = rest;
    REQUIRE_OK(exchange_unescape(&ask->arena, exchange->raw_path, false, &exchange->path, &err),
               err);
    REQUIRE_OK(exchange_add_params(exchange, rest, &err), err);
}

static inline void ask_send(struct ask *ask, struct sim_world *world)
{
    const struct protocol *protocol = protocol_find(ask->exchange.path);
    struct error err = { 0 };

    REQUIRE(protocol != NULL, "a protocol owns the path");
    REQUIRE_OK(protocol->answer(world, &ask->exchange, &err), err);
    ask->body = exchange_body(&ask->exchange);
}

/* GET; ends with ask_end. */
static inline void ask_get(struct ask *ask, struct sim_world *world, int64_t now_us, struct str url)
{
    ask_begin(ask, now_us, "GET", url);
    ask_send(ask, world);
}

static inline void ask_end(struct ask *ask)
{
    arena_release(&ask->arena);
}

/* What stands between the first `before` and the next `behind`; empty when there is none. */
static inline struct str ask_between(struct str body, struct str before, struct str behind)
{
    const size_t at = str_find(body, before);
    struct str rest;

    if (at == body.len)
        return STR("");
    rest = str_slice(body, at + before.len, body.len);
    return str_slice(rest, 0, str_find(rest, behind));
}

#endif
