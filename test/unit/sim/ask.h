/* ask: a request to the simulator without a server, for tests. */
#ifndef PATRA_TEST_SIM_ASK_H
#define PATRA_TEST_SIM_ASK_H

#include <string.h>

#include "sim/http/call.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/world/ids.h"
#include "sim/world/world.h"
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

/* ---- what must be there, by looking at each version of each record ---- */

enum { ASK_WANTED = 1, ASK_SEEN = 2 };

struct ask_window {
    enum view_mode mode;
    enum view_order order; /* which date must lie in [from, to) */
    int64_t from_us;
    int64_t to_us;
    int64_t now_us;
};

static inline size_t ask_expect(const struct sim_world *world, struct ask_window window,
                                uint8_t *wanted)
{
    const struct corpus *corpus = world_corpus(world);
    size_t count = 0;

    for (uint32_t record = 0; record < corpus->count; record++) {
        wanted[record] = 0;
        for (uint32_t v = corpus->first[record]; v < corpus->first[record + 1]; v++) {
            const int64_t at_us = view_key_of(corpus, window.order, v);
            const bool merged = (corpus->flags[v] & VERSION_MERGED) != 0;
            const bool deleted = (corpus->flags[v] & VERSION_DELETED) != 0;

            if (corpus->visible_us[v] > window.now_us)
                continue;
            wanted[record] = at_us >= window.from_us && at_us < window.to_us;
            if ((merged && window.mode != VIEW_ALL) || (deleted && window.mode == VIEW_LIVE))
                wanted[record] = 0;
        }
        count += wanted[record];
    }
    return count;
}

/* Ticks off the ids between the two marks: each must be wanted, and not seen before. */
static inline size_t ask_tick(const struct sim_world *world, struct str body, enum id_scheme scheme,
                              struct str before, struct str behind, uint8_t *wanted)
{
    const uint32_t records = world_corpus(world)->count;
    size_t count = 0;

    for (size_t at = str_find(body, before); at < body.len; at = str_find(body, before)) {
        uint32_t record;
        struct str id;
        char plain[128];
        size_t len = 0;

        body = str_slice(body, at + before.len, body.len);
        id = str_slice(body, 0, str_find(body, behind));
        for (size_t i = 0; i < id.len && len < sizeof(plain); i++) {
            if (id.data[i] != '\\') /* Crossref's escaped slash */
                plain[len++] = id.data[i];
        }
        REQUIRE(id_parse(scheme, (struct str){ plain, len }, records, &record), "an id");
        CHECK_EQ(wanted[record], ASK_WANTED, "wanted, and not seen before");
        wanted[record] = ASK_SEEN;
        count++;
    }
    return count;
}

/* A copy of a token, percent-encoded, for the next URL. */
static inline struct str ask_escaped(struct arena *arena, struct str text)
{
    struct buf out;

    buf_init(&out, arena, 1 << 16);
    answer_add_escaped(&out, text);
    return buf_str(&out);
}

static inline size_t ask_count(struct str body, struct str mark)
{
    size_t count = 0;

    for (size_t at = str_find(body, mark); at < body.len; at = str_find(body, mark)) {
        body = str_slice(body, at + mark.len, body.len);
        count++;
    }
    return count;
}

#endif
