/* DOAJ: /doaj/api/search/articles/QUERY and /doaj/api/articles/ID.
 *
 * Pages have at most 100 records, silently, and one that begins at record 1,000 or later is
 * refused. The query is part of the path; wildcards are refused.
 */
#include "base/instant.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/util/api_date.h"
#include "sim/util/encode.h"
#include "sim/util/text_out.h"

enum { SIZE_PRESET = 10, SIZE_MAX_ = 100, HITS_MAX = 1000 };

#define JSON STR("application/json")

struct request {
    struct view_query query;
    struct str text;
    size_t number; /* of the page, from 1 */
    size_t size;
};

static bool fail(struct http_call *call, int status, const char *name, const char *text,
                 struct error *err)
{
    call_respond(call, status, JSON, STR(""));
    buf_printf(&call->response, "{\"status\":\"%s\",\"error\":\"%s\"}", name, text);
    return buf_ok(&call->response, err);
}

/* ---- the query: FIELD:[2026-01-01T00:00:00Z TO 2026-01-02]; other words match all ---- */

static const struct {
    struct str name;
    enum view_order order;
} fields[] = {
    { STR_INIT("last_updated:["), ORDER_UPDATED },
    { STR_INIT("created_date:["), ORDER_CREATED },
};

static bool take_range(struct str rest, struct view_range *range)
{
    struct api_date from, to;
    size_t middle;

    rest = str_slice(rest, 0, str_find_char(rest, ']'));
    middle = str_find(rest, STR(" TO "));
    if (middle == rest.len || !api_date_parse(str_slice(rest, 0, middle), &from) ||
        !api_date_parse(str_slice(rest, middle + 4, rest.len), &to))
        return false;
    range->from_us = from.from_us;
    range->to_us = to.to_us; /* inclusive */
    return true;
}

static bool take_query(struct request *request)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const size_t at = str_find(request->text, fields[i].name);

        if (at == request->text.len)
            continue;
        if (!take_range(str_slice(request->text, at + fields[i].name.len, request->text.len),
                        &request->query.ranges[fields[i].order]))
            return false;
        request->query.order = fields[i].order;
    }
    return str_find_char(request->text, '*') == request->text.len;
}

/* ---- the response ---- */

static void add_link(struct http_call *call, const struct request *request, const char *name,
                     size_t number)
{
    struct buf *out = &call->response;

    buf_printf(out, ",\"%s\":\"", name);
    page_add_base_url(call, out);
    buf_add(out, STR("/doaj/api/search/articles/"));
    encode_percent(out, request->text);
    buf_printf(out, "?page=%zu&pageSize=%zu\"", number, request->size);
}

static bool list(struct sim_world *world, struct http_call *call, const struct request *request,
                 struct error *err)
{
    const size_t skip = (request->number - 1) * request->size;
    struct buf *out = page_begin(call, JSON);
    struct world_page page;

    if (!world_page(page_at(world, call), &request->query,
                    (struct world_part){ page_skip(call, skip, request->size), request->size },
                    &page, err))
        return false;
    call->confirmable = skip + page.count >= page.total;
    page_reserve(call, page.count * 4000 + 1024);
    buf_printf(out, "{\"total\":%zu,\"page\":%zu,\"pageSize\":%zu,\"timestamp\":\"",
               page_total(call, page.total), request->number, request->size);
    api_date_add_micros(out, call->now_us);
    buf_add(out, STR("Z\",\"query\":\""));
    text_add_json(out, request->text, JSON_PLAIN);
    buf_add(out, STR("\",\"results\":["));
    page_add_records(world, call, body_form_find(STR("doaj")), &page, STR(","));
    buf_add_char(out, ']');
    if (skip + page.count < page.total) {
        add_link(call, request, "next", request->number + 1);
        add_link(call, request, "last", (page.total + request->size - 1) / request->size);
    }
    buf_add_char(out, '}');
    return buf_ok(out, err);
}

static bool search(struct sim_world *world, struct http_call *call, struct str text,
                   struct error *err)
{
    struct request request = { .query = view_query_all(ORDER_UPDATED, VIEW_LIVE),
                               .text = text,
                               .number = 1,
                               .size = SIZE_PRESET };

    if (!page_param_number(call, STR("page"), &request.number) || request.number == 0 ||
        !page_param_number(call, STR("pageSize"), &request.size) || request.size == 0)
        return fail(call, 400, "bad_request", "Page number or size was not a whole number", err);
    if (request.size > SIZE_MAX_)
        request.size = SIZE_MAX_;
    if (request.number > HITS_MAX || (request.number - 1) * request.size >= HITS_MAX)
        return fail(call, 400, "bad_request",
                    "You cannot access results beyond 1000 records via this API.", err);
    if (!take_query(&request))
        return fail(call, 400, "bad_request", "Query contains disallowed Lucene features", err);
    return list(world, call, &request, err);
}

static bool single(struct sim_world *world, struct http_call *call, struct str id,
                   struct error *err)
{
    const uint32_t version = page_find(world, call, ID_DOAJ, id);

    if (version == CORPUS_NONE)
        return fail(call, 404, "not_found", "No such article", err);
    body_write(body_form_find(STR("doaj")), world, page_begin(call, JSON), version,
               page_flaw(call, 0, 1));
    return buf_ok(&call->response, err);
}

bool protocol_doaj(struct sim_world *world, struct http_call *call, struct error *err)
{
    const struct str search_path = STR("/doaj/api/search/articles/");
    const struct str single_path = STR("/doaj/api/articles/");

    if (call->content_fault == CONTENT_FAULT_BODY_ERROR)
        return fail(call, 200, "error", "An error occurred while processing your query", err);
    if (str_starts(call->path, search_path))
        return search(world, call, str_slice(call->path, search_path.len, call->path.len), err);
    if (str_starts(call->path, single_path))
        return single(world, call, str_slice(call->path, single_path.len, call->path.len), err);
    return fail(call, 404, "not_found", "Not found", err);
}
