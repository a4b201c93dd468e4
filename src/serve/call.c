/* What routes use of a call. */
#include "serve/call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data/url.h"
#include "engine/session/store_time.h"
#include "port/store_rate.h"

const struct param_value *call_value(const struct call *call, const char *name)
{
    size_t i = 0;

    while (i < PARAMS_MAX && call->route->params[i].name != NULL &&
           strcmp(call->route->params[i].name, name) != 0)
        i++;
    assert(i < PARAMS_MAX);
    assert(call->route->params[i].name != NULL);
    return &call->values[i];
}

bool call_has(const struct call *call, const char *name)
{
    return call_value(call, name)->is_given;
}

struct str call_text(const struct call *call, const char *name)
{
    return call_value(call, name)->text;
}

int64_t call_number(const struct call *call, const char *name)
{
    return call_value(call, name)->number;
}

bool call_flag(const struct call *call, const char *name)
{
    return call_value(call, name)->number != 0;
}

/* ---- the next page ---- */

void call_next(struct call *call, const char *name, struct str place)
{
    const size_t link_max = 4 * TARGET_BYTES_MAX;
    struct error full;
    struct buf link;

    buf_init(&link, call->reader.arena, link_max);
    buf_add_char(&link, '<');
    buf_add(&link, call->target.path);
    buf_add_char(&link, '?');
    for (size_t i = 0; i < call->target.pair_count; i++) {
        const struct target_pair *pair = &call->target.pairs[i];

        if (str_eq(pair->name, str_of(name)))
            continue;
        url_encode(&link, pair->name, URL_QUERY);
        buf_add_char(&link, '=');
        url_encode(&link, pair->value, URL_QUERY);
        buf_add_char(&link, '&');
    }
    buf_printf(&link, "%s=", name);
    url_encode(&link, place, URL_QUERY);
    buf_add(&link, STR(">; rel=\"next\""));
    if (buf_ok(&link, &full))
        web_header_add(call->response, STR("Link"), buf_str(&link));
}

void call_next_row(struct call *call, const char *name, int64_t row)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%" PRId64, row);
    call_next(call, name, str_of(text));
}

bool call_clock(struct call *call, int64_t *now_us, struct error *err)
{
    return store_clock(call->reader.store, call->reader.now_us, now_us, err);
}

bool call_time(struct call *call, int64_t *now_us, struct error *err)
{
    struct store_time time;

    if (!store_time_in_force(call->reader.store, call->reader.clock, &time, err))
        return false;
    *now_us = time.now_us;
    return true;
}

struct str call_who(const struct call *call)
{
    return call->access.who;
}
