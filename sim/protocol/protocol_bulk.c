/* Files of many records, as providers offer them for a first copy:
 *
 *      /generic/bulk/records.ndjson        a record on each line, tombstones too
 *      /generic/bulk/records.ndjson.gz     the same, packed
 *      /generic/bulk/part-2-of-5.ndjson.gz the second fifth of them
 *      /generic/bulk/articles.xml.gz       PubMed's articles, in a PubmedArticleSet
 *
 * A file is what there is at the time of the request: with another time, its content, ETag and
 * Last-Modified are others. The rest of a file is served by Range and If-Range; ?range=off: it is
 * not, ?tag=off: there is no ETag, ?date=off: no Last-Modified.
 */
#include "sim/protocol/protocol.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/http/gzip.h"
#include "sim/http/http_date.h"
#include "sim/protocol/body.h"
#include "sim/protocol/page.h"
#include "sim/util/hash.h"

enum { RECORDS_AT_ONCE = 1000, GZIP_LEVEL = 6, CHUNK_BYTES_MAX = 64 << 20 };

struct bulk {
    struct str name;
    bool is_packed;
    bool is_xml;
    size_t part; /* from 1 */
    size_t parts;
};

/* "part-2-of-5" */
static bool take_part(struct str stem, struct bulk *bulk)
{
    int64_t part, parts;
    struct str rest;

    bulk->part = bulk->parts = 1;
    if (str_eq(stem, bulk->is_xml ? STR("articles") : STR("records")))
        return true;
    if (!str_starts(stem, STR("part-")))
        return false;
    rest = str_slice(stem, 5, stem.len);
    if (!str_to_i64(str_cut(&rest, '-'), &part) || !str_starts(rest, STR("of-")) ||
        !str_to_i64(str_slice(rest, 3, rest.len), &parts) || part < 1 || part > parts)
        return false;
    bulk->part = (size_t)part;
    bulk->parts = (size_t)parts;
    return true;
}

static bool take_name(struct str name, struct bulk *bulk)
{
    struct str stem = name;

    *bulk = (struct bulk){ .name = name };
    if (stem.len > 3 && str_eq(str_slice(stem, stem.len - 3, stem.len), STR(".gz"))) {
        bulk->is_packed = true;
        stem = str_slice(stem, 0, stem.len - 3);
    }
    if (stem.len > 4 && str_eq(str_slice(stem, stem.len - 4, stem.len), STR(".xml"))) {
        bulk->is_xml = true;
        return take_part(str_slice(stem, 0, stem.len - 4), bulk);
    }
    return stem.len > 7 && str_eq(str_slice(stem, stem.len - 7, stem.len), STR(".ndjson")) &&
           take_part(str_slice(stem, 0, stem.len - 7), bulk);
}

/* ---- making a file ---- */

static void add_records(struct sim_world *world, const struct bulk *bulk,
                        const struct world_page *page, struct buf *out)
{
    const struct body_form *form = body_form_find(bulk->is_xml ? STR("pubmed") : STR("generic"));

    for (size_t i = 0; i < page->count; i++) {
        body_write(form, world, out, page->hits[i].version, FLAW_NONE);
        buf_add_char(out, '\n');
    }
}

/* The records from `skip` on, at most so many; *count: how many these are. */
static bool make_chunk(struct world_at at, const struct bulk *bulk, struct world_part part,
                       struct buf *out, size_t *count, struct error *err)
{
    const struct view_query query =
        view_query_all(ORDER_CREATED, bulk->is_xml ? VIEW_LIVE : VIEW_ALL);
    struct world_page page;

    if (!world_page(at, &query, part, &page, err))
        return false;
    *count = page.count;
    add_records(at.world, bulk, &page, out);
    return buf_ok(out, err);
}

static bool count_records(struct world_at at, const struct bulk *bulk, size_t *total,
                          struct error *err)
{
    const struct view_query query =
        view_query_all(ORDER_CREATED, bulk->is_xml ? VIEW_LIVE : VIEW_ALL);
    struct world_page page;

    if (!world_page(at, &query, (struct world_part){ 0, 1 }, &page, err))
        return false;
    *total = page.total;
    return true;
}

static bool write_all(struct world_at at, const struct bulk *bulk, struct gzip_out *file,
                      struct error *err)
{
    struct arena arena;
    struct buf out;
    size_t total = 0, count = 0;
    bool ok = count_records(at, bulk, &total, err);
    size_t skip = total * (bulk->part - 1) / bulk->parts;
    const size_t end = total * bulk->part / bulk->parts;

    arena_init(&arena, 2 * (size_t)CHUNK_BYTES_MAX);
    at.arena = &arena;
    ok = ok &&
         (!bulk->is_xml || gzip_out_add(file, STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                                  "<PubmedArticleSet>\n")));
    for (; ok && skip < end; skip += count) {
        const size_t most = end - skip < RECORDS_AT_ONCE ? end - skip : RECORDS_AT_ONCE;

        arena_reset(&arena);
        buf_init(&out, &arena, CHUNK_BYTES_MAX);
        ok = make_chunk(at, bulk, (struct world_part){ skip, most }, &out, &count, err) &&
             count > 0 && gzip_out_add(file, buf_str(&out));
    }
    ok = ok && (!bulk->is_xml || gzip_out_add(file, STR("</PubmedArticleSet>\n")));
    arena_release(&arena);
    return ok || error_set(err, ERROR_FATAL, "sim.memory", "no memory for a file");
}

static bool find_or_make(struct world_at at, const struct bulk *bulk, struct str *bytes,
                         struct error *err)
{
    struct gzip_out file;
    bool ok;

    if (world_file(at, bulk->name, bytes))
        return true;
    ok = gzip_out_open(&file, bulk->is_packed ? GZIP_LEVEL : 0) && write_all(at, bulk, &file, err);
    ok = gzip_out_end(&file) && ok;
    if (ok && world_file_keep(at, bulk->name, file.bytes, file.len))
        return world_file(at, bulk->name, bytes);
    free(file.bytes);
    return error_set(err, ERROR_FATAL, "sim.memory", "no memory for a file");
}

/* ---- serving it ---- */

static bool is_off(const struct http_call *call, struct str name)
{
    return str_eq(call_param(call, name), STR("off"));
}

/* The bytes from `from` on, if the client wants these and its file is still this one. */
static bool take_range(const struct http_call *call, struct str etag, struct str date,
                       int64_t *from)
{
    const struct str range = call_header(call, STR("Range"));
    const struct str when = call_header(call, STR("If-Range"));
    struct str text;

    if (is_off(call, STR("range")) || !str_starts(range, STR("bytes=")) ||
        range.data[range.len - 1] != '-')
        return false;
    text = str_slice(range, 6, range.len - 1);
    return (when.len == 0 || str_eq(when, etag) || str_eq(when, date)) && str_to_i64(text, from) &&
           *from >= 0;
}

static void serve(struct http_call *call, struct str bytes, bool has_range, int64_t from)
{
    if (!has_range) {
        call->status = 200;
        call->fixed = bytes;
        return;
    }
    if (from >= (int64_t)bytes.len) {
        call_respond(call, 416, STR("text/plain"), STR("no such range"));
        call_add_header(call, STR("Content-Range"),
                        arena_printf(call->arena, "bytes */%zu", bytes.len));
        return;
    }
    call->status = 206;
    call->fixed = str_slice(bytes, (size_t)from, bytes.len);
    call_add_header(
        call, STR("Content-Range"),
        arena_printf(call->arena, "bytes %" PRId64 "-%zu/%zu", from, bytes.len - 1, bytes.len));
}

bool protocol_bulk(struct sim_world *world, struct http_call *call, struct str name,
                   struct error *err)
{
    char text[HTTP_DATE_TEXT_MAX];
    const struct str date = arena_copy(call->arena, sim_http_date_write(call->now_us, text));
    struct bulk bulk;
    struct str bytes, etag;
    int64_t from = 0;
    bool has_range;

    call->page = PAGE_NONE;
    if (!take_name(name, &bulk)) {
        call_respond(call, 404, STR("text/plain"), STR("there is no such file\n"));
        return true;
    }
    (void)page_begin(call, bulk.is_packed ? STR("application/gzip")
                           : bulk.is_xml  ? STR("application/xml")
                                          : STR("application/x-ndjson"));
    if (!find_or_make((struct world_at){ world, call->arena, call->now_us }, &bulk, &bytes, err))
        return false;
    etag = arena_printf(call->arena, "\"%016" PRIx64 "\"",
                        hash_mix((uint64_t)call->now_us ^ bytes.len));
    has_range = take_range(call, is_off(call, STR("tag")) ? STR("") : etag, date, &from);
    serve(call, bytes, has_range, from);
    if (!is_off(call, STR("range")))
        call_add_header(call, STR("Accept-Ranges"), STR("bytes"));
    if (!is_off(call, STR("tag")))
        call_add_header(call, STR("ETag"), etag);
    if (!is_off(call, STR("date")))
        call_add_header(call, STR("Last-Modified"), date);
    return true;
}
