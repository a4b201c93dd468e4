/* Europe PMC: /europepmc/webservices/rest/search and searchPOST.
 *
 * cursorMark is Solr's: stateless, replayable. The walk ends with an empty list whose
 * nextCursorMark is the mark that was sent; a search without hits has none. Errors are errCode in a
 * response of status 200.
 */
#include <inttypes.h>

#include "base/instant.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/util/api_date.h"
#include "sim/util/encode.h"
#include "sim/util/text_out.h"

enum { SIZE_PRESET = 25, SIZE_MAX_ = 1000 };

#define JSON STR("application/json;charset=UTF-8")
#define XML STR("application/xml;charset=UTF-8")

struct request {
    struct view_query query;
    struct str text;
    struct str mark;
    struct str result_type;
    struct str sort;
    size_t size;
    bool json;
    const struct body_form *form;
};

static bool fail(struct http_call *call, bool json, int code, const char *message,
                 struct error *err)
{
    if (json) {
        call_respond(call, 200, JSON, STR(""));
        buf_printf(&call->response, "{\"errCode\":%d,\"errMsg\":\"%s\"}", code, message);
    } else {
        call_respond(call, 200, XML, STR(""));
        buf_printf(&call->response,
                   "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?><errorBean>"
                   "<errCode>%d</errCode><errMsg>%s</errMsg></errorBean>",
                   code, message);
    }
    return buf_ok(&call->response, err);
}

/* ---- the query: FIELD:[2026-01-01 TO 2026-01-02], FIELD:2026-01-01; other words match all ---- */

static const struct {
    struct str name;
    enum view_order order;
} fields[] = {
    { STR_INIT("UPDATE_DATE:"), ORDER_UPDATED },
    { STR_INIT("CREATION_DATE:"), ORDER_CREATED },
    { STR_INIT("FIRST_IDATE:"), ORDER_CREATED },
    { STR_INIT("FIRST_PDATE:"), ORDER_PUBLISHED },
};

static bool take_bound(struct str text, bool from, struct view_range *range)
{
    struct api_date date;

    text = str_trim(text);
    if (str_eq(text, STR("*")))
        return true;
    if (!api_date_parse(text, &date) || date.unit > API_DATE_DAY)
        return false;
    if (from)
        range->from_us = date.from_us;
    else
        range->to_us = date.to_us;
    return true;
}

static bool take_range(struct str rest, struct view_range *range)
{
    size_t to;

    if (str_starts(rest, STR("["))) {
        rest = str_slice(rest, 1, str_find_char(rest, ']'));
        to = str_find(rest, STR(" TO "));
        return to < rest.len && take_bound(str_slice(rest, 0, to), true, range) &&
               take_bound(str_slice(rest, to + 4, rest.len), false, range);
    }
    rest = str_slice(rest, 0, str_find_char(rest, ' '));
    rest = str_slice(rest, 0, str_find_char(rest, ')'));
    return take_bound(rest, true, range) && take_bound(rest, false, range);
}

static bool take_query(struct str text, struct view_query *query)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const size_t at = str_find(text, fields[i].name);

        if (at == text.len)
            continue;
        if (!take_range(str_slice(text, at + fields[i].name.len, text.len),
                        &query->ranges[fields[i].order]))
            return false;
        query->order = fields[i].order;
    }
    return true;
}

/* ---- marks: 02 82 08, the key, "(", the record; in base64 "AoII..." ---- */

#define MARK STR("\x02\x82\x08")

static struct str mark_of(struct http_call *call, int64_t key_us, uint32_t record)
{
    struct buf mark, plain;

    buf_init(&plain, call->arena, 128);
    buf_init(&mark, call->arena, 256);
    buf_add(&plain, MARK);
    buf_printf(&plain, "%" PRId64 "(%u", key_us, record);
    encode_base64(&mark, buf_str(&plain), BASE64);
    return buf_str(&mark);
}

static bool read_mark(const struct http_call *call, struct str mark, struct view_query *query)
{
    struct str plain, key;
    int64_t record;

    if (!decode_base64(call->arena, mark, &plain) || !str_starts(plain, MARK))
        return false;
    plain = str_slice(plain, MARK.len, plain.len);
    key = str_cut(&plain, '(');
    if (!str_to_i64(key, &query->after_us) || !str_to_i64(plain, &record) || record < 0 ||
        record > UINT32_MAX)
        return false;
    query->has_after = true;
    query->after_record = (uint32_t)record;
    return true;
}

/* ---- the response ---- */

static struct str next_mark(struct sim_world *world, struct http_call *call,
                            const struct request *request, const struct world_page *page)
{
    struct hit last;

    if (page->total == 0)
        return STR("");
    if (page->count == 0 || call->content_fault == CONTENT_FAULT_REPEAT_TOKEN)
        return request->mark; /* the mark that was sent */
    last = page->hits[page->count - 1];
    return mark_of(call, view_key_of(world_corpus(world), request->query.order, last.version),
                   last.record);
}

/* Its blanks are not encoded, as in the real API: clients cannot use it as it is. */
static void add_next_url(struct http_call *call, struct buf *out, const struct request *request,
                         struct str mark)
{
    const char *amp = request->json ? "&" : "&amp;";

    page_add_base_url(call, out);
    buf_add(out, STR("/europepmc/webservices/rest/search?query="));
    if (request->json)
        text_add_json(out, request->text, JSON_PLAIN);
    else
        text_add_xml(out, request->text, false);
    buf_printf(out, "%scursorMark=%.*s%sresultType=%.*s%spageSize=%zu%sformat=%s", amp,
               STR_ARG(mark), amp, STR_ARG(request->result_type), amp, request->size, amp,
               request->json ? "json" : "xml");
}

/* "*" is returned as %2A. */
static struct str echoed_mark(const struct request *request)
{
    return str_eq(request->mark, STR("*")) ? STR("%2A") : request->mark;
}

static void add_json(struct sim_world *world, struct http_call *call, const struct request *request,
                     const struct world_page *page)
{
    struct buf *out = page_begin(call, JSON);
    const struct str next = next_mark(world, call, request, page);

    buf_printf(out, "{\"version\":\"6.9\",\"hitCount\":%zu,", page_total(call, page->total));
    if (next.len > 0) {
        buf_printf(out, "\"nextCursorMark\":\"%.*s\",\"nextPageUrl\":\"", STR_ARG(next));
        add_next_url(call, out, request, next);
        buf_add(out, STR("\","));
    }
    buf_add(out, STR("\"request\":{\"queryString\":\""));
    text_add_json(out, request->text, JSON_PLAIN);
    buf_printf(out,
               "\",\"resultType\":\"%.*s\",\"cursorMark\":\"%.*s\",\"pageSize\":%zu,\"sort\":\"",
               STR_ARG(request->result_type), STR_ARG(echoed_mark(request)), request->size);
    text_add_json(out, request->sort, JSON_PLAIN);
    buf_add(out, STR("\",\"synonym\":false},\"resultList\":{\"result\":["));
    page_add_records(world, call, request->form, page, STR(","));
    buf_add(out, STR("]}}"));
}

static void add_xml(struct sim_world *world, struct http_call *call, const struct request *request,
                    const struct world_page *page)
{
    struct buf *out = page_begin(call, XML);
    const struct str next = next_mark(world, call, request, page);

    buf_printf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?><responseWrapper "
               "xmlns:slx=\"http://www.scholix.org\" xmlns:epmc=\"https://www.europepmc.org/data\">"
               "<version>6.9</version><hitCount>%zu</hitCount>",
               page_total(call, page->total));
    if (next.len > 0) {
        buf_printf(out, "<nextCursorMark>%.*s</nextCursorMark><nextPageUrl>", STR_ARG(next));
        add_next_url(call, out, request, next);
        buf_add(out, STR("</nextPageUrl>"));
    }
    buf_add(out, STR("<request><queryString>"));
    text_add_xml(out, request->text, false);
    buf_printf(out,
               "</queryString><resultType>%.*s</resultType><cursorMark>%.*s</cursorMark><pageSize>"
               "%zu</pageSize><sort>",
               STR_ARG(request->result_type), STR_ARG(echoed_mark(request)), request->size);
    text_add_xml(out, request->sort, false);
    buf_add(out, STR("</sort><synonym>false</synonym></request><resultList>"));
    page_add_records(world, call, request->form, page, STR(""));
    buf_add(out, STR("</resultList></responseWrapper>"));
}

static bool list(struct sim_world *world, struct http_call *call, struct request *request,
                 struct error *err)
{
    struct view_query whole = request->query;
    struct world_page page;
    size_t position = 0;

    if (request->query.has_after)
        position = world_position(page_at(world, call), &request->query);
    whole.has_after = false;
    if (!world_page(page_at(world, call), &whole,
                    (struct world_part){ page_skip(call, position, request->size), request->size },
                    &page, err))
        return false;
    call->confirmable = position + page.count >= page.total;
    page_reserve(call, page.count * 5000 + 4096);
    if (request->json)
        add_json(world, call, request, &page);
    else
        add_xml(world, call, request, &page);
    return buf_ok(&call->response, err);
}

/* ---- parameters ---- */

static bool wants_json(const struct http_call *call)
{
    const struct str format = call_param(call, STR("format"));
    const struct str accept = call_header(call, STR("Accept"));

    if (format.len > 0)
        return str_eq_nocase(format, STR("json"));
    return str_find(accept, STR("application/json")) < accept.len;
}

static const struct body_form *form_of(const struct request *request)
{
    static const struct {
        struct str result_type;
        struct str json;
        struct str xml;
    } forms[] = {
        { STR_INIT("core"), STR_INIT("europepmc"), STR_INIT("europepmc-xml") },
        { STR_INIT("lite"), STR_INIT("europepmc-lite"), STR_INIT("europepmc-lite-xml") },
        { STR_INIT("idlist"), STR_INIT("europepmc-idlist"), STR_INIT("europepmc-idlist-xml") },
    };

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (str_eq_nocase(forms[i].result_type, request->result_type))
            return body_form_find(request->json ? forms[i].json : forms[i].xml);
    }
    return NULL;
}

static bool is_known_sort(struct str sort)
{
    static const struct str names[] = { STR_INIT("P_PDATE_D"),   STR_INIT("FIRST_IDATE_D"),
                                        STR_INIT("UPDATE_DATE"), STR_INIT("CITED"),
                                        STR_INIT("AUTH_FIRST"),  STR_INIT("RELEVANCE") };
    struct str rest = sort;
    const struct str name = str_cut(&rest, ' ');

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq(names[i], name))
            return true;
    }
    return sort.len == 0;
}

static bool search(struct sim_world *world, struct http_call *call, struct error *err)
{
    struct request request = {
        .query = view_query_all(ORDER_UPDATED, VIEW_LIVE),
        .text = call_param(call, STR("query")),
        .mark = call_param(call, STR("cursorMark")),
        .result_type = call_param(call, STR("resultType")),
        .sort = call_param(call, STR("sort")),
        .size = SIZE_PRESET,
        .json = wants_json(call),
    };

    if (request.mark.len == 0)
        request.mark = STR("*");
    if (request.result_type.len == 0)
        request.result_type = STR("lite");
    request.form = form_of(&request);
    if (call->content_fault == CONTENT_FAULT_BODY_ERROR)
        return fail(call, request.json, 500, "Unexpected error. Please try again later.", err);
    if (request.form == NULL)
        return fail(call, request.json, 404, "Invalid result type provided", err);
    if (!page_param_number(call, STR("pageSize"), &request.size) || request.size == 0 ||
        request.size > SIZE_MAX_)
        return fail(call, request.json, 404,
                    "Invalid page size provided. Valid size is between 1 and 1000", err);
    if (!is_known_sort(request.sort)) {
        call_respond(call, 503, STR("text/plain"), STR("Service Unavailable"));
        return buf_ok(&call->response, err);
    }
    if (request.text.len == 0 || !take_query(request.text, &request.query))
        return fail(call, request.json, 404, "Query not valid", err);
    if (!str_eq(request.mark, STR("*")) && (call->content_fault == CONTENT_FAULT_EXPIRED_TOKEN ||
                                            !read_mark(call, request.mark, &request.query)))
        return fail(call, request.json, 404, "Invalid cursorMark provided", err);
    return list(world, call, &request, err);
}

bool protocol_europepmc(struct sim_world *world, struct http_call *call, struct error *err)
{
    const struct str prefix = STR("/europepmc/webservices/rest");
    const struct str path = str_slice(call->path, prefix.len, call->path.len);

    if (str_starts(call->path, prefix) &&
        (str_eq(path, STR("/search")) || str_eq(path, STR("/searchPOST"))))
        return search(world, call, err);
    call_respond(call, 404, STR("text/html"), STR("<html><body>Not found</body></html>"));
    return buf_ok(&call->response, err);
}
