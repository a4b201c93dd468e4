/* DataCite: /datacite/dois and /datacite/dois/DOI.
 *
 * page[cursor] is base64url("created-millis,DOI"): stateless, in the order of creation; a cursor
 * that does not decode starts from the beginning. page[number] reaches 10,000 records; beyond that
 * the number is silently clamped, so the last page repeats forever. links.next drops parameters.
 */
#include <inttypes.h>

#include "base/instant.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/util/api_date.h"
#include "sim/util/encode.h"
#include "sim/util/text_out.h"

enum { SIZE_PRESET = 25, SIZE_MAX_ = 1000, HITS_MAX = 10000 };

#define JSON STR("application/json; charset=utf-8")

struct request {
    struct view_query query;
    struct str text;
    bool by_cursor;
    size_t size;
    size_t number;
};

static bool fail(struct http_call *call, int status, struct str title, struct error *err)
{
    call_respond(call, status, JSON, STR(""));
    buf_printf(&call->response, "{\"errors\":[{\"status\":\"%d\",\"title\":\"%.*s\"}]}", status,
               STR_ARG(title));
    return buf_ok(&call->response, err);
}

/* ---- query=updated:[2026-01-01T00:00:00Z TO 2026-01-02T00:00:00Z} ---- */

static const struct {
    struct str name;
    enum view_order order;
} fields[] = {
    { STR_INIT("updated:"), ORDER_UPDATED },
    { STR_INIT("created:"), ORDER_CREATED },
    { STR_INIT("registered:"), ORDER_CREATED },
};

/* "[" and "]" include the whole date that is written, "{" and "}" exclude it. */
static bool take_range(struct str rest, struct view_range *range)
{
    const bool from_inside = str_starts(rest, STR("["));
    const size_t square = str_find_char(rest, ']');
    const size_t curly = str_find_char(rest, '}');
    const size_t end = square < curly ? square : curly;
    struct api_date date;
    struct str from, to;
    size_t middle;

    if ((!from_inside && !str_starts(rest, STR("{"))) || end == rest.len)
        return false;
    rest = str_slice(rest, 1, end);
    middle = str_find(rest, STR(" TO "));
    if (middle == rest.len)
        return false;
    from = str_trim(str_slice(rest, 0, middle));
    to = str_trim(str_slice(rest, middle + 4, rest.len));
    if (!str_eq(from, STR("*"))) {
        if (!api_date_parse(from, &date))
            return false;
        range->from_us = from_inside ? date.from_us : date.to_us;
    }
    if (!str_eq(to, STR("*"))) {
        if (!api_date_parse(to, &date))
            return false;
        range->to_us = square < curly ? date.to_us : date.from_us;
    }
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
        if (!request->by_cursor)
            request->query.order = fields[i].order;
    }
    return true;
}

/* ---- cursors ---- */

static void read_cursor(const struct http_call *call, uint32_t records, struct str cursor,
                        struct view_query *query)
{
    struct str plain, millis;
    int64_t created_ms = 0;

    if (call->content_fault == CONTENT_FAULT_EXPIRED_TOKEN ||
        !decode_base64(call->arena, cursor, &plain))
        return; /* from the beginning */
    millis = str_cut(&plain, ',');
    query->has_after = str_to_i64(millis, &created_ms) &&
                       id_parse(ID_DATACITE, plain, records, &query->after_record);
    query->after_us = created_ms * US_PER_MS;
}

static void add_cursor(struct sim_world *world, struct http_call *call, struct buf *out,
                       struct hit last)
{
    const struct corpus *corpus = world_corpus(world);
    const struct id id = id_make(ID_DATACITE, last.record, corpus->count);

    encode_base64(out,
                  arena_printf(call->arena, "%" PRId64 ",%.*s",
                               corpus_created_us(corpus, last.record) / US_PER_MS,
                               STR_ARG(id_str(&id))),
                  BASE64_URL);
}

/* ---- the response ---- */

/* Rails writes & as \u0026. */
#define AMP "\\u0026"

static void add_link(struct http_call *call, struct buf *out)
{
    page_add_base_url(call, out);
    buf_add(out, call->path);
}

static void add_self(struct http_call *call, struct buf *out)
{
    struct str rest = call->query;

    buf_add(out, call->scheme);
    buf_add(out, STR("://"));
    buf_add(out, call->host);
    buf_add(out, call->path);
    if (rest.len > 0)
        buf_add_char(out, '?');
    while (rest.len > 0) {
        text_add_json(out, str_cut(&rest, '&'), JSON_PLAIN);
        if (rest.len > 0)
            buf_add(out, STR(AMP));
    }
}

static void add_next(struct sim_world *world, struct http_call *call, const struct request *request,
                     const struct world_page *page)
{
    struct buf *out = &call->response;

    buf_add(out, STR(",\"next\":\""));
    add_link(call, out);
    if (request->by_cursor) {
        buf_add(out, STR("?page%5Bcursor%5D="));
        if (call->content_fault == CONTENT_FAULT_REPEAT_TOKEN)
            encode_percent(out, call_param(call, STR("page[cursor]")));
        else
            add_cursor(world, call, out, page->hits[page->count - 1]);
    } else {
        buf_printf(out, "?page%%5Bnumber%%5D=%zu",
                   request->number + (call->content_fault == CONTENT_FAULT_REPEAT_TOKEN ? 0 : 1));
    }
    buf_printf(out, AMP "page%%5Bsize%%5D=%zu", request->size);
    if (request->text.len > 0) {
        buf_add(out, STR(AMP "query="));
        encode_percent(out, request->text);
    }
    buf_add_char(out, '"');
}

static void add_facets(struct buf *out, size_t total)
{
    static const char *const facets[][3] = {
        { "resourceTypes", "dataset", "Dataset" },
        { "created", "2026", "2026" },
        { "published", "2025", "2025" },
        { "registered", "2026", "2026" },
        { "providers", "cern", "CERN" },
        { "clients", "cern.zenodo", "Zenodo" },
        { "affiliations", "ror.org/01ggx4157", "CERN" },
        { "prefixes", "10.5281", "10.5281" },
        { "certificates", "CoreTrustSeal", "Core Trust Seal" },
        { "licenses", "cc-by-4.0", "CC-BY-4.0" },
        { "schemaVersions", "4", "Schema 4" },
        { "linkChecksStatus", "200", "200" },
        { "subjects", "Anatomy", "Anatomy" },
        { "fieldsOfScience", "clinical_medicine", "Clinical medicine" },
    };

    buf_printf(out, ",\"states\":[{\"id\":\"findable\",\"title\":\"Findable\",\"count\":%zu}]",
               total);
    for (size_t i = 0; i < ARRAY_LEN(facets); i++)
        buf_printf(out, ",\"%s\":[{\"id\":\"%s\",\"title\":\"%s\",\"count\":%zu}]", facets[i][0],
                   facets[i][1], facets[i][2], total);
    buf_add(out, STR(",\"citations\":[],\"views\":[],\"downloads\":[]"));
}

static void add_meta(struct http_call *call, const struct request *request, size_t total)
{
    struct buf *out = &call->response;
    const size_t reachable = total < HITS_MAX ? total : HITS_MAX;

    buf_printf(out, "],\"meta\":{\"total\":%zu,\"totalPages\":%zu", page_total(call, total),
               request->size > 0 ? (reachable + request->size - 1) / request->size : 0);
    if (!request->by_cursor)
        buf_printf(out, ",\"page\":%zu", request->number);
    if (!str_eq(call_param(call, STR("disable-facets")), STR("true")))
        add_facets(out, total);
    buf_add(out, STR("},\"links\":{\"self\":\""));
    add_self(call, out);
    buf_add_char(out, '"');
}

static bool list(struct sim_world *world, struct http_call *call, const struct request *request,
                 struct error *err)
{
    struct buf *out = page_begin(call, JSON);
    struct view_query query = request->query;
    struct world_page page;
    size_t skip = request->by_cursor ? 0 : (request->number - 1) * request->size;

    if (query.has_after && (call->content_fault == CONTENT_FAULT_REPEAT_PAGE ||
                            call->content_fault == CONTENT_FAULT_SHIFT_PAGE)) {
        skip = world_position(page_at(world, call), &query);
        query.has_after = false;
    }
    if (!world_page(
            page_at(world, call), &query,
            (struct world_part){ page_skip(call, skip, request->size > 0 ? request->size : 1),
                                 request->size },
            &page, err))
        return false;
    call->confirmable = page.count < request->size;
    page_reserve(call, page.count * 4000 + 8192);
    buf_add(out, STR("{\"data\":["));
    page_add_records(world, call, body_form_find(STR("datacite")), &page, STR(","));
    add_meta(call, request, page.total);
    if (page.count > 0 && page.count == request->size)
        add_next(world, call, request, &page);
    buf_add(out, STR("}}"));
    return buf_ok(out, err);
}

static bool dois(struct sim_world *world, struct http_call *call, struct error *err)
{
    struct request request = { .query = view_query_all(ORDER_UPDATED, VIEW_LIVE),
                               .text = call_param(call, STR("query")),
                               .by_cursor = call_has_param(call, STR("page[cursor]")),
                               .size = SIZE_PRESET,
                               .number = 1 };

    if (!page_param_number(call, STR("page[size]"), &request.size) ||
        !page_param_number(call, STR("page[number]"), &request.number))
        return fail(call, 400, STR("You are passing a wrong page parameter."), err);
    if (request.size > SIZE_MAX_)
        request.size = SIZE_MAX_;
    if (request.number == 0)
        request.number = 1;
    if (request.size > 0 && request.number > HITS_MAX / request.size)
        request.number = HITS_MAX / request.size; /* the same page forever */
    if (request.by_cursor) {
        request.query.order = ORDER_CREATED;
        read_cursor(call, world_corpus(world)->count, call_param(call, STR("page[cursor]")),
                    &request.query);
    }
    if (!take_query(&request))
        return fail(call, 400, STR("Failed to parse query."), err);
    return list(world, call, &request, err);
}

static bool single(struct sim_world *world, struct http_call *call, struct str doi,
                   struct error *err)
{
    const uint32_t version = page_find(world, call, ID_DATACITE, doi);
    struct buf *out;

    if (version == CORPUS_NONE)
        return fail(call, 404, STR("The resource you are looking for doesn't exist."), err);
    out = page_begin(call, JSON);
    buf_add(out, STR("{\"data\":"));
    body_write(body_form_find(STR("datacite-doi")), world, out, version, page_flaw(call, 0, 1));
    buf_add_char(out, '}');
    return buf_ok(out, err);
}

bool protocol_datacite(struct sim_world *world, struct http_call *call, struct error *err)
{
    const struct str path = str_slice(call->path, STR("/datacite").len, call->path.len);

    if (str_starts(path, STR("/dois/")))
        return single(world, call, str_slice(path, 6, path.len), err);
    if (!str_eq(path, STR("/dois")))
        return fail(call, 404, STR("The resource you are looking for doesn't exist."), err);
    if (call->content_fault == CONTENT_FAULT_BODY_ERROR)
        return fail(call, 200, STR("The search service is unavailable."), err);
    return dois(world, call, err);
}
