/* Requests of any kind to all protocols and to the truth: every one gets an answer. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/protocol/protocol.h"
#include "sim/truth/truth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sim_world *small_world(void)
{
    static struct sim_world *world; /* opened once: a fuzzer has no beginning to do it in */
    struct world_options options;
    struct error err;

    if (world == NULL) {
        world_options_init(&options);
        options.records = 60;
        options.deleted_ppm = 100000;
        options.merged_ppm = 100000;
        world = world_open(&options, &err);
        if (world == NULL)
            abort();
    }
    return world;
}

/* The first byte is the twist, the second the day; then the URL, and behind a newline a body. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_world *world = small_world();
    struct str url = { (const char *)data + 2, size < 2 ? 0 : size - 2 };
    struct exchange exchange = { .scheme = STR("http"),
                                 .host = STR("h"),
                                 .other_base = STR("http://o") };
    const struct protocol *protocol;
    struct error err = { 0 };
    struct arena arena;

    if (size < 3)
        return 0;
    arena_init(&arena, 64 << 20);
    exchange.arena = &arena;
    exchange.twist = (enum exchange_twist)(data[0] % (TWIST_MISSING_DETAILS + 1));
    exchange.roll = data[1];
    exchange.now_us = world_options_of(world)->from_us + data[1] * INT64_C(86400000000);
    exchange.body = url;
    url = str_cut(&exchange.body, '\n');
    exchange.raw_path = str_cut(&url, '?');
    exchange.query = url;
    buf_init(&exchange.reply, &arena, 32 << 20);
    if (exchange_unescape(&arena, exchange.raw_path, false, &exchange.path, &err) &&
        exchange_add_params(&exchange, url, &err)) {
        protocol = protocol_find(exchange.path);
        if (protocol != NULL && (!protocol->answer(world, &exchange, &err) ||
                                 exchange.status < 200 || exchange.content_type.len == 0))
            abort();
        if (protocol == NULL && !truth_answer(world, &exchange, &err))
            abort();
    }
    arena_release(&arena);
    return 0;
}
