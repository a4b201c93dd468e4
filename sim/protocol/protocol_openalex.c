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
#include "sim/world/words.h"

enum { SIZE_PRESET = 25, SIZE_MAX_ = 200, HITS_MAX = 10000 };

#define JSON STR("application/json")

struct request {
    struct view_query query;
    struct str cursor;
    size_t size;
    size_t page;
    bool of_2025;
};

static bool refuse(struct exchange *exchange, int status, struct str error, struct str message,
                   struct error *err)
{
    struct buf *out = &exchange->reply;

    exchange_answer(exchange, status, JSON, STR("{\"error\":\""));
    words_json(out, error, JSON_PLAIN);
    buf_add(out, STR("\",\"message\":\""));
    words_json(out, message, JSON_PLAIN);
    buf_add(out, STR("\"}"));
    return buf_ok(out, err);
}

static bool bad_query(struct exchange *exchange, struct str message, struct error *err)
{
    return refuse(exchange, 400, STR("Invalid query parameters error."), message, err);
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

static bool has_plan(const struct exchange *exchange)
{
    const struct str key = exchange_param(exchange, STR("api_key"));
    const struct str bearer = exchange_header(exchange, STR("Authorization"));

    return (key.len > 0 && !str_eq(key, STR("free"))) || str_starts(bearer, STR("Bearer "));
}

/* Answers itself when it refuses: *refused. A day as an upper bound holds the whole day, a time
 * that very instant. */
static bool take_filter(struct exchange *exchange, struct request *request, struct str name,
                        struct str value, bool *refused, struct error *err)
{
    const struct date_filter *filter = date_filter_of(name);
    struct when when;

    *refused = true;
    if (filter == NULL)
        return bad_query(exchange,
                         arena_printf(exchange->arena,
                                      "%.*s is not a valid field. Valid fields are underscore or "
                                      "hyphenated versions of: from_created_date, "
                                      "from_publication_date, from_updated_date, to_created_date, "
                                      "to_publication_date, to_updated_date",
                                      STR_ARG(name)),
                         err);
    if (filter->paid && !has_plan(exchange))
        return refuse(exchange, 429, STR("Plan upgrade required"),
                      arena_printf(exchange->arena,
                                   "The \"%.*s:%.*s\" filter requires a Premium, Institutional, or "
                                   "Partner plan. See https://openalex.org/pricing for details.",
                                   STR_ARG(name), STR_ARG(value)),
                      err);
    if (!when_parse(value, &when) || (when.unit > WHEN_DAY && !filter->takes_times))
        return bad_query(exchange,
                         arena_printf(exchange->arena,
                                      "Value for param %.*s is not a valid date. Format is "
                                      "yyyy-mm-dd (e.g. 2020-05-17).",
                                      STR_ARG(name)),
                         err);
    *refused = false;
    if (filter->from)
        request->query.ranges[filter->order].from_us = when.from_us;
    else
        request->query.ranges[filter->order].to_us =
            when.unit > WHEN_DAY ? when.from_us + 1 : when.to_us;
    request->query.order = filter->order;
    return true;
}

static bool take_filters(struct exchange *exchange, struct request *request, bool *refused,
                         struct error *err)
{
    struct str rest = exchange_param(exchange, STR("filter"));

    *refused = false;
    while (rest.len > 0 && !*refused) {
        struct str value = str_cut(&rest, ',');
        const struct str name = str_cut(&value, ':');

        if (!take_filter(exchange, request, name, value, refused, err))
            return false;
    }
    return true;
}

static struct str unknown_param(const struct exchange *exchange)
{
    static const struct str names[] = {
        STR_INIT("filter"), STR_INIT("per_page"), STR_INIT("per-page"), STR_INIT("page"),
        STR_INIT("cursor"), STR_INIT("select"),   STR_INIT("sort"),     STR_INIT("search"),
        STR_INIT("mailto"), STR_INIT("api_key"),
    };

    for (size_t i = 0; i < exchange->param_count; i++) {
        bool known = false;

        for (size_t j = 0; j < ARRAY_LEN(names); j++)
            known = known || str_eq(names[j], exchange->params[i].name);
        if (!known)
            return exchange->params[i].name;
    }
    return STR("");
}

/* ---- cursors: "[1767225600000000, 'https://openalex.org/W4000000017']", quotes and all ---- */

static void add_cursor(struct exchange *exchange, struct buf *out, int64_t key_us, uint32_t record,
                       uint32_t records)
{
    const struct id id = id_make(ID_OPENALEX, record, records);

    answer_add_base64(
        out,
        arena_printf(exchange->arena, "\"[%" PRId64 ", '%.*s']\"", key_us, STR_ARG(id_str(&id))),
        BASE64);
}

static bool read_cursor(const struct exchange *exchange, uint32_t records, struct str cursor,
                        struct view_query *query)
{
    struct str plain, key;

    if (!answer_decode_base64(exchange->arena, cursor, &plain) || !str_starts(plain, STR("\"[")) ||
        !str_ends(plain, STR("']\"")))
        return false;
    plain = str_slice(plain, 2, plain.len - 3);
    key = str_cut(&plain, ',');
    query->has_after = true;
    return str_to_i64(key, &query->after_us) && str_starts(plain, STR(" '")) &&
           id_parse(ID_OPENALEX, str_slice(plain, 2, plain.len), records, &query->after_record);
}

/* ---- answers ---- */

static void add_next_cursor(struct sim_world *world, struct exchange *exchange,
                            const struct request *request, const struct world_page *page, bool more)
{
    struct buf *out = &exchange->reply;
    const struct corpus *corpus = world_corpus(world);
    const struct hit last = page->count > 0 ? page->hits[page->count - 1] : (struct hit){ 0, 0 };
    struct buf cursor;

    buf_add(out, STR(",\"next_cursor\":"));
    if (page->count == 0 || (!more && !request->of_2025)) {
        buf_add(out, STR("null"));
        return;
    }
    buf_add_char(out, '"');
    if (exchange->twist == TWIST_REPEAT_TOKEN) {
        buf_add(out, request->cursor);
    } else {
        buf_init(&cursor, exchange->arena, 512);
        add_cursor(exchange, &cursor, view_key_of(corpus, request->query.order, last.version),
                   last.record, corpus->count);
        buf_add(out, buf_str(&cursor));
    }
    buf_add_char(out, '"');
}

/* A cursor becomes a position first, so that a twist can move the page. */
static bool find_page(struct sim_world *world, struct exchange *exchange,
                      const struct request *request, struct world_page *page, bool *more,
                      struct error *err)
{
    struct view_query whole = request->query;
    size_t position = (request->page - 1) * request->size;
    size_t skip;

    if (request->query.has_after)
        position = world_position(world, exchange->now_us, &request->query);
    whole.has_after = false;
    skip = answer_skip(exchange, position, request->size);
    if (!world_page(world, exchange->arena, exchange->now_us, &whole,
                    (struct world_part){ skip, request->size }, page, err))
        return false;
    *more = position + request->size < page->total;
    return true;
}

static bool list(struct sim_world *world, struct exchange *exchange, const struct request *request,
                 struct error *err)
{
    struct buf *out = answer_begin(exchange, JSON);
    struct world_page page;
    bool more;

    if (!find_page(world, exchange, request, &page, &more, err))
        return false;
    exchange->confirmable = !more;
    answer_reserve(exchange, page.count * 10000 + 4096);
    buf_printf(out, "{\"meta\":{\"count\":%zu,\"db_response_time_ms\":7,",
               answer_total(exchange, page.total));
    if (request->cursor.len > 0) {
        buf_printf(out, "\"page\":null,\"per_page\":%zu", request->size);
        add_next_cursor(world, exchange, request, &page, more);
    } else {
        buf_printf(out, "\"page\":%zu,\"per_page\":%zu", request->page, request->size);
    }
    buf_add(out, STR(",\"groups_count\":null"));
    if (!request->of_2025)
        buf_add(out, STR(",\"cost_usd\":0.0001"));
    buf_add(out, STR("},\"results\":["));
    answer_records(world, exchange, body_form_find(STR("openalex")), &page, STR(","));
    buf_add(out, STR("],\"group_by\":[]}"));
    return buf_ok(out, err);
}

static bool single(struct sim_world *world, struct exchange *exchange, struct str name,
                   struct error *err)
{
    const struct corpus *corpus = world_corpus(world);
    uint32_t record, version = CORPUS_NONE;

    if (id_parse(ID_OPENALEX, name, corpus->count, &record))
        version = corpus_current(corpus, record, exchange->now_us);
    if (version != CORPUS_NONE && (corpus->flags[version] & VERSION_MERGED) != 0) {
        const struct id other =
            id_make(ID_OPENALEX, corpus_merged_into(&corpus->options, record), corpus->count);

        exchange_answer(exchange, 301, STR("text/html"), STR(""));
        exchange_out(
            exchange, STR("location"),
            arena_printf(exchange->arena, "%.*s%.*s",
                         STR_ARG(str_slice(exchange->path, 0, exchange->path.len - name.len)),
                         STR_ARG(str_slice(id_str(&other), 21, other.len))));
        return true;
    }
    if (version == CORPUS_NONE || (corpus->flags[version] & VERSION_DELETED) != 0) {
        exchange_answer(exchange, 404, STR("text/html; charset=utf-8"),
                        STR("<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n"
                            "<h1>Not Found</h1>\n<p>The requested URL was not found on the server. "
                            "If you entered the URL manually please check your spelling and try "
                            "again.</p>\n"));
        return buf_ok(&exchange->reply, err);
    }
    body_write(body_form_find(STR("openalex")), world, answer_begin(exchange, JSON), version,
               answer_flaw(exchange, 0, 1));
    return buf_ok(&exchange->reply, err);
}

static bool works(struct sim_world *world, struct exchange *exchange, struct request *request,
                  struct error *err)
{
    const struct str unknown = unknown_param(exchange);
    bool refused;

    if (unknown.len > 0)
        return bad_query(exchange,
                         arena_printf(exchange->arena,
                                      "%.*s is not a valid parameter. Valid parameters are: "
                                      "api_key, cursor, filter, mailto, page, per-page, search, "
                                      "select, sort.",
                                      STR_ARG(unknown)),
                         err);
    if (!answer_number(exchange, STR("per-page"), &request->size) ||
        !answer_number(exchange, STR("per_page"), &request->size) || request->size == 0 ||
        !answer_number(exchange, STR("page"), &request->page) || request->page == 0)
        return bad_query(exchange, STR("page and per-page must be positive numbers."), err);
    if (request->size > SIZE_MAX_)
        request->size = SIZE_MAX_;
    if (request->cursor.len > 0 && exchange_has_param(exchange, STR("page")))
        return refuse(exchange, 400, STR("Pagination error."),
                      STR("Cannot use page and cursor parameters together."), err);
    if (request->page > HITS_MAX / request->size)
        return refuse(
            exchange, 400, STR("Pagination error."),
            STR("Maximum results size of 10,000 records is exceeded. Cursor pagination is "
                "required for records beyond this limit."),
            err);
    if (!take_filters(exchange, request, &refused, err) || refused)
        return refused;
    if (request->cursor.len > 0 && !str_eq(request->cursor, STR("*")) &&
        (exchange->twist == TWIST_EXPIRED_TOKEN ||
         !read_cursor(exchange, world_corpus(world)->count, request->cursor, &request->query)))
        return refuse(exchange, 400, STR("Pagination error."), STR("Cursor value is invalid."),
                      err);
    return list(world, exchange, request, err);
}

bool protocol_openalex(struct sim_world *world, struct exchange *exchange, struct error *err)
{
    struct request request = { .query = view_query_all(ORDER_UPDATED, VIEW_LIVE),
                               .cursor = exchange_param(exchange, STR("cursor")),
                               .size = SIZE_PRESET,
                               .page = 1 };
    struct str path = exchange->path;

    request.of_2025 = str_starts(path, STR("/openalex-2025"));
    path = str_slice(path, request.of_2025 ? STR("/openalex-2025").len : STR("/openalex").len,
                     path.len);
    exchange_out(exchange, STR("x-ratelimit-limit"), STR("10000"));
    exchange_out(exchange, STR("x-ratelimit-remaining"), STR("9654"));
    exchange_out(exchange, STR("x-ratelimit-reset"), STR("39907"));
    exchange_out(exchange, STR("x-ratelimit-credits-used"), STR("1"));
    if (str_eq(exchange_param(exchange, STR("api_key")), STR("invalid")))
        return refuse(exchange, 401, STR("Invalid or missing API key"), STR("API key not found"),
                      err);
    if (str_starts(path, STR("/works/")))
        return single(world, exchange, str_slice(path, 7, path.len), err);
    if (!str_eq(path, STR("/works")))
        return single(world, exchange, STR("nothing"), err);
    if (exchange->twist == TWIST_BODY_ERROR)
        return refuse(exchange, 200, STR("Elasticsearch error"), STR("Query timed out"), err);
    return works(world, exchange, &request, err);
}
