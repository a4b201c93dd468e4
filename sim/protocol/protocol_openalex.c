/* OpenAlex: /openalex/works and /openalex/works/W...
 *
 * The cursor is the sort values of the last hit in base64: stateless and replayable. A short page
 * ends the walk with next_cursor null; below /openalex-2025 it still carries a cursor, and an empty
 * page follows. Filters on updated_date and created_date need a paid plan: a key other than "free".
 */
#include <inttypes.h>

#include "base/instant.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/util/api_date.h"
#include "sim/util/encode.h"
#include "sim/util/text_out.h"

enum { SIZE_PRESET = 25, SIZE_MAX_ = 200, HITS_MAX = 10000 };

#define JSON STR("application/json")

struct request {
    struct view_query query;
    struct str cursor;
    size_t size;
    size_t page;
    bool of_2025;
};

static bool refuse(struct http_call *call, int status, struct str error, struct str message,
                   struct error *err)
{
    struct buf *out = &call->response;

    call_respond(call, status, JSON, STR("{\"error\":\""));
    text_add_json(out, error, JSON_PLAIN);
    buf_add(out, STR("\",\"message\":\""));
    text_add_json(out, message, JSON_PLAIN);
    buf_add(out, STR("\"}"));
    return buf_ok(out, err);
}

static bool bad_query(struct http_call *call, struct str message, struct error *err)
{
    return refuse(call, 400, STR("Invalid query parameters error."), message, err);
}

/* ---- parameters ---- */

static const struct date_filter {
    struct str name;
    enum view_order order;
    bool from;
    bool takes_times;
    bool paid;
} date_filters[] = {
    { STR_INIT("from_updated_date"), ORDER_UPDATED, true, true, true },
    { STR_INIT("to_updated_date"), ORDER_UPDATED, false, true, true },
    { STR_INIT("from_created_date"), ORDER_CREATED, true, false, true },
    { STR_INIT("to_created_date"), ORDER_CREATED, false, false, true },
    { STR_INIT("from_publication_date"), ORDER_PUBLISHED, true, false, false },
    { STR_INIT("to_publication_date"), ORDER_PUBLISHED, false, false, false },
};

static const struct date_filter *date_filter_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(date_filters); i++) {
        if (str_eq(date_filters[i].name, name))
            return &date_filters[i];
    }
    return NULL;
}

static bool has_plan(const struct http_call *call)
{
    const struct str key = call_param(call, STR("api_key"));
    const struct str bearer = call_header(call, STR("Authorization"));

    return (key.len > 0 && !str_eq(key, STR("free"))) || str_starts(bearer, STR("Bearer "));
}

/* Fills in the response itself when it refuses the filter: *refused. A day as an upper bound
 * includes the whole day, a time only that instant. */
static bool take_filter(struct http_call *call, struct request *request, struct str name,
                        struct str value, bool *refused, struct error *err)
{
    const struct date_filter *filter = date_filter_of(name);
    struct api_date date;

    *refused = true;
    if (filter == NULL)
        return bad_query(call,
                         arena_printf(call->arena,
                                      "%.*s is not a valid field. Valid fields are underscore or "
                                      "hyphenated versions of: from_created_date, "
                                      "from_publication_date, from_updated_date, to_created_date, "
                                      "to_publication_date, to_updated_date",
                                      STR_ARG(name)),
                         err);
    if (filter->paid && !has_plan(call))
        return refuse(call, 429, STR("Plan upgrade required"),
                      arena_printf(call->arena,
                                   "The \"%.*s:%.*s\" filter requires a Premium, Institutional, or "
                                   "Partner plan. See https://openalex.org/pricing for details.",
                                   STR_ARG(name), STR_ARG(value)),
                      err);
    if (!api_date_parse(value, &date) || (date.unit > API_DATE_DAY && !filter->takes_times))
        return bad_query(call,
                         arena_printf(call->arena,
                                      "Value for param %.*s is not a valid date. Format is "
                                      "yyyy-mm-dd (e.g. 2020-05-17).",
                                      STR_ARG(name)),
                         err);
    *refused = false;
    if (filter->from)
        request->query.ranges[filter->order].from_us = date.from_us;
    else
        request->query.ranges[filter->order].to_us =
            date.unit > API_DATE_DAY ? date.from_us + 1 : date.to_us;
    request->query.order = filter->order;
    return true;
}

static bool take_filters(struct http_call *call, struct request *request, bool *refused,
                         struct error *err)
{
    struct str rest = call_param(call, STR("filter"));

    *refused = false;
    while (rest.len > 0 && !*refused) {
        struct str value = str_cut(&rest, ',');
        const struct str name = str_cut(&value, ':');

        if (!take_filter(call, request, name, value, refused, err))
            return false;
    }
    return true;
}

static struct str unknown_param(const struct http_call *call)
{
    static const struct str names[] = {
        STR_INIT("filter"), STR_INIT("per_page"), STR_INIT("per-page"), STR_INIT("page"),
        STR_INIT("cursor"), STR_INIT("select"),   STR_INIT("sort"),     STR_INIT("search"),
        STR_INIT("mailto"), STR_INIT("api_key"),
    };

    for (size_t i = 0; i < call->param_count; i++) {
        bool known = false;

        for (size_t j = 0; j < ARRAY_LEN(names); j++)
            known = known || str_eq(names[j], call->params[i].name);
        if (!known)
            return call->params[i].name;
    }
    return STR("");
}

/* ---- cursors: "[1767225600000000, 'https://openalex.org/W4000000017']", quotes and all ---- */

static void add_cursor(struct http_call *call, struct buf *out, int64_t key_us, uint32_t record,
                       uint32_t records)
{
    const struct id id = id_make(ID_OPENALEX, record, records);

    encode_base64(
        out, arena_printf(call->arena, "\"[%" PRId64 ", '%.*s']\"", key_us, STR_ARG(id_str(&id))),
        BASE64);
}

static bool read_cursor(const struct http_call *call, uint32_t records, struct str cursor,
                        struct view_query *query)
{
    struct str plain, key;

    if (!decode_base64(call->arena, cursor, &plain) || !str_starts(plain, STR("\"[")) ||
        !str_ends(plain, STR("']\"")))
        return false;
    plain = str_slice(plain, 2, plain.len - 3);
    key = str_cut(&plain, ',');
    query->has_after = true;
    return str_to_i64(key, &query->after_us) && str_starts(plain, STR(" '")) &&
           id_parse(ID_OPENALEX, str_slice(plain, 2, plain.len), records, &query->after_record);
}

/* ---- responses ---- */

static void add_next_cursor(struct sim_world *world, struct http_call *call,
                            const struct request *request, const struct world_page *page, bool more)
{
    struct buf *out = &call->response;
    const struct corpus *corpus = world_corpus(world);
    const struct hit last = page->count > 0 ? page->hits[page->count - 1] : (struct hit){ 0, 0 };
    struct buf cursor;

    buf_add(out, STR(",\"next_cursor\":"));
    if (page->count == 0 || (!more && !request->of_2025)) {
        buf_add(out, STR("null"));
        return;
    }
    buf_add_char(out, '"');
    if (call->content_fault == CONTENT_FAULT_REPEAT_TOKEN) {
        buf_add(out, request->cursor);
    } else {
        buf_init(&cursor, call->arena, 512);
        add_cursor(call, &cursor, view_key_of(corpus, request->query.order, last.version),
                   last.record, corpus->count);
        buf_add(out, buf_str(&cursor));
    }
    buf_add_char(out, '"');
}

/* The cursor becomes a position first, so that a content fault can move the page. */
static bool find_page(struct sim_world *world, struct http_call *call,
                      const struct request *request, struct world_page *page, bool *more,
                      struct error *err)
{
    struct view_query whole = request->query;
    size_t position = (request->page - 1) * request->size;
    size_t skip;

    if (request->query.has_after)
        position = world_position(page_at(world, call), &request->query);
    whole.has_after = false;
    skip = page_skip(call, position, request->size);
    if (!world_page(page_at(world, call), &whole, (struct world_part){ skip, request->size }, page,
                    err))
        return false;
    *more = position + request->size < page->total;
    return true;
}

static bool list(struct sim_world *world, struct http_call *call, const struct request *request,
                 struct error *err)
{
    struct buf *out = page_begin(call, JSON);
    struct world_page page;
    bool more;

    if (!find_page(world, call, request, &page, &more, err))
        return false;
    call->confirmable = !more;
    page_reserve(call, page.count * 10000 + 4096);
    buf_printf(out, "{\"meta\":{\"count\":%zu,\"db_response_time_ms\":7,",
               page_total(call, page.total));
    if (request->cursor.len > 0) {
        buf_printf(out, "\"page\":null,\"per_page\":%zu", request->size);
        add_next_cursor(world, call, request, &page, more);
    } else {
        buf_printf(out, "\"page\":%zu,\"per_page\":%zu", request->page, request->size);
    }
    buf_add(out, STR(",\"groups_count\":null"));
    if (!request->of_2025)
        buf_add(out, STR(",\"cost_usd\":0.0001"));
    buf_add(out, STR("},\"results\":["));
    page_add_records(world, call, body_form_find(STR("openalex")), &page, STR(","));
    buf_add(out, STR("],\"group_by\":[]}"));
    return buf_ok(out, err);
}

static bool single(struct sim_world *world, struct http_call *call, struct str name,
                   struct error *err)
{
    const struct corpus *corpus = world_corpus(world);
    uint32_t record, version = CORPUS_NONE;

    if (id_parse(ID_OPENALEX, name, corpus->count, &record))
        version = corpus_current(corpus, record, call->now_us);
    if (version != CORPUS_NONE && (corpus->flags[version] & VERSION_MERGED) != 0) {
        const struct id other =
            id_make(ID_OPENALEX, corpus_merged_into(&corpus->options, record), corpus->count);

        call_respond(call, 301, STR("text/html"), STR(""));
        call_add_header(call, STR("location"),
                        arena_printf(call->arena, "%.*s%.*s",
                                     STR_ARG(str_slice(call->path, 0, call->path.len - name.len)),
                                     STR_ARG(str_slice(id_str(&other), 21, other.len))));
        return true;
    }
    if (version == CORPUS_NONE || (corpus->flags[version] & VERSION_DELETED) != 0) {
        call_respond(call, 404, STR("text/html; charset=utf-8"),
                     STR("<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n"
                         "<h1>Not Found</h1>\n<p>The requested URL was not found on the server. "
                         "If you entered the URL manually please check your spelling and try "
                         "again.</p>\n"));
        return buf_ok(&call->response, err);
    }
    body_write(body_form_find(STR("openalex")), world, page_begin(call, JSON), version,
               page_flaw(call, 0, 1));
    return buf_ok(&call->response, err);
}

static bool works(struct sim_world *world, struct http_call *call, struct request *request,
                  struct error *err)
{
    const struct str unknown = unknown_param(call);
    bool refused;

    if (unknown.len > 0)
        return bad_query(call,
                         arena_printf(call->arena,
                                      "%.*s is not a valid parameter. Valid parameters are: "
                                      "api_key, cursor, filter, mailto, page, per-page, search, "
                                      "select, sort.",
                                      STR_ARG(unknown)),
                         err);
    if (!page_param_number(call, STR("per-page"), &request->size) ||
        !page_param_number(call, STR("per_page"), &request->size) || request->size == 0 ||
        !page_param_number(call, STR("page"), &request->page) || request->page == 0)
        return bad_query(call, STR("page and per-page must be positive numbers."), err);
    if (request->size > SIZE_MAX_)
        request->size = SIZE_MAX_;
    if (request->cursor.len > 0 && call_has_param(call, STR("page")))
        return refuse(call, 400, STR("Pagination error."),
                      STR("Cannot use page and cursor parameters together."), err);
    if (request->page > HITS_MAX / request->size)
        return refuse(
            call, 400, STR("Pagination error."),
            STR("Maximum results size of 10,000 records is exceeded. Cursor pagination is "
                "required for records beyond this limit."),
            err);
    if (!take_filters(call, request, &refused, err) || refused)
        return refused;
    if (request->cursor.len > 0 && !str_eq(request->cursor, STR("*")) &&
        (call->content_fault == CONTENT_FAULT_EXPIRED_TOKEN ||
         !read_cursor(call, world_corpus(world)->count, request->cursor, &request->query)))
        return refuse(call, 400, STR("Pagination error."), STR("Cursor value is invalid."), err);
    return list(world, call, request, err);
}

bool protocol_openalex(struct sim_world *world, struct http_call *call, struct error *err)
{
    struct request request = { .query = view_query_all(ORDER_UPDATED, VIEW_LIVE),
                               .cursor = call_param(call, STR("cursor")),
                               .size = SIZE_PRESET,
                               .page = 1 };
    struct str path = call->path;

    request.of_2025 = str_starts(path, STR("/openalex-2025"));
    path = str_slice(path, request.of_2025 ? STR("/openalex-2025").len : STR("/openalex").len,
                     path.len);
    call_add_header(call, STR("x-ratelimit-limit"), STR("10000"));
    call_add_header(call, STR("x-ratelimit-remaining"), STR("9654"));
    call_add_header(call, STR("x-ratelimit-reset"), STR("39907"));
    call_add_header(call, STR("x-ratelimit-credits-used"), STR("1"));
    if (str_eq(call_param(call, STR("api_key")), STR("invalid")))
        return refuse(call, 401, STR("Invalid or missing API key"), STR("API key not found"), err);
    if (str_starts(path, STR("/works/")))
        return single(world, call, str_slice(path, 7, path.len), err);
    if (!str_eq(path, STR("/works")))
        return single(world, call, STR("nothing"), err);
    if (call->content_fault == CONTENT_FAULT_BODY_ERROR)
        return refuse(call, 200, STR("Elasticsearch error"), STR("Query timed out"), err);
    return works(world, call, &request, err);
}
