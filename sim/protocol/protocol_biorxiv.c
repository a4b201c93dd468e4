/* bioRxiv and medRxiv: /biorxiv/details/SERVER/FROM/UNTIL/CURSOR.
 *
 * The cursor is an offset of records; the server alone decides how many a page has. The total says
 * some records more than there are, so a walk ends at a page that is not "ok" but "no posts found",
 * with status 200.
 */
#include "base/instant.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/util/api_date.h"

enum { PAGE_RECORDS = 30, TOTAL_TOO_MANY = 4 };

#define JSON STR("application/json")

static bool fail(struct http_call *call, struct str status, struct error *err)
{
    struct buf *out = page_begin(call, JSON);

    call->confirmable = true;
    buf_printf(out, "{\"messages\":[{\"status\":\"%.*s\"}],\"collection\":[]}", STR_ARG(status));
    return buf_ok(out, err);
}

struct request {
    const struct body_form *form;
    struct str from;
    struct str until;
    struct view_query query;
    size_t offset;
};

static bool list(struct sim_world *world, struct http_call *call, const struct request *request,
                 struct error *err)
{
    struct world_page page;
    struct buf *out;
    size_t total;

    if (!world_page(
            page_at(world, call), &request->query,
            (struct world_part){ page_skip(call, request->offset, PAGE_RECORDS), PAGE_RECORDS },
            &page, err))
        return false;
    if (page.count == 0)
        return fail(call, STR("no posts found"), err);
    call->confirmable = request->offset + page.count >= page.total;
    total = page_total(call, page.total + page.total % TOTAL_TOO_MANY);
    out = page_begin(call, JSON);
    page_reserve(call, page.count * 4000 + 1024);
    buf_printf(out,
               "{\"messages\":[{\"status\":\"ok\",\"category\":\"all\",\"interval\":"
               "\"%.*s:%.*s\",\"funder\":\"all\",\"cursor\":%zu,\"count\":%zu,"
               "\"count_new_papers\":\"%zu\",\"total\":\"%zu\"}],\"collection\":[",
               STR_ARG(request->from), STR_ARG(request->until), request->offset, page.count,
               page.total, total);
    page_add_records(world, call, request->form, &page, STR(","));
    buf_add(out, STR("]}"));
    return buf_ok(out, err);
}

/* Days, both included. */
static bool take_days(struct request *request)
{
    struct view_range *range = &request->query.ranges[ORDER_CREATED];
    struct api_date from, until;

    if (!api_date_parse(request->from, &from) || from.unit != API_DATE_DAY ||
        !api_date_parse(request->until, &until) || until.unit != API_DATE_DAY)
        return false;
    range->from_us = from.from_us;
    range->to_us = until.to_us;
    return true;
}

bool protocol_biorxiv(struct sim_world *world, struct http_call *call, struct error *err)
{
    struct str rest = str_slice(call->path, STR("/biorxiv").len, call->path.len);
    struct request request = { .query = view_query_all(ORDER_CREATED, VIEW_LIVE) };
    struct str server, offset;
    int64_t number;

    if (!str_starts(rest, STR("/details/"))) {
        call_respond(call, 404, STR("text/html"), STR("<html><body>Not found</body></html>"));
        return buf_ok(&call->response, err);
    }
    rest = str_slice(rest, STR("/details/").len, rest.len);
    server = str_cut(&rest, '/');
    if (call->content_fault == CONTENT_FAULT_BODY_ERROR)
        return fail(call, STR("Error: the database is not available"), err);
    if (!str_eq(server, STR("biorxiv")) && !str_eq(server, STR("medrxiv")))
        return fail(call, STR("Error: unknown server"), err);
    request.form = body_form_find(server);
    request.from = str_cut(&rest, '/');
    request.until = str_cut(&rest, '/');
    offset = str_cut(&rest, '/');
    if (!take_days(&request) || !str_to_i64(offset, &number) || number < 0)
        return fail(call, STR("Error: the interval or the cursor is not valid"), err);
    request.offset = (size_t)number;
    return list(world, call, &request, err);
}
