/* ClinicalTrials.gov, version 2: /clinicaltrials/api/v2/studies and /studies/NCT...
 *
 * nextPageToken is absent on the last page. Now and then a page is empty and still has a token.
 * totalCount is on the first page only, and only when countTotal=true asks for it. Errors are plain
 * text.
 */
#include "base/instant.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/protocol/token.h"
#include "sim/util/api_date.h"

enum { SIZE_PRESET = 10, SIZE_MAX_ = 1000, PAGES_TO_A_HOLE = 4 };

#define JSON STR("application/json")
#define TEXT STR("text/plain; charset=utf-8")

/* The token's mark: its page is empty, and the one after it has the records. */
enum { HOLE = 1 };

struct request {
    struct view_query query;
    struct str token; /* empty: the first page */
    size_t size;
    bool counts;
    int mark;
};

static bool fail(struct http_call *call, int status, struct str text, struct error *err)
{
    call_respond(call, status, TEXT, text);
    return buf_ok(&call->response, err);
}

/* ---- filter.advanced=AREA[LastUpdatePostDate]RANGE[2026-01-01,2026-01-02] ---- */

static bool take_bound(struct str text, bool from, struct view_range *range)
{
    struct api_date date;

    if (str_eq(text, from ? STR("MIN") : STR("MAX")))
        return true;
    if (!api_date_parse(text, &date) || date.unit > API_DATE_DAY)
        return false;
    if (from)
        range->from_us = date.from_us;
    else
        range->to_us = date.to_us; /* inclusive */
    return true;
}

static bool take_filter(struct str filter, struct view_range *range)
{
    const struct str area = STR("AREA[LastUpdatePostDate]RANGE[");
    const size_t at = str_find(filter, area);
    struct str rest, from;

    if (filter.len == 0)
        return true;
    if (at == filter.len)
        return false;
    rest = str_slice(filter, at + area.len, filter.len);
    rest = str_slice(rest, 0, str_find_char(rest, ']'));
    from = str_cut(&rest, ',');
    return take_bound(str_trim(from), true, range) && take_bound(str_trim(rest), false, range);
}

/* ---- the list ---- */

static void add_token(struct sim_world *world, struct http_call *call,
                      const struct request *request, const struct world_page *page, size_t position)
{
    const bool is_hole = request->mark == HOLE;
    struct str token;

    if (!is_hole && position + page->count >= page->total)
        return;
    if (call->content_fault == CONTENT_FAULT_REPEAT_TOKEN && request->token.len > 0)
        token = request->token;
    else
        token = token_make(world, call, request->query.order, page->hits[page->count - 1],
                           !is_hole &&
                               position / request->size % PAGES_TO_A_HOLE == PAGES_TO_A_HOLE - 2);
    buf_printf(&call->response, ",\"nextPageToken\":\"%.*s\"", STR_ARG(token));
}

/* The records of the page, and the page itself where it is a hole: the last record before it. */
static bool find_page(struct sim_world *world, struct http_call *call,
                      const struct request *request, size_t position, struct world_page *page,
                      struct error *err)
{
    const bool is_hole = request->mark == HOLE && position > 0;
    struct view_query whole = request->query;

    whole.has_after = false;
    return world_page(
        page_at(world, call), &whole,
        is_hole ? (struct world_part){ position - 1, 1 }
                : (struct world_part){ page_skip(call, position, request->size), request->size },
        page, err);
}

static bool list(struct sim_world *world, struct http_call *call, const struct request *request,
                 struct error *err)
{
    struct buf *out = page_begin(call, JSON);
    struct world_page page;
    size_t position = 0;

    if (request->query.has_after)
        position = world_position(page_at(world, call), &request->query);
    if (!find_page(world, call, request, position, &page, err))
        return false;
    call->confirmable = request->mark == HOLE || position + page.count >= page.total;
    page_reserve(call, page.count * 4000 + 1024);
    buf_add_char(out, '{');
    if (request->counts && request->token.len == 0)
        buf_printf(out, "\"totalCount\":%zu,", page_total(call, page.total));
    buf_add(out, STR("\"studies\":["));
    if (request->mark != HOLE)
        page_add_records(world, call, body_form_find(STR("clinicaltrials")), &page, STR(","));
    buf_add_char(out, ']');
    if (page.count > 0)
        add_token(world, call, request, &page, position);
    buf_add_char(out, '}');
    return buf_ok(out, err);
}

static bool studies(struct sim_world *world, struct http_call *call, struct error *err)
{
    struct request request = { .query = view_query_all(ORDER_UPDATED, VIEW_LIVE),
                               .token = call_param(call, STR("pageToken")),
                               .size = SIZE_PRESET,
                               .counts = str_eq(call_param(call, STR("countTotal")), STR("true")) };

    if (!page_param_number(call, STR("pageSize"), &request.size))
        return fail(call, 400, STR("Parameter `pageSize` has incorrect format"), err);
    if (request.size > SIZE_MAX_)
        request.size = SIZE_MAX_;
    if (request.size == 0)
        request.size = SIZE_PRESET;
    if (!take_filter(call_param(call, STR("filter.advanced")),
                     &request.query.ranges[ORDER_UPDATED]))
        return fail(call, 400, STR("Parameter `filter.advanced` has incorrect format"), err);
    if (request.token.len > 0 &&
        !token_read(world, call, request.token, &request.query, &request.mark))
        return fail(call, 400, STR("Parameter `pageToken` has incorrect value"), err);
    return list(world, call, &request, err);
}

static bool single(struct sim_world *world, struct http_call *call, struct str id,
                   struct error *err)
{
    const uint32_t version = page_find(world, call, ID_CLINICALTRIALS, id);

    if (version == CORPUS_NONE)
        return fail(call, 404, STR("NCT number not found"), err);
    body_write(body_form_find(STR("clinicaltrials")), world, page_begin(call, JSON), version,
               page_flaw(call, 0, 1));
    return buf_ok(&call->response, err);
}

bool protocol_clinicaltrials(struct sim_world *world, struct http_call *call, struct error *err)
{
    const struct str path =
        str_slice(call->path, STR("/clinicaltrials/api/v2").len, call->path.len);

    if (call->content_fault == CONTENT_FAULT_BODY_ERROR) {
        call_respond(call, 200, STR("text/html"), STR("<html><body>Be back soon</body></html>"));
        return buf_ok(&call->response, err);
    }
    if (str_starts(path, STR("/studies/")))
        return single(world, call, str_slice(path, STR("/studies/").len, path.len), err);
    if (!str_eq(path, STR("/studies")))
        return fail(call, 404, STR("Not found"), err);
    return studies(world, call, err);
}
