/* Two feeds of changes, as APIs offer them beside their lists:
 *
 *      /generic/changes?since=SEQ&limit=     by sequence number: the records whose last change has
 * a higher one, in that order; tombstones included /generic/sync?token=&page=&size=      by sync
 * token: what changed since the token was given, page by page; the last page has the next token
 *
 * A version's number is its place in the order of appearance, so a record that changes moves to the
 * end of the feed, and nothing appears before what was read. A sync sees the changes up to its
 * first page; what comes later is in the next one. A full sync, without a token, has no tombstones.
 * Tokens, of syncs and of pages, expire after --token-life: 410. from= and to= keep the records
 * that are dated within.
 */
#include <inttypes.h>

#include "base/instant.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/util/api_date.h"
#include "sim/util/encode.h"

enum { SIZE_PRESET = 100, SIZE_MAX_ = 1000 };

#define JSON STR("application/json")

static bool fail(struct http_call *call, int status, const char *code, struct error *err)
{
    call_respond(call, status, JSON, STR(""));
    buf_printf(&call->response, "{\"error\":{\"code\":\"%s\"}}", code);
    return buf_ok(&call->response, err);
}

static bool take_size(const struct http_call *call, struct str name, size_t *size)
{
    *size = SIZE_PRESET;
    if (!page_param_number(call, name, size))
        return false;
    if (*size == 0 || *size > SIZE_MAX_)
        *size = SIZE_MAX_;
    return true;
}

/* The numbers of a part of the feed, from the first above `after` to `last`. */
struct feed_part {
    enum view_mode mode;
    int64_t after;
    int64_t last;
    struct view_range dates; /* of updated_at */
};

/* from= and to= keep the records dated within; the numbers stay as they are. */
static bool take_dates(const struct http_call *call, struct view_range *dates)
{
    const struct str from = call_param(call, STR("from")), to = call_param(call, STR("to"));
    struct api_date date;

    *dates = VIEW_RANGE_ALL;
    if (from.len > 0) {
        if (!api_date_parse(from, &date))
            return false;
        dates->from_us = date.from_us;
    }
    if (to.len > 0) {
        if (!api_date_parse(to, &date))
            return false;
        dates->to_us = date.from_us;
    }
    return true;
}

static bool read_part(struct sim_world *world, struct http_call *call, const struct feed_part *part,
                      size_t size, struct world_page *page, struct error *err)
{
    struct view_query query = view_query_all(ORDER_APPEARED, part->mode);

    query.ranges[ORDER_APPEARED] = (struct view_range){ part->after + 1, part->last + 1 };
    query.ranges[ORDER_UPDATED] = part->dates;
    return world_page(page_at(world, call), &query, (struct world_part){ 0, size }, page, err);
}

/* ---- by sequence number ---- */

/* The highest number in the list between the dates; 0: the list is empty. */
static bool find_last(struct sim_world *world, struct http_call *call, struct view_range dates,
                      int64_t *last, struct error *err)
{
    struct view_query query = view_query_all(ORDER_APPEARED, VIEW_ALL);
    struct world_page page;

    *last = 0;
    query.ranges[ORDER_UPDATED] = dates;
    if (!world_page(page_at(world, call), &query, (struct world_part){ 0, 1 }, &page, err))
        return false;
    if (page.total == 0)
        return true;
    if (!world_page(page_at(world, call), &query, (struct world_part){ page.total - 1, 1 }, &page,
                    err))
        return false;
    if (page.count > 0)
        *last = world_sequence_of(world, page.hits[0].version);
    return true;
}

static bool changes(struct sim_world *world, struct http_call *call, struct error *err)
{
    struct feed_part part = { .mode = VIEW_ALL };
    struct world_page page;
    size_t size, since = 0;
    struct buf *out;
    int64_t last;

    if (!take_size(call, STR("limit"), &size) || !take_dates(call, &part.dates) ||
        !page_param_number(call, STR("since"), &since))
        return fail(call, 400, "bad_parameter", err);
    part.after = (int64_t)since;
    part.last = world_sequence_last(page_at(world, call));
    if (!find_last(world, call, part.dates, &last, err) ||
        !read_part(world, call, &part, size, &page, err))
        return false;
    call->confirmable = page.count < size;
    out = page_begin(call, JSON);
    page_reserve(call, page.count * 2800 + 4096);
    buf_add(out, STR("{\"changes\":["));
    page_add_records(world, call, body_form_find(STR("generic-feed")), &page, STR(","));
    buf_printf(out, "],\"last_seq\":%" PRId64 ",\"pending\":%zu}", last, page.total - page.count);
    return buf_ok(out, err);
}

/* ---- by token ---- */

/* Base64 of "made-millis,after,last,is-full". Of a sync token, after and last are the same. */
struct sync_token {
    int64_t after;
    int64_t last;
    bool is_full;
};

static void add_token(struct http_call *call, struct buf *out, const struct sync_token *token)
{
    encode_base64(out,
                  arena_printf(call->arena, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%d",
                               call->now_us / US_PER_MS, token->after, token->last, token->is_full),
                  BASE64_URL);
}

static bool take_i64(struct str *rest, int64_t *value)
{
    return str_to_i64(str_cut(rest, ','), value) && *value >= 0;
}

/* False: it is not one of ours, or has expired. */
static bool read_token(const struct http_call *call, const struct sim_world *world, struct str text,
                       struct sync_token *token)
{
    int64_t made_ms, full;
    struct str plain;

    if (call->content_fault == CONTENT_FAULT_EXPIRED_TOKEN ||
        !decode_base64(call->arena, text, &plain) || !take_i64(&plain, &made_ms) ||
        !take_i64(&plain, &token->after) || !take_i64(&plain, &token->last) ||
        !take_i64(&plain, &full))
        return false;
    token->is_full = full != 0;
    return call->now_us - made_ms * US_PER_MS <= world_options_of(world)->token_life_us;
}

/* Where the request begins; false: its token has expired. */
static bool take_token(struct sim_world *world, struct http_call *call, struct sync_token *token)
{
    const struct str page = call_param(call, STR("page"));
    const struct str sync = call_param(call, STR("token"));

    *token = (struct sync_token){ .is_full = true };
    if (page.len > 0)
        return read_token(call, world, page, token);
    if (sync.len > 0) {
        if (!read_token(call, world, sync, token))
            return false;
        token->is_full = false;
    }
    token->last = world_sequence_last(page_at(world, call));
    return true;
}

static void add_next(struct http_call *call, const struct sync_token *token,
                     const struct world_page *page, struct sim_world *world)
{
    const bool more = page->total > page->count;
    const struct str sent = call_param(call, STR("page"));
    struct sync_token next = *token;
    struct buf *out = &call->response;

    buf_add(out, more ? STR("],\"nextPageToken\":\"") : STR("],\"nextSyncToken\":\""));
    next.after = more ? world_sequence_of(world, page->hits[page->count - 1].version) : token->last;
    if (more && sent.len > 0 && call->content_fault == CONTENT_FAULT_REPEAT_TOKEN)
        buf_add(out, sent);
    else
        add_token(call, out, &next);
    buf_add(out, STR("\"}"));
}

static bool sync(struct sim_world *world, struct http_call *call, struct error *err)
{
    struct sync_token token;
    struct feed_part part;
    struct world_page page;
    struct buf *out;
    size_t size;

    if (!take_size(call, STR("size"), &size) || !take_dates(call, &part.dates))
        return fail(call, 400, "bad_parameter", err);
    if (!take_token(world, call, &token))
        return fail(call, 410, "token_expired", err);
    part.mode = token.is_full ? VIEW_LIVE : VIEW_ALL;
    part.after = token.after;
    part.last = token.last;
    if (!read_part(world, call, &part, size, &page, err))
        return false;
    call->confirmable = page.count == page.total;
    out = page_begin(call, JSON);
    page_reserve(call, page.count * 2800 + 4096);
    buf_add(out, STR("{\"items\":["));
    page_add_records(world, call, body_form_find(STR("generic")), &page, STR(","));
    add_next(call, &token, &page, world);
    return buf_ok(out, err);
}

bool protocol_feed(struct sim_world *world, struct http_call *call, struct error *err)
{
    if (call->content_fault == CONTENT_FAULT_BODY_ERROR)
        return fail(call, 200, "backend", err);
    return str_ends(call->path, STR("/changes")) ? changes(world, call, err)
                                                 : sync(world, call, err);
}
