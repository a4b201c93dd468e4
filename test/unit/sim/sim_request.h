/* sim_request: a request to a protocol without a server, for tests. */
#ifndef PATRA_TEST_SIM_REQUEST_H
#define PATRA_TEST_SIM_REQUEST_H

#include <string.h>

#include "sim/http/call.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/util/encode.h"
#include "sim/world/ids.h"
#include "sim/world/world.h"
#include "test.h"

enum { SIM_REQUEST_BYTES_MAX = 512 << 20 };

struct sim_request {
    struct arena arena;
    struct http_call call;
    struct str body;
};

static inline struct sim_world *sim_request_world(const struct world_options *options)
{
    struct error err = { 0 };
    struct sim_world *world = body_world_open(options, &err);

    REQUIRE(world != NULL, err.text);
    return world;
}

static inline void sim_request_begin(struct sim_request *request, int64_t now_us,
                                     const char *method, struct str url)
{
    struct http_call *call = &request->call;
    struct error err = { 0 };
    struct str rest;

    memset(request, 0, sizeof(*request));
    arena_init(&request->arena, SIM_REQUEST_BYTES_MAX);
    call->arena = &request->arena;
    buf_init(&call->response, &request->arena, SIM_REQUEST_BYTES_MAX);
    call->method = str_of(method);
    call->scheme = STR("http");
    call->host = STR("127.0.0.1:8080");
    call->other_base = STR("http://localhost:8080");
    call->now_us = now_us;
    rest = arena_copy(&request->arena, url);
    call->raw_path = str_cut(&rest, '?');
    call->query = rest;
    REQUIRE_OK(decode_percent(&request->arena, call->raw_path, false, &call->path, &err), err);
    REQUIRE_OK(call_add_params(call, rest, &err), err);
}

static inline void sim_request_send(struct sim_request *request, struct sim_world *world)
{
    const struct protocol *protocol = protocol_find(request->call.path);
    struct error err = { 0 };

    REQUIRE(protocol != NULL, "a protocol owns the path");
    REQUIRE_OK(protocol->respond(world, &request->call, &err), err);
    request->body = call_body(&request->call);
}

/* GET; ends with sim_request_end. */
static inline void sim_request_get(struct sim_request *request, struct sim_world *world,
                                   int64_t now_us, struct str url)
{
    sim_request_begin(request, now_us, "GET", url);
    sim_request_send(request, world);
}

static inline void sim_request_end(struct sim_request *request)
{
    arena_release(&request->arena);
}

/* The text between the first `before` and the next `after`; empty when there is none. */
static inline struct str sim_request_between(struct str body, struct str before, struct str after)
{
    const size_t at = str_find(body, before);
    struct str rest;

    if (at == body.len)
        return STR("");
    rest = str_slice(body, at + before.len, body.len);
    return str_slice(rest, 0, str_find(rest, after));
}

/* ---- the expected records, found by looking at every version ---- */

enum { SIM_REQUEST_WANTED = 1, SIM_REQUEST_SEEN = 2 };

struct sim_request_window {
    enum view_mode mode;
    enum view_order order; /* the date that must be in [from, to) */
    int64_t from_us;
    int64_t to_us;
    int64_t now_us;
};

static inline size_t sim_request_expect(const struct sim_world *world,
                                        struct sim_request_window window, uint8_t *wanted)
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
static inline size_t sim_request_tick(const struct sim_world *world, struct str body,
                                      enum id_scheme scheme, struct str before, struct str after,
                                      uint8_t *wanted)
{
    const uint32_t records = world_corpus(world)->count;
    size_t count = 0;

    for (size_t at = str_find(body, before); at < body.len; at = str_find(body, before)) {
        uint32_t record;
        struct str id;
        char plain[128];
        size_t len = 0;

        body = str_slice(body, at + before.len, body.len);
        id = str_slice(body, 0, str_find(body, after));
        for (size_t i = 0; i < id.len && len < sizeof(plain); i++) {
            if (id.data[i] != '\\') /* Crossref's escaped slash */
                plain[len++] = id.data[i];
        }
        REQUIRE(id_parse(scheme, (struct str){ plain, len }, records, &record), "an id");
        CHECK_EQ(wanted[record], SIM_REQUEST_WANTED, "wanted, and not seen before");
        wanted[record] = SIM_REQUEST_SEEN;
        count++;
    }
    return count;
}

/* A copy of a token, percent-encoded, for the next URL. */
static inline struct str sim_request_escaped(struct arena *arena, struct str text)
{
    struct buf out;

    buf_init(&out, arena, 1 << 16);
    encode_percent(&out, text);
    return buf_str(&out);
}

static inline size_t sim_request_count(struct str body, struct str mark)
{
    size_t count = 0;

    for (size_t at = str_find(body, mark); at < body.len; at = str_find(body, mark)) {
        body = str_slice(body, at + mark.len, body.len);
        count++;
    }
    return count;
}

#endif
