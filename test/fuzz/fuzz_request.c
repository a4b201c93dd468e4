/* What a client of the API may send: a target, a token, and a body, each on a line. */
#include <assert.h>
#include <stdint.h>

#include "engine/token/token.h"
#include "serve/access.h"
#include "serve/params.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_values(const struct route *route, const struct param_value *values)
{
    for (size_t i = 0; i < PARAMS_MAX && route->params[i].name != NULL; i++) {
        const struct param *param = &route->params[i];

        if (!values[i].is_given)
            continue;
        if (param->kind == PARAM_NUMBER)
            assert(values[i].number >= param->least && values[i].number <= param->most);
        if (param->kind == PARAM_CODE)
            assert(values[i].number >= 0 && (size_t)values[i].number < param->codes->count);
        if (param->kind == PARAM_TEXT) {
            assert(str_is_utf8(values[i].text));
            assert(str_find_char(values[i].text, '\0') == values[i].text.len);
        }
        assert(values[i].count <= PARAM_ITEMS_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str rest = { (const char *)bytes, size };
    const struct str text = str_cut(&rest, '\n'), token = str_cut(&rest, '\n');
    struct param_value values[PARAMS_MAX];
    struct target target;
    struct arena arena;
    struct error err;

    arena_init(&arena, (size_t)64 << 20);
    assert(token_selector(token).len == 0 || token_selector(token).len == TOKEN_SELECTOR_HEX);
    (void)access_host_is_local(token);
    if (target_parse(&arena, text, &target, &err)) {
        const struct params_input input = { .target = &target,
                                            .body = rest,
                                            .now_us = INT64_C(1767225600000000) };

        assert(target.segment_count <= TARGET_SEGMENTS_MAX);
        for (size_t i = 0; ROUTE_GROUPS[i] != NULL; i++) {
            for (size_t k = 0; k < ROUTE_GROUPS[i]->count; k++) {
                const struct route *route = &ROUTE_GROUPS[i]->routes[k];

                if (route_matches(route, &target) &&
                    params_read(&arena, route, &input, values, &err))
                    check_values(route, values);
            }
        }
    }
    arena_release(&arena);
    return 0;
}
