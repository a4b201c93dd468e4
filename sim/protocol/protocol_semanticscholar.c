/* Semantic Scholar: /semanticscholar/graph/v1/paper/search/bulk and, by POST, /paper/batch.
 *
 * A bulk search has 1,000 papers a page, whatever is asked for, and ends with a token that is null.
 * It is filtered by the date of publication only; where just the year is known, that is its first
 * day. The batch is an array in the order of the ids, with null for an unknown one.
 */
#include "base/instant.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/protocol/token.h"
#include "sim/util/api_date.h"
#include "sim/util/text_out.h"

enum { PAGE_RECORDS = 1000, PAGE_RECORDS_SMALL = 40, IDS_MAX = 500 };

#define JSON STR("application/json")

static bool fail(struct http_call *call, int status, struct str text, struct error *err)
{
    call_respond(call, status, JSON, STR(""));
    buf_printf(&call->response, "{\"error\":\"%.*s\"}", STR_ARG(text));
    return buf_ok(&call->response, err);
}

/* ---- publicationDateOrYear=2026-01-01:2026-01-02; either side may be empty ---- */

static bool take_dates(struct str text, struct view_range *range)
{
    struct str rest = text;
    const struct str from = str_cut(&rest, ':');
    const struct str until = str_find_char(text, ':') < text.len ? rest : from;
    struct api_date date;

    if (from.len > 0) {
        if (!api_date_parse(from, &date) || date.unit > API_DATE_DAY)
            return false;
        range->from_us = date.from_us;
    }
    if (until.len > 0) {
        if (!api_date_parse(until, &date) || date.unit > API_DATE_DAY)
            return false;
        range->to_us = date.to_us; /* inclusive */
    }
    return true;
}

/* ---- the bulk search ---- */

struct bulk {
    struct view_query query;
    struct str token; /* as sent; empty on the first page */
    size_t size;
};

static bool list(struct sim_world *world, struct http_call *call, const struct bulk *bulk,
                 struct error *err)
{
    struct buf *out = page_begin(call, JSON);
    struct view_query whole = bulk->query;
    struct world_page page;
    size_t position = 0;

    if (bulk->query.has_after)
        position = world_position(page_at(world, call), &bulk->query);
    whole.has_after = false;
    if (!world_page(page_at(world, call), &whole,
                    (struct world_part){ page_skip(call, position, bulk->size), bulk->size }, &page,
                    err))
        return false;
    call->confirmable = position + page.count >= page.total;
    page_reserve(call, page.count * 4000 + 1024);
    buf_printf(out, "{\"total\": %zu, \"token\": ", page_total(call, page.total));
    if (page.count == 0 || position + page.count >= page.total)
        buf_add(out, STR("null"));
    else if (call->content_fault == CONTENT_FAULT_REPEAT_TOKEN && bulk->token.len > 0)
        text_add_json_string(out, bulk->token);
    else
        text_add_json_string(out,
                             token_make(world, call, whole.order, page.hits[page.count - 1], 0));
    buf_add(out, STR(", \"data\": ["));
    page_add_records(world, call, body_form_find(STR("semanticscholar")), &page, STR(", "));
    buf_add(out, STR("]}"));
    return buf_ok(out, err);
}

static bool search(struct sim_world *world, struct http_call *call, bool is_small,
                   struct error *err)
{
    struct bulk bulk = { .query = view_query_all(ORDER_PUBLISHED, VIEW_LIVE),
                         .token = call_param(call, STR("token")),
                         .size = is_small ? PAGE_RECORDS_SMALL : PAGE_RECORDS };
    int mark;

    if (!take_dates(call_param(call, STR("publicationDateOrYear")),
                    &bulk.query.ranges[ORDER_PUBLISHED]))
        return fail(call, 400, STR("Unacceptable query params: [publicationDateOrYear]"), err);
    if (bulk.token.len > 0 && !token_read(world, call, bulk.token, &bulk.query, &mark))
        return fail(call, 400, STR("Invalid token"), err);
    return list(world, call, &bulk, err);
}

/* ---- the batch: {"ids":["...","..."]} ---- */

static bool batch(struct sim_world *world, struct http_call *call, struct error *err)
{
    struct buf *out = page_begin(call, JSON);
    struct str rest = str_slice(call->body, str_find_char(call->body, '['), call->body.len);
    const struct body_form *form = body_form_find(STR("semanticscholar"));
    size_t count = 0;

    buf_add_char(out, '[');
    while (str_find_char(rest, '"') < rest.len) {
        uint32_t version;
        struct str id;

        (void)str_cut(&rest, '"');
        id = str_cut(&rest, '"');
        if (count++ == IDS_MAX)
            return fail(call, 400, STR("Number of ids must not exceed 500"), err);
        if (count > 1)
            buf_add(out, STR(", "));
        version = page_find(world, call, ID_SEMANTICSCHOLAR, id);
        if (version == CORPUS_NONE || page_omits_id(call, count))
            buf_add(out, STR("null"));
        else
            body_write(form, world, out, version, page_flaw(call, count - 1, count));
    }
    if (count == 0)
        return fail(call, 400, STR("No valid paper ids given"), err);
    buf_add_char(out, ']');
    return buf_ok(out, err);
}

bool protocol_semanticscholar(struct sim_world *world, struct http_call *call, struct error *err)
{
    struct str path = str_slice(call->path, STR("/semanticscholar").len, call->path.len);
    const bool is_small = str_starts(path, STR("/small"));

    if (is_small)
        path = str_slice(path, STR("/small").len, path.len);
    if (call->content_fault == CONTENT_FAULT_BODY_ERROR)
        return fail(call, 200, STR("Internal Server Error"), err);
    if (str_eq(path, STR("/graph/v1/paper/search/bulk")))
        return search(world, call, is_small, err);
    if (str_eq(path, STR("/graph/v1/paper/batch")) && str_eq(call->method, STR("POST")))
        return batch(world, call, err);
    return fail(call, 404, STR("Paper not found"), err);
}
