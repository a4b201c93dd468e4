/* Crossref's REST API: /crossref/works, /crossref/works/DOI (also below /crossref/v1).
 *
 * The cursor is a scroll: the same token on every page, its position in the server, and forgotten
 * after five idle minutes. When a response is lost, its page is lost.
 *
 *      cursor=* ──► token T ──T──► page 2, token T ──T──► page 3, token T ── ... ──► empty, token T
 */

#include "base/instant.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/protocol/select_members.h"
#include "sim/util/api_date.h"
#include "sim/util/encode.h"
#include "sim/util/text_out.h"

enum { ROWS_PRESET = 20, ROWS_MAX = 1000, OFFSET_MAX = 10000 };

#define JSON STR("application/json")

struct request {
    struct view_query query;
    struct str cursor;
    struct str select;
    size_t rows;
    size_t offset;
};

/* ---- errors ---- */

struct complaint {
    const char *type;
    struct str value;
    struct str message;
};

static bool refuse(struct http_call *call, int status, struct complaint complaint,
                   struct error *err)
{
    struct buf *out = &call->response;

    call_respond(call, status, status == 400 ? STR("application/json;charset=utf-8") : JSON,
                 STR("{\"status\":\"failed\",\"message-type\":\""));
    buf_printf(out, "%s\",\"message\":[{\"type\":\"%s\",\"value\":\"",
               status == 400 ? "validation-failure" : "resource-failure", complaint.type);
    text_add_json(out, complaint.value, JSON_SLASHES);
    buf_add(out, STR("\",\"message\":\""));
    text_add_json(out, complaint.message, JSON_SLASHES);
    buf_add(out, STR("\"}]}"));
    return buf_ok(out, err);
}

static bool not_found(struct http_call *call, struct error *err)
{
    call_respond(call, 404, STR("text/plain"), STR("Resource not found."));
    return buf_ok(&call->response, err);
}

static bool failed_inside(struct http_call *call, struct error *err)
{
    call_respond(call, 200, JSON,
                 STR("{\"status\":\"error\",\"message-type\":\"exception\","
                     "\"message-version\":\"1.0.0\",\"message\":{\"name\":\"class "
                     "java.net.SocketTimeoutException\",\"description\":\"30,000 milliseconds "
                     "timeout on connection\",\"message\":\"30,000 milliseconds timeout\","
                     "\"cause\":null}}"));
    return buf_ok(&call->response, err);
}

/* ---- parameters ---- */

static bool is_known_param(struct str name)
{
    static const struct str names[] = {
        STR_INIT("filter"), STR_INIT("rows"),  STR_INIT("offset"), STR_INIT("cursor"),
        STR_INIT("select"), STR_INIT("sort"),  STR_INIT("order"),  STR_INIT("facet"),
        STR_INIT("mailto"), STR_INIT("query"),
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq(names[i], name))
            return true;
    }
    return str_starts(name, STR("query."));
}

/* Positive, at most `max`; else responds with Crossref's error. */
static bool take_limited(const struct http_call *call, struct str name, size_t max, size_t *value,
                         struct complaint *complaint)
{
    const struct str text = call_param(call, name);

    if (page_param_number(call, name, value) && *value <= max)
        return true;
    *complaint = (struct complaint){
        "integer-not-valid", text,
        arena_printf(call->arena,
                     "Integer specified as %.*s but must be a positive integer less than or equal "
                     "to %zu. ",
                     STR_ARG(text), max)
    };
    return false;
}

static const struct date_filter {
    struct str name; /* after "from-" and "until-" */
    enum view_order order;
    bool takes_times;
} date_filters[] = {
    { STR_INIT("index-date"), ORDER_UPDATED, true },
    { STR_INIT("update-date"), ORDER_DEPOSITED, true },
    { STR_INIT("deposit-date"), ORDER_DEPOSITED, false },
    { STR_INIT("created-date"), ORDER_CREATED, true },
    { STR_INIT("pub-date"), ORDER_PUBLISHED, false },
};

static const struct date_filter *date_filter_of(struct str name, bool *from)
{
    *from = str_starts(name, STR("from-"));
    if (!*from && !str_starts(name, STR("until-")))
        return NULL;
    name = str_slice(name, *from ? 5 : 6, name.len);
    for (size_t i = 0; i < ARRAY_LEN(date_filters); i++) {
        if (str_eq(date_filters[i].name, name))
            return &date_filters[i];
    }
    return NULL;
}

static bool take_filter(const struct http_call *call, struct view_query *query, struct str name,
                        struct str value, struct complaint *complaint)
{
    bool from;
    const struct date_filter *filter = date_filter_of(name, &from);
    struct api_date date;

    if (filter == NULL) {
        *complaint = (struct complaint){
            "filter-not-available", name,
            arena_printf(
                call->arena,
                "Filter '%.*s' specified but there is no such filter for this route. Valid "
                "filters for this route are: from-index-date, until-index-date, "
                "from-update-date, until-update-date, from-deposit-date, "
                "until-deposit-date, from-created-date, until-created-date, "
                "from-pub-date, until-pub-date",
                STR_ARG(name))
        };
        return false;
    }
    if (!api_date_parse(value, &date) || date.unit == API_DATE_FINER ||
        (date.unit > API_DATE_DAY && !filter->takes_times)) {
        *complaint = (struct complaint){
            "date-not-valid", value,
            arena_printf(call->arena,
                         "Date specified as %.*s but must be of the form: yyyy, yyyy-MM or "
                         "yyyy-MM-dd",
                         STR_ARG(value))
        };
        return false;
    }
    if (from)
        query->ranges[filter->order].from_us = date.from_us;
    else
        query->ranges[filter->order].to_us = date.to_us; /* inclusive: to the end of its unit */
    return true;
}

static bool take_filters(const struct http_call *call, struct view_query *query,
                         struct complaint *complaint)
{
    struct str rest = call_param(call, STR("filter"));

    while (rest.len > 0) {
        struct str value = str_cut(&rest, ',');
        const struct str name = str_cut(&value, ':');

        if (!take_filter(call, query, name, value, complaint))
            return false;
    }
    for (int i = 0; i < ORDER_COUNT; i++) {
        if (query->ranges[i].from_us != INT64_MIN || query->ranges[i].to_us != INT64_MAX) {
            query->order = (enum view_order)i;
            break;
        }
    }
    return true;
}

static bool take_request(const struct http_call *call, struct request *request,
                         struct complaint *complaint)
{
    *request = (struct request){ .query = view_query_all(ORDER_UPDATED, VIEW_NOT_MERGED),
                                 .rows = ROWS_PRESET,
                                 .cursor = call_param(call, STR("cursor")),
                                 .select = call_param(call, STR("select")) };
    for (size_t i = 0; i < call->param_count; i++) {
        const struct str name = call->params[i].name;

        if (!is_known_param(name)) {
            *complaint =
                (struct complaint){ "parameter-not-allowed", name,
                                    arena_printf(call->arena, "This route does not support %.*s",
                                                 STR_ARG(name)) };
            return false;
        }
    }
    if (request->cursor.len > 0 && call_has_param(call, STR("offset"))) {
        *complaint = (struct complaint){ "parameter-not-allowed", STR("offset"),
                                         STR("This route does not support offset with cursor") };
        return false;
    }
    return take_limited(call, STR("rows"), ROWS_MAX, &request->rows, complaint) &&
           take_limited(call, STR("offset"), OFFSET_MAX, &request->offset, complaint) &&
           take_filters(call, &request->query, complaint);
}

/* ---- the scroll's token: Elasticsearch's scroll id, a part for each of 36 shards ---- */

enum { SHARDS = 36 };

#define SCROLL_MARK STR("\x0equeryThenFetch\x24")

static struct str token_of(struct http_call *call, uint64_t name)
{
    struct buf plain, token;

    buf_init(&plain, call->arena, 4096);
    buf_init(&token, call->arena, 8192);
    buf_add(&plain, SCROLL_MARK);
    for (int shard = 0; shard < SHARDS; shard++) {
        const uint64_t number = shard == 0 ? name : hash_mix(name + (uint64_t)shard);
        struct buf node;

        for (int byte = 7; byte >= 0; byte--)
            buf_add_char(&plain, (char)(number >> 8 * byte & 0xFF));
        buf_add_char(&plain, 0x16);
        buf_init(&node, call->arena, 64);
        encode_base64(&node, str_slice(buf_str(&plain), plain.len - 16, plain.len), BASE64_URL);
        buf_add(&plain, buf_str(&node));
    }
    encode_base64(&token, buf_str(&plain), BASE64_URL_PADDED);
    return buf_str(&token);
}

static bool name_of(struct http_call *call, struct str token, uint64_t *name)
{
    struct str plain;

    if (!decode_base64(call->arena, token, &plain) || !str_starts(plain, SCROLL_MARK) ||
        plain.len < SCROLL_MARK.len + 8)
        return false;
    *name = 0;
    for (size_t i = 0; i < 8; i++)
        *name = *name << 8 | (unsigned char)plain.data[SCROLL_MARK.len + i];
    return str_eq(token_of(call, *name), token);
}

/* ---- lists ---- */

static void add_items(struct sim_world *world, struct http_call *call, struct str select,
                      const struct world_page *page)
{
    const struct body_form *form = body_form_find(STR("crossref"));
    const size_t count = page_count(call, page->count);
    struct buf scratch;

    if (select.len == 0) {
        page_reserve(call, page->count * 5500 + 4096);
        page_add_records(world, call, form, page, STR(","));
        return;
    }
    buf_init(&scratch, call->arena, 1 << 20);
    for (size_t i = 0; i < count; i++) {
        buf_clear(&scratch);
        body_write(form, world, &scratch, page->hits[i].version, page_flaw(call, i, count));
        if (i > 0)
            buf_add_char(&call->response, ',');
        select_members(&call->response, buf_str(&scratch), select);
    }
}

static bool add_list(struct sim_world *world, struct http_call *call, const struct request *request,
                     const struct world_page *page, struct str next_cursor, struct error *err)
{
    struct buf *out = page_begin(call, JSON);

    buf_add(out, STR("{\"status\":\"ok\",\"message-type\":\"work-list\",\"message-version\":"
                     "\"1.0.0\",\"message\":{\"facets\":{}"));
    if (next_cursor.len > 0) {
        buf_add(out, STR(",\"next-cursor\":\""));
        text_add_json(out, next_cursor, JSON_SLASHES);
        buf_add_char(out, '"');
    }
    buf_printf(out, ",\"total-results\":%zu,\"items\":[", page_total(call, page->total));
    add_items(world, call, request->select, page);
    buf_printf(out, "],\"items-per-page\":%zu,\"query\":{\"start-index\":%zu,\"search-terms\":",
               request->rows, request->offset);
    if (call_has_param(call, STR("query"))) {
        buf_add_char(out, '"');
        text_add_json(out, call_param(call, STR("query")), JSON_SLASHES);
        buf_add_char(out, '"');
    } else {
        buf_add(out, STR("null"));
    }
    buf_add(out, STR("}}}"));
    return buf_ok(out, err);
}

static bool cursor_invalid(struct http_call *call, struct str cursor, struct error *err)
{
    return refuse(
        call, 404,
        (struct complaint){ "cursor-invalid", cursor, STR("Cursor specified but it is invalid") },
        err);
}

/* A page of the scroll. The position advances only when the right page is served. */
static bool scroll_page(struct sim_world *world, struct http_call *call,
                        const struct request *request, uint64_t name, struct error *err)
{
    const bool advance = call->content_fault != CONTENT_FAULT_EMPTY_PAGE;
    const bool first = str_eq(request->cursor, STR("*"));
    struct str next = token_of(call, name);
    struct world_scrolled at;
    struct world_page page;
    bool found;

    if (!world_scroll(page_at(world, call), name, advance, &at, err))
        return false;
    if (!at.found)
        return cursor_invalid(call, request->cursor, err);
    page = at.page;
    call->confirmable = page.count < request->rows;
    if (page.count > 0 &&
        !world_kept(page_at(world, call),
                    &(struct world_kept_query){
                        .name = { name, 1 },
                        .idle_us = INT64_MAX,
                        .part = { page_skip(call, at.position, page.count), page.count } },
                    &page, &found, err))
        return false;
    if (call->content_fault == CONTENT_FAULT_REPEAT_TOKEN && first)
        next = request->cursor;
    return add_list(world, call, request, &page, next, err);
}

static bool by_cursor(struct sim_world *world, struct http_call *call, struct request *request,
                      struct error *err)
{
    struct world_name name = { 0 };

    call->page = PAGE_NONE;
    if (str_eq(request->cursor, STR("*"))) {
        if (!world_keep(page_at(world, call), &request->query, request->rows, &name, err))
            return false;
    } else if (call->content_fault == CONTENT_FAULT_EXPIRED_TOKEN ||
               !name_of(call, request->cursor, &name.name)) {
        return cursor_invalid(call, request->cursor, err);
    }
    return scroll_page(world, call, request, name.name, err);
}

static bool by_offset(struct sim_world *world, struct http_call *call,
                      const struct request *request, struct error *err)
{
    struct world_page page;

    if (!world_page(page_at(world, call), &request->query,
                    (struct world_part){
                        page_skip(call, request->offset, request->rows > 0 ? request->rows : 1),
                        request->rows },
                    &page, err))
        return false;
    call->confirmable = request->offset + request->rows >= page.total;
    return add_list(world, call, request, &page, STR(""), err);
}

/* ---- one work ---- */

static bool single(struct sim_world *world, struct http_call *call, struct str doi,
                   struct error *err)
{
    const struct corpus *corpus = world_corpus(world);
    uint32_t record, version = CORPUS_NONE;
    struct buf *out;

    if (id_parse(ID_CROSSREF, doi, corpus->count, &record))
        version = corpus_current(corpus, record, call->now_us);
    if (version == CORPUS_NONE)
        return not_found(call, err);
    if ((corpus->flags[version] & VERSION_MERGED) != 0) {
        const struct id other =
            id_make(ID_CROSSREF, corpus_merged_into(&corpus->options, record), corpus->count);
        struct buf location;

        buf_init(&location, call->arena, 1024);
        buf_add(&location, str_slice(call->path, 0, call->path.len - doi.len));
        encode_percent(&location, id_str(&other));
        call_respond(call, 301, STR("text/plain"), STR(""));
        call_add_header(call, STR("location"), buf_str(&location));
        return true;
    }
    out = page_begin(call, JSON);
    buf_add(out, STR("{\"status\":\"ok\",\"message-type\":\"work\",\"message-version\":\"1.0.0\","
                     "\"message\":"));
    body_write(body_form_find(STR("crossref-work")), world, out, version, page_flaw(call, 0, 1));
    buf_add_char(out, '}');
    return buf_ok(out, err);
}

/* ---- both ---- */

static bool is_polite(const struct http_call *call)
{
    const struct str agent = call_header(call, STR("User-Agent"));

    return call_has_param(call, STR("mailto")) || str_find(agent, STR("mailto:")) < agent.len;
}

static void add_headers(struct http_call *call)
{
    const bool polite = is_polite(call);

    call_add_header(call, STR("access-control-allow-origin"), STR("*"));
    call_add_header(call, STR("access-control-expose-headers"), STR("Link"));
    call_add_header(call, STR("x-api-pool"), polite ? STR("polite") : STR("public"));
    call_add_header(call, STR("x-rate-limit-limit"), polite ? STR("10") : STR("5"));
    call_add_header(call, STR("x-rate-limit-interval"), STR("1s"));
    call_add_header(call, STR("x-concurrency-limit"), polite ? STR("3") : STR("1"));
}

bool protocol_crossref(struct sim_world *world, struct http_call *call, struct error *err)
{
    const size_t skip = STR("/crossref").len;
    struct str path = str_slice(call->path, skip, call->path.len);
    struct request request;
    struct complaint complaint;

    add_headers(call);
    if (str_starts(path, STR("/v1/")))
        path = str_slice(path, 3, path.len);
    if (str_starts(path, STR("/works/")))
        return single(world, call, str_slice(path, 7, path.len), err);
    if (!str_eq(path, STR("/works")))
        return not_found(call, err);
    if (call->content_fault == CONTENT_FAULT_BODY_ERROR)
        return failed_inside(call, err);
    if (!take_request(call, &request, &complaint))
        return refuse(call, 400, complaint, err);
    if (request.cursor.len > 0)
        return by_cursor(world, call, &request, err);
    return by_offset(world, call, &request, err);
}
