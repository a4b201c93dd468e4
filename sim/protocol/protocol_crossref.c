/* Crossref's REST API: /crossref/works, /crossref/works/DOI (also below /crossref/v1).
 *
 * The cursor is a scroll: the same token on every page, its position in the server, and forgotten
 * after five idle minutes. A request whose answer was lost has lost a page.
 *
 *      cursor=* ──► token T ──T──► page 2, token T ──T──► page 3, token T ── ... ──► empty, token T
 */

#include "base/instant.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/protocol/select_members.h"
#include "sim/util/api_date.h"
#include "sim/world/words.h"

enum { ROWS_PRESET = 20, ROWS_MAX = 1000, OFFSET_MAX = 10000 };

#define JSON STR("application/json")

struct request {
    struct view_query query;
    struct str cursor;
    struct str select;
    size_t rows;
    size_t offset;
};

/* ---- refusals ---- */

struct complaint {
    const char *type;
    struct str value;
    struct str message;
};

static bool refuse(struct exchange *exchange, int status, struct complaint complaint,
                   struct error *err)
{
    struct buf *out = &exchange->reply;

    exchange_answer(exchange, status, status == 400 ? STR("application/json;charset=utf-8") : JSON,
                    STR("{\"status\":\"failed\",\"message-type\":\""));
    buf_printf(out, "%s\",\"message\":[{\"type\":\"%s\",\"value\":\"",
               status == 400 ? "validation-failure" : "resource-failure", complaint.type);
    words_json(out, complaint.value, JSON_SLASHES);
    buf_add(out, STR("\",\"message\":\""));
    words_json(out, complaint.message, JSON_SLASHES);
    buf_add(out, STR("\"}]}"));
    return buf_ok(out, err);
}

static bool not_found(struct exchange *exchange, struct error *err)
{
    exchange_answer(exchange, 404, STR("text/plain"), STR("Resource not found."));
    return buf_ok(&exchange->reply, err);
}

static bool failed_inside(struct exchange *exchange, struct error *err)
{
    exchange_answer(exchange, 200, JSON,
                    STR("{\"status\":\"error\",\"message-type\":\"exception\","
                        "\"message-version\":\"1.0.0\",\"message\":{\"name\":\"class "
                        "java.net.SocketTimeoutException\",\"description\":\"30,000 milliseconds "
                        "timeout on connection\",\"message\":\"30,000 milliseconds timeout\","
                        "\"cause\":null}}"));
    return buf_ok(&exchange->reply, err);
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

/* Positive, at most `max`; complains in Crossref's words. */
static bool take_limited(const struct exchange *exchange, struct str name, size_t max,
                         size_t *value, struct complaint *complaint)
{
    const struct str text = exchange_param(exchange, name);

    if (answer_number(exchange, name, value) && *value <= max)
        return true;
    *complaint = (struct complaint){
        "integer-not-valid", text,
        arena_printf(exchange->arena,
                     "Integer specified as %.*s but must be a positive integer less than or equal "
                     "to %zu. ",
                     STR_ARG(text), max)
    };
    return false;
}

static const struct date_filter {
    struct str name; /* behind "from-" and "until-" */
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

static bool take_filter(const struct exchange *exchange, struct view_query *query, struct str name,
                        struct str value, struct complaint *complaint)
{
    bool from;
    const struct date_filter *filter = date_filter_of(name, &from);
    struct when when;

    if (filter == NULL) {
        *complaint = (struct complaint){
            "filter-not-available", name,
            arena_printf(
                exchange->arena,
                "Filter '%.*s' specified but there is no such filter for this route. Valid "
                "filters for this route are: from-index-date, until-index-date, "
                "from-update-date, until-update-date, from-deposit-date, "
                "until-deposit-date, from-created-date, until-created-date, "
                "from-pub-date, until-pub-date",
                STR_ARG(name))
        };
        return false;
    }
    if (!when_parse(value, &when) || when.unit == WHEN_FINER ||
        (when.unit > WHEN_DAY && !filter->takes_times)) {
        *complaint = (struct complaint){
            "date-not-valid", value,
            arena_printf(exchange->arena,
                         "Date specified as %.*s but must be of the form: yyyy, yyyy-MM or "
                         "yyyy-MM-dd",
                         STR_ARG(value))
        };
        return false;
    }
    if (from)
        query->ranges[filter->order].from_us = when.from_us;
    else
        query->ranges[filter->order].to_us = when.to_us; /* inclusive: to the end of its unit */
    return true;
}

static bool take_filters(const struct exchange *exchange, struct view_query *query,
                         struct complaint *complaint)
{
    struct str rest = exchange_param(exchange, STR("filter"));

    while (rest.len > 0) {
        struct str value = str_cut(&rest, ',');
        const struct str name = str_cut(&value, ':');

        if (!take_filter(exchange, query, name, value, complaint))
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

static bool take_request(const struct exchange *exchange, struct request *request,
                         struct complaint *complaint)
{
    *request = (struct request){ .query = view_query_all(ORDER_UPDATED, VIEW_NOT_MERGED),
                                 .rows = ROWS_PRESET,
                                 .cursor = exchange_param(exchange, STR("cursor")),
                                 .select = exchange_param(exchange, STR("select")) };
    for (size_t i = 0; i < exchange->param_count; i++) {
        const struct str name = exchange->params[i].name;

        if (!is_known_param(name)) {
            *complaint = (struct complaint){
                "parameter-not-allowed", name,
                arena_printf(exchange->arena, "This route does not support %.*s", STR_ARG(name))
            };
            return false;
        }
    }
    if (request->cursor.len > 0 && exchange_has_param(exchange, STR("offset"))) {
        *complaint = (struct complaint){ "parameter-not-allowed", STR("offset"),
                                         STR("This route does not support offset with cursor") };
        return false;
    }
    return take_limited(exchange, STR("rows"), ROWS_MAX, &request->rows, complaint) &&
           take_limited(exchange, STR("offset"), OFFSET_MAX, &request->offset, complaint) &&
           take_filters(exchange, &request->query, complaint);
}

/* ---- the scroll's token: Elasticsearch's scroll id, a part for each of 36 shards ---- */

enum { SHARDS = 36 };

#define SCROLL_MARK STR("\x0equeryThenFetch\x24")

static struct str token_of(struct exchange *exchange, uint64_t name)
{
    struct buf plain, token;

    buf_init(&plain, exchange->arena, 4096);
    buf_init(&token, exchange->arena, 8192);
    buf_add(&plain, SCROLL_MARK);
    for (int shard = 0; shard < SHARDS; shard++) {
        const uint64_t number = shard == 0 ? name : dice_mix(name + (uint64_t)shard);
        struct buf node;

        for (int byte = 7; byte >= 0; byte--)
            buf_add_char(&plain, (char)(number >> 8 * byte & 0xFF));
        buf_add_char(&plain, 0x16);
        buf_init(&node, exchange->arena, 64);
        answer_add_base64(&node, str_slice(buf_str(&plain), plain.len - 16, plain.len), BASE64_URL);
        buf_add(&plain, buf_str(&node));
    }
    answer_add_base64(&token, buf_str(&plain), BASE64_URL_PADDED);
    return buf_str(&token);
}

static bool name_of(struct exchange *exchange, struct str token, uint64_t *name)
{
    struct str plain;

    if (!answer_decode_base64(exchange->arena, token, &plain) || !str_starts(plain, SCROLL_MARK) ||
        plain.len < SCROLL_MARK.len + 8)
        return false;
    *name = 0;
    for (size_t i = 0; i < 8; i++)
        *name = *name << 8 | (unsigned char)plain.data[SCROLL_MARK.len + i];
    return str_eq(token_of(exchange, *name), token);
}

/* ---- lists ---- */

static void add_items(struct sim_world *world, struct exchange *exchange, struct str select,
                      const struct world_page *page)
{
    const struct body_form *form = body_form_find(STR("crossref"));
    const size_t count = answer_count(exchange, page->count);
    struct buf scratch;

    if (select.len == 0) {
        answer_reserve(exchange, page->count * 5500 + 4096);
        answer_records(world, exchange, form, page, STR(","));
        return;
    }
    buf_init(&scratch, exchange->arena, 1 << 20);
    for (size_t i = 0; i < count; i++) {
        buf_clear(&scratch);
        body_write(form, world, &scratch, page->hits[i].version, answer_flaw(exchange, i, count));
        if (i > 0)
            buf_add_char(&exchange->reply, ',');
        select_members(&exchange->reply, buf_str(&scratch), select);
    }
}

static bool add_list(struct sim_world *world, struct exchange *exchange,
                     const struct request *request, const struct world_page *page,
                     struct str next_cursor, struct error *err)
{
    struct buf *out = answer_begin(exchange, JSON);

    buf_add(out, STR("{\"status\":\"ok\",\"message-type\":\"work-list\",\"message-version\":"
                     "\"1.0.0\",\"message\":{\"facets\":{}"));
    if (next_cursor.len > 0) {
        buf_add(out, STR(",\"next-cursor\":\""));
        words_json(out, next_cursor, JSON_SLASHES);
        buf_add_char(out, '"');
    }
    buf_printf(out, ",\"total-results\":%zu,\"items\":[", answer_total(exchange, page->total));
    add_items(world, exchange, request->select, page);
    buf_printf(out, "],\"items-per-page\":%zu,\"query\":{\"start-index\":%zu,\"search-terms\":",
               request->rows, request->offset);
    if (exchange_has_param(exchange, STR("query"))) {
        buf_add_char(out, '"');
        words_json(out, exchange_param(exchange, STR("query")), JSON_SLASHES);
        buf_add_char(out, '"');
    } else {
        buf_add(out, STR("null"));
    }
    buf_add(out, STR("}}}"));
    return buf_ok(out, err);
}

static bool cursor_invalid(struct exchange *exchange, struct str cursor, struct error *err)
{
    return refuse(
        exchange, 404,
        (struct complaint){ "cursor-invalid", cursor, STR("Cursor specified but it is invalid") },
        err);
}

/* A page of the scroll. The position moves on with the right page alone. */
static bool scroll_page(struct sim_world *world, struct exchange *exchange,
                        const struct request *request, uint64_t name, struct error *err)
{
    const bool advance = exchange->twist != TWIST_EMPTY_PAGE;
    const bool first = str_eq(request->cursor, STR("*"));
    struct str next = token_of(exchange, name);
    struct world_scrolled at;
    struct world_page page;
    bool found;

    if (!world_scroll(world, exchange->arena, exchange->now_us, name, advance, &at, err))
        return false;
    if (!at.found)
        return cursor_invalid(exchange, request->cursor, err);
    page = at.page;
    exchange->confirmable = page.count < request->rows;
    if (page.count > 0 &&
        !world_kept(world, exchange->arena, exchange->now_us,
                    &(struct world_kept_ask){
                        .name = { name, 1 },
                        .idle_us = INT64_MAX,
                        .part = { answer_skip(exchange, at.position, page.count), page.count } },
                    &page, &found, err))
        return false;
    if (exchange->twist == TWIST_REPEAT_TOKEN && first)
        next = request->cursor;
    return add_list(world, exchange, request, &page, next, err);
}

static bool by_cursor(struct sim_world *world, struct exchange *exchange, struct request *request,
                      struct error *err)
{
    struct world_name name = { 0 };

    exchange->page = PAGE_NONE;
    if (str_eq(request->cursor, STR("*"))) {
        if (!world_keep(world, exchange->now_us, &request->query, request->rows, &name, err))
            return false;
    } else if (exchange->twist == TWIST_EXPIRED_TOKEN ||
               !name_of(exchange, request->cursor, &name.name)) {
        return cursor_invalid(exchange, request->cursor, err);
    }
    return scroll_page(world, exchange, request, name.name, err);
}

static bool by_offset(struct sim_world *world, struct exchange *exchange,
                      const struct request *request, struct error *err)
{
    struct world_page page;

    if (!world_page(world, exchange->arena, exchange->now_us, &request->query,
                    (struct world_part){ answer_skip(exchange, request->offset,
                                                     request->rows > 0 ? request->rows : 1),
                                         request->rows },
                    &page, err))
        return false;
    exchange->confirmable = request->offset + request->rows >= page.total;
    return add_list(world, exchange, request, &page, STR(""), err);
}

/* ---- one work ---- */

static bool single(struct sim_world *world, struct exchange *exchange, struct str doi,
                   struct error *err)
{
    const struct corpus *corpus = world_corpus(world);
    uint32_t record, version = CORPUS_NONE;
    struct buf *out;

    if (id_parse(ID_CROSSREF, doi, corpus->count, &record))
        version = corpus_current(corpus, record, exchange->now_us);
    if (version == CORPUS_NONE)
        return not_found(exchange, err);
    if ((corpus->flags[version] & VERSION_MERGED) != 0) {
        const struct id other =
            id_make(ID_CROSSREF, corpus_merged_into(&corpus->options, record), corpus->count);
        struct buf location;

        buf_init(&location, exchange->arena, 1024);
        buf_add(&location, str_slice(exchange->path, 0, exchange->path.len - doi.len));
        answer_add_escaped(&location, id_str(&other));
        exchange_answer(exchange, 301, STR("text/plain"), STR(""));
        exchange_out(exchange, STR("location"), buf_str(&location));
        return true;
    }
    out = answer_begin(exchange, JSON);
    buf_add(out, STR("{\"status\":\"ok\",\"message-type\":\"work\",\"message-version\":\"1.0.0\","
                     "\"message\":"));
    body_write(body_form_find(STR("crossref-work")), world, out, version,
               answer_flaw(exchange, 0, 1));
    buf_add_char(out, '}');
    return buf_ok(out, err);
}

/* ---- both ---- */

static bool is_polite(const struct exchange *exchange)
{
    const struct str agent = exchange_header(exchange, STR("User-Agent"));

    return exchange_has_param(exchange, STR("mailto")) ||
           str_find(agent, STR("mailto:")) < agent.len;
}

static void add_headers(struct exchange *exchange)
{
    const bool polite = is_polite(exchange);

    exchange_out(exchange, STR("access-control-allow-origin"), STR("*"));
    exchange_out(exchange, STR("access-control-expose-headers"), STR("Link"));
    exchange_out(exchange, STR("x-api-pool"), polite ? STR("polite") : STR("public"));
    exchange_out(exchange, STR("x-rate-limit-limit"), polite ? STR("10") : STR("5"));
    exchange_out(exchange, STR("x-rate-limit-interval"), STR("1s"));
    exchange_out(exchange, STR("x-concurrency-limit"), polite ? STR("3") : STR("1"));
}

bool protocol_crossref(struct sim_world *world, struct exchange *exchange, struct error *err)
{
    const size_t skip = STR("/crossref").len;
    struct str path = str_slice(exchange->path, skip, exchange->path.len);
    struct request request;
    struct complaint complaint;

    add_headers(exchange);
    if (str_starts(path, STR("/v1/")))
        path = str_slice(path, 3, path.len);
    if (str_starts(path, STR("/works/")))
        return single(world, exchange, str_slice(path, 7, path.len), err);
    if (!str_eq(path, STR("/works")))
        return not_found(exchange, err);
    if (exchange->twist == TWIST_BODY_ERROR)
        return failed_inside(exchange, err);
    if (!take_request(exchange, &request, &complaint))
        return refuse(exchange, 400, complaint, err);
    if (request.cursor.len > 0)
        return by_cursor(world, exchange, &request, err);
    return by_offset(world, exchange, &request, err);
}
