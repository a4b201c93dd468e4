/* Invented JSON APIs, one for each way of paging:
 *
 *      /generic/offset?offset=&limit=      /generic/next      the next URL is in the body
 *      /generic/page0?page=&size=          /generic/token     token in a POST body (or ?token=)
 *      /generic/page1?page=&size=          /generic/header    token in a response header
 *      /generic/link?page=&size=           /generic/time      ?from= again, from the last date
 *      /generic/records/ID                 /generic/single    everything in one response
 *      /generic/records/ID/parts           the children of a record; ?page=&size= in pages, from 1
 *      /generic/changes, /generic/sync     feeds: protocol_feed.c
 *
 * All take from= and to=, half-open, on updated_at (or field=created), and respond in the order of
 * (date, id). Deleted and merged records stay in the lists as tombstones.
 */
#include <inttypes.h>

#include "base/instant.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/util/api_date.h"
#include "sim/util/encode.h"

enum { SIZE_PRESET = 100, SIZE_MAX_ = 1000, SINGLE_MAX = 100000, PARTS = 3 };

#define JSON STR("application/json")

enum style {
    STYLE_OFFSET,
    STYLE_PAGE0,
    STYLE_PAGE1,
    STYLE_LINK,
    STYLE_NEXT,
    STYLE_TOKEN,
    STYLE_HEADER,
    STYLE_TIME,
    STYLE_SINGLE,
};

struct request {
    enum style style;
    struct view_query query;
    struct str from; /* as sent */
    struct str to;
    struct str field;
    struct str token;
    size_t size;
    size_t skip;   /* where the page should begin */
    size_t number; /* of the page, for those that count pages */
};

static bool fail(struct http_call *call, int status, struct str code, struct str message,
                 struct error *err)
{
    struct buf *out = &call->response;

    call_respond(call, status, JSON, STR("{\"error\":{\"code\":\""));
    buf_add(out, code);
    buf_add(out, STR("\",\"message\":\""));
    buf_add(out, message);
    buf_add(out, STR("\"}}"));
    return buf_ok(out, err);
}

/* ---- parameters: of the query, a form, or a flat JSON body ---- */

/* The value of "name": in a JSON object without nesting, which is all these APIs take. */
static struct str json_field(struct str body, struct str name)
{
    for (size_t i = 0; i + name.len + 2 <= body.len; i++) {
        struct str rest;

        if (body.data[i] != '"' || !str_starts(str_slice(body, i + 1, body.len), name) ||
            body.data[i + 1 + name.len] != '"')
            continue;
        rest = str_trim(str_slice(body, i + name.len + 2, body.len));
        if (!str_starts(rest, STR(":")))
            continue;
        rest = str_trim(str_slice(rest, 1, rest.len));
        if (str_starts(rest, STR("\""))) {
            rest = str_slice(rest, 1, rest.len);
            return str_slice(rest, 0, str_find_char(rest, '"'));
        }
        rest = str_slice(rest, 0, str_find_char(rest, ','));
        return str_trim(str_slice(rest, 0, str_find_char(rest, '}')));
    }
    return STR("");
}

static struct str param(const struct http_call *call, struct str name)
{
    struct str value = call_param(call, name);

    if (value.len == 0 && str_starts(str_trim(call->body), STR("{")))
        value = json_field(call->body, name);
    return str_eq(value, STR("null")) ? STR("") : value;
}

static bool take_number(const struct http_call *call, struct str name, size_t *value)
{
    const struct str text = param(call, name);
    int64_t number;

    if (text.len == 0)
        return true;
    if (!str_to_i64(text, &number) || number < 0)
        return false;
    *value = (size_t)number;
    return true;
}

static bool take_bound(struct str text, int64_t *bound_us)
{
    struct api_date date;

    if (text.len == 0)
        return true;
    if (!api_date_parse(text, &date))
        return false;
    *bound_us = date.from_us;
    return true;
}

static bool take_window(const struct http_call *call, struct request *request)
{
    struct view_range *range;

    request->field = param(call, STR("field"));
    request->from = param(call, STR("from"));
    request->to = param(call, STR("to"));
    request->query = view_query_all(
        str_eq(request->field, STR("created")) ? ORDER_CREATED : ORDER_UPDATED, VIEW_ALL);
    range = &request->query.ranges[request->query.order];
    return take_bound(request->from, &range->from_us) && take_bound(request->to, &range->to_us);
}

/* ---- tokens: base64 of "made-millis,position" ---- */

static void add_token(struct http_call *call, struct buf *out, size_t position)
{
    const struct str plain =
        arena_printf(call->arena, "%" PRId64 ",%zu", call->now_us / US_PER_MS, position);

    encode_base64(out, plain, BASE64_URL);
}

static bool read_token(const struct http_call *call, const struct sim_world *world,
                       struct str token, size_t *position)
{
    struct str plain, made;
    int64_t made_ms, number;

    if (!decode_base64(call->arena, token, &plain))
        return false;
    made = str_cut(&plain, ',');
    if (!str_to_i64(made, &made_ms) || !str_to_i64(plain, &number) || number < 0)
        return false;
    *position = (size_t)number;
    return call->now_us - made_ms * US_PER_MS <= world_options_of(world)->token_life_us;
}

/* ---- where the page is ---- */

static bool take_position(const struct http_call *call, const struct sim_world *world,
                          struct request *request, bool *expired)
{
    const bool by_number = request->style == STYLE_PAGE0 || request->style == STYLE_PAGE1 ||
                           request->style == STYLE_LINK || request->style == STYLE_NEXT;
    const size_t base = request->style == STYLE_PAGE0 ? 0 : 1;

    *expired = false;
    request->size = SIZE_PRESET;
    request->number = base;
    request->token = param(call, STR("token"));
    if (request->token.len == 0 && request->style == STYLE_HEADER)
        request->token = call_header(call, STR("X-Token"));
    if (!take_number(call, STR("limit"), &request->size) ||
        !take_number(call, STR("size"), &request->size) ||
        !take_number(call, STR("offset"), &request->skip) ||
        !take_number(call, STR("page"), &request->number) || request->number < base)
        return false;
    if (request->size == 0 || request->size > SIZE_MAX_)
        request->size = SIZE_MAX_; /* silently clamped, as in many APIs */
    if (request->style == STYLE_SINGLE)
        request->size = SINGLE_MAX;
    if (by_number)
        request->skip = (request->number - base) * request->size;
    if (request->token.len > 0)
        *expired = call->content_fault == CONTENT_FAULT_EXPIRED_TOKEN ||
                   !read_token(call, world, request->token, &request->skip);
    return true;
}

/* ---- responses ---- */

static void add_next_url(struct http_call *call, struct buf *out, const struct request *request,
                         size_t number)
{
    page_add_base_url(call, out);
    buf_add(out, call->path);
    buf_printf(out, "?page=%zu&size=%zu", number, request->size);
    if (request->from.len > 0) {
        buf_add(out, STR("&from="));
        encode_percent(out, request->from);
    }
    if (request->to.len > 0) {
        buf_add(out, STR("&to="));
        encode_percent(out, request->to);
    }
    if (request->field.len > 0) {
        buf_add(out, STR("&field="));
        encode_percent(out, request->field);
    }
}

static void add_link_header(struct http_call *call, const struct request *request, bool more)
{
    struct buf link;

    buf_init(&link, call->arena, 8192);
    buf_add_char(&link, '<');
    add_next_url(call, &link, request, 1);
    buf_add(&link, STR(">; rel=\"first\""));
    if (more) {
        buf_add(&link, STR(", <"));
        add_next_url(call, &link, request,
                     request->number + (call->content_fault == CONTENT_FAULT_REPEAT_TOKEN ? 0 : 1));
        buf_add(&link, STR(">; title=\"a, b\"; rel=\"next\""));
    }
    call_add_header(call, STR("Link"), buf_str(&link));
}

/* The next token, or with REPEAT_TOKEN the one that was sent. */
static struct str next_token(struct http_call *call, const struct request *request)
{
    struct buf token;

    if (call->content_fault == CONTENT_FAULT_REPEAT_TOKEN && request->token.len > 0)
        return request->token;
    buf_init(&token, call->arena, 256);
    add_token(call, &token, request->skip + request->size);
    return buf_str(&token);
}

static void add_tail(struct http_call *call, const struct request *request,
                     const struct world_page *page, bool more)
{
    struct buf *out = &call->response;
    const size_t total = page_total(call, page->total);

    switch (request->style) {
    case STYLE_OFFSET:
        buf_printf(out, "],\"total\":%zu,\"offset\":%zu,\"limit\":%zu}", total, request->skip,
                   request->size);
        break;
    case STYLE_PAGE0:
    case STYLE_PAGE1:
        buf_printf(out, "],\"total\":%zu,\"page\":%zu,\"size\":%zu,\"pages\":%zu}", total,
                   request->number, request->size,
                   (page->total + request->size - 1) / request->size);
        break;
    case STYLE_NEXT:
        buf_printf(out, "],\"total\":%zu,\"next\":", total);
        if (more) {
            buf_add_char(out, '"');
            add_next_url(call, out, request,
                         request->number +
                             (call->content_fault == CONTENT_FAULT_REPEAT_TOKEN ? 0 : 1));
            buf_add(out, STR("\"}"));
        } else {
            buf_add(out, STR("null}"));
        }
        break;
    case STYLE_TOKEN:
        buf_printf(out, "],\"total\":%zu,\"nextToken\":", total);
        if (more)
            buf_printf(out, "\"%.*s\"}", STR_ARG(next_token(call, request)));
        else
            buf_add(out, STR("null}"));
        break;
    case STYLE_SINGLE:
        buf_printf(out, "],\"total\":%zu}", total);
        break;
    case STYLE_LINK:
        buf_add_char(out, ']');
        break;
    case STYLE_HEADER:
    case STYLE_TIME:
        buf_add(out, STR("]}"));
        break;
    }
}

static bool list(struct sim_world *world, struct http_call *call, const struct request *request,
                 struct error *err)
{
    const struct body_form *form = body_form_find(STR("generic"));
    struct world_page page;
    struct buf *out = page_begin(call, JSON);
    bool more;

    if (!world_page(
            page_at(world, call), &request->query,
            (struct world_part){ page_skip(call, request->skip, request->size), request->size },
            &page, err))
        return false;
    more = request->skip + request->size < page.total;
    call->confirmable = page.count == 0 || !more;
    page_reserve(call, page.count * 2800 + 4096);
    buf_add(out, request->style == STYLE_LINK ? STR("[") : STR("{\"items\":["));
    page_add_records(world, call, form, &page, STR(","));
    add_tail(call, request, &page, more);
    if (request->style == STYLE_LINK) {
        add_link_header(call, request, more);
        call_add_header(call, STR("X-Total-Count"),
                        arena_printf(call->arena, "%zu", page_total(call, page.total)));
    }
    if (request->style == STYLE_HEADER && more)
        call_add_header(call, STR("X-Next-Token"), next_token(call, request));
    return buf_ok(out, err);
}

static bool single_record(struct sim_world *world, struct http_call *call, struct str name,
                          struct error *err)
{
    const struct corpus *corpus = world_corpus(world);
    uint32_t record, version = CORPUS_NONE;

    if (id_parse(ID_GENERIC, name, corpus->count, &record))
        version = corpus_current(corpus, record, call->now_us);
    if (version == CORPUS_NONE)
        return fail(call, 404, STR("not_found"), STR("there is no such record"), err);
    body_write(body_form_find(STR("generic")), world, page_begin(call, JSON), version,
               page_flaw(call, 0, 1));
    return buf_ok(&call->response, err);
}

/* The children of record n are the records 3n, 3n + 1 and 3n + 2: so each record of the world is
 * the child of one. Of those for which there are none, every other one has an empty list instead of
 * a 404. */
static size_t find_parts(const struct corpus *corpus, uint32_t record, int64_t now_us,
                         uint32_t versions[PARTS])
{
    size_t count = 0;

    for (uint32_t i = 0; i < PARTS && record * PARTS + i < corpus->count; i++) {
        versions[count] = corpus_current(corpus, record * PARTS + i, now_us);
        count += versions[count] != CORPUS_NONE;
    }
    return count;
}

static bool parts_of(struct sim_world *world, struct http_call *call, struct str name,
                     struct error *err)
{
    const struct corpus *corpus = world_corpus(world);
    const struct body_form *form = body_form_find(STR("generic"));
    uint32_t record, version = CORPUS_NONE, versions[PARTS];
    size_t count, skip, number = 1, size = PARTS;
    struct buf *out;

    if (id_parse(ID_GENERIC, name, corpus->count, &record))
        version = corpus_current(corpus, record, call->now_us);
    if (version == CORPUS_NONE ||
        (record >= (corpus->count + PARTS - 1) / PARTS && record % 2 == 0))
        return fail(call, 404, STR("not_found"), STR("there are no parts"), err);
    if (!take_number(call, STR("page"), &number) || !take_number(call, STR("size"), &size) ||
        number == 0 || size == 0)
        return fail(call, 400, STR("bad_request"), STR("page and size are above 0"), err);
    count = find_parts(corpus, record, call->now_us, versions);
    skip = page_skip(call, (number - 1) * size, size);
    out = page_begin(call, JSON);
    buf_add(out, STR("{\"items\":["));
    for (size_t i = 0; i < page_count(call, size) && skip + i < count; i++) {
        buf_add(out, i > 0 ? STR(",") : STR(""));
        body_write(form, world, out, versions[skip + i], page_flaw(call, i, size));
    }
    buf_printf(out, "],\"total\":%zu}", page_total(call, count));
    return buf_ok(out, err);
}

/* records/ID, records/ID/parts */
static bool respond_by_id(struct sim_world *world, struct http_call *call, struct str rest,
                          struct error *err)
{
    const struct str id = str_cut(&rest, '/');

    return str_eq(rest, STR("parts")) ? parts_of(world, call, id, err)
                                      : single_record(world, call, id, err);
}

static bool style_of(struct str name, enum style *style)
{
    static const struct str names[] = {
        [STYLE_OFFSET] = STR_INIT("offset"), [STYLE_PAGE0] = STR_INIT("page0"),
        [STYLE_PAGE1] = STR_INIT("page1"),   [STYLE_LINK] = STR_INIT("link"),
        [STYLE_NEXT] = STR_INIT("next"),     [STYLE_TOKEN] = STR_INIT("token"),
        [STYLE_HEADER] = STR_INIT("header"), [STYLE_TIME] = STR_INIT("time"),
        [STYLE_SINGLE] = STR_INIT("single"),
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq(names[i], name)) {
            *style = (enum style)i;
            return true;
        }
    }
    return false;
}

bool protocol_generic(struct sim_world *world, struct http_call *call, struct error *err)
{
    const struct str prefix = STR("/generic/");
    const struct str name = str_slice(call->path, prefix.len, call->path.len);
    struct request request = { 0 };
    bool expired;

    if (str_eq(name, STR("changes")) || str_eq(name, STR("sync")))
        return protocol_feed(world, call, err);
    if (str_starts(name, STR("bulk/")))
        return protocol_bulk(world, call, str_slice(name, 5, name.len), err);
    if (str_starts(name, STR("records/")))
        return respond_by_id(world, call, str_slice(name, 8, name.len), err);
    if (!style_of(name, &request.style))
        return fail(call, 404, STR("not_found"), STR("there is no such resource"), err);
    if (call->content_fault == CONTENT_FAULT_BODY_ERROR)
        return fail(call, 200, STR("backend"), STR("the search backend failed"), err);
    if (!take_window(call, &request))
        return fail(call, 400, STR("bad_date"), STR("from and to must be ISO-8601 dates"), err);
    if (!take_position(call, world, &request, &expired))
        return fail(call, 400, STR("bad_parameter"), STR("a parameter is not a number"), err);
    if (expired)
        return fail(call, 410, STR("token_expired"), STR("this token has expired"), err);
    return list(world, call, &request, err);
}
