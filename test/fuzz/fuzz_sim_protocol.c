/* Requests of any kind to all protocols and to the truth: every one gets a response. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/protocol/protocol.h"
#include "sim/truth/truth.h"
#include "sim/util/encode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sim_world *small_world(void)
{
    static struct sim_world *world; /* opened once: a fuzz target has no setup */
    struct world_options options;
    struct error err;

    if (world == NULL) {
        world_options_init(&options);
        options.records = 60;
        options.deleted_ppm = 100000;
        options.merged_ppm = 100000;
        world = body_world_open(&options, &err);
        if (world == NULL)
            abort();
    }
    return world;
}

/* The first byte is the content fault, the second the day; then the URL, a newline, and the body.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_world *world = small_world();
    struct str url = { (const char *)data + 2, size < 2 ? 0 : size - 2 };
    struct http_call call = { .scheme = STR("http"),
                              .host = STR("h"),
                              .other_base = STR("http://o") };
    const struct protocol *protocol;
    struct error err = { 0 };
    struct arena arena;

    if (size < 3)
        return 0;
    arena_init(&arena, 64 << 20);
    call.arena = &arena;
    call.content_fault = (enum content_fault)(data[0] % (CONTENT_FAULT_MISSING_DETAILS + 1));
    call.random = data[1];
    call.now_us = world_options_of(world)->from_us + data[1] * INT64_C(86400000000);
    call.body = url;
    url = str_cut(&call.body, '\n');
    call.raw_path = str_cut(&url, '?');
    call.query = url;
    buf_init(&call.response, &arena, 32 << 20);
    if (decode_percent(&arena, call.raw_path, false, &call.path, &err) &&
        call_add_params(&call, url, &err)) {
        protocol = protocol_find(call.path);
        if (protocol != NULL && (!protocol->respond(world, &call, &err) || call.status < 200 ||
                                 call.content_type.len == 0))
            abort();
        if (protocol == NULL && !truth_respond(world, &call, &err))
            abort();
    }
    arena_release(&arena);
    return 0;
}
