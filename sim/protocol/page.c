/* What the protocols share; nothing here is specific to one API. */
#include "sim/protocol/page.h"

#include <string.h>

struct world_at page_at(struct sim_world *world, const struct http_call *call)
{
    return (struct world_at){ .world = world, .arena = call->arena, .now_us = call->now_us };
}

struct buf *page_begin(struct http_call *call, struct str content_type)
{
    call->status = 200;
    call->content_type = content_type;
    return &call->response;
}

void page_reserve(struct http_call *call, size_t bytes)
{
    struct buf *response = &call->response;
    char *data;

    if (bytes <= response->capacity || bytes > response->limit)
        return;
    data = arena_grow(response->arena, response->data, response->capacity, bytes);
    if (data == NULL)
        return; /* the appends will report it */
    response->data = data;
    response->capacity = bytes;
}

bool page_param_number(const struct http_call *call, struct str name, size_t *value)
{
    int64_t number;

    if (!call_has_param(call, name))
        return true;
    if (!str_to_i64(call_param(call, name), &number) || number < 0)
        return false;
    *value = (size_t)number;
    return true;
}

size_t page_skip(const struct http_call *call, size_t skip, size_t size)
{
    switch (call->content_fault) {
    case CONTENT_FAULT_REPEAT_PAGE:
        return skip > size ? skip - size : 0;
    case CONTENT_FAULT_SHIFT_PAGE:
        return skip > 0 ? skip - 1 : 1;
    default:
        return skip;
    }
}

size_t page_total(const struct http_call *call, size_t total)
{
    return call->content_fault == CONTENT_FAULT_MOVING_TOTAL ? total + 1 + call->random % 97
                                                             : total;
}

size_t page_count(const struct http_call *call, size_t count)
{
    return call->content_fault == CONTENT_FAULT_EMPTY_PAGE ? 0 : count;
}

enum body_flaw page_flaw(const struct http_call *call, size_t i, size_t count)
{
    if (count == 0 || i != call->random % count)
        return FLAW_NONE;
    switch (call->content_fault) {
    case CONTENT_FAULT_RECORD_NO_ID:
        return FLAW_NO_ID;
    case CONTENT_FAULT_RECORD_NO_DATE:
        return FLAW_NO_DATE;
    case CONTENT_FAULT_RECORD_BAD_DATE:
        return FLAW_BAD_DATE;
    default:
        return FLAW_NONE;
    }
}

bool page_omits_id(const struct http_call *call, size_t i)
{
    return call->content_fault == CONTENT_FAULT_MISSING_DETAILS && (i + call->random) % 3 == 0;
}

uint32_t page_find(const struct sim_world *world, const struct http_call *call,
                   enum id_scheme scheme, struct str id)
{
    const struct corpus *corpus = world_corpus(world);
    uint32_t record, version = CORPUS_NONE;

    if (id_parse(scheme, id, corpus->count, &record))
        version = corpus_current(corpus, record, call->now_us);
    if (version != CORPUS_NONE &&
        (corpus->flags[version] & (VERSION_DELETED | VERSION_MERGED)) != 0)
        return CORPUS_NONE;
    return version;
}

void page_add_base_url(struct http_call *call, struct buf *out)
{
    if (call->content_fault == CONTENT_FAULT_NEXT_ELSEWHERE) {
        buf_add(out, call->other_base);
        return;
    }
    buf_add(out, call->scheme);
    buf_add(out, STR("://"));
    buf_add(out, call->host);
}

void page_add_records(struct sim_world *world, struct http_call *call, const struct body_form *form,
                      const struct world_page *page, struct str between)
{
    const size_t count = page_count(call, page->count);

    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add(&call->response, between);
        body_write(form, world, &call->response, page->hits[i].version, page_flaw(call, i, count));
    }
}
