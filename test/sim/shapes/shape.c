/* Sources by chance: what they are like, and their files. */
#include "shape.h"

#include <stdio.h>

#include "test.h"

/* ---- chance ---- */

static bool is_in_header(enum need_paging paging)
{
    return paging == NEED_TOKEN_HEADER || paging == NEED_LINK;
}

static bool is_by_date(enum need_paging paging)
{
    return paging == NEED_TIME || paging == NEED_SINCE;
}

static bool has_next_in_body(enum need_paging paging)
{
    return paging == NEED_TOKEN || paging == NEED_URL;
}

static bool has_next(enum need_paging paging)
{
    return has_next_in_body(paging) || is_in_header(paging);
}

/* A page without its list still has something that the source declares. */
static bool shows_page(const struct shape *shape)
{
    return (shape->has_total && !shape->total_first_only) || shape->has_more ||
           (has_next_in_body(shape->paging) && shape->end != END_ABSENT);
}

static void choose_body(struct shape *shape, struct random *random)
{
    const bool may_be_bare = !has_next_in_body(shape->paging) && !shape->is_xml;

    shape->depth = random_chance(random, 35) ? 2 : 1;
    if (may_be_bare && random_chance(random, 30))
        shape->depth = 0;
    shape->has_total = shape->depth > 0 && !is_by_date(shape->paging) && random_chance(random, 60);
    shape->total_first_only = shape->has_total && random_chance(random, 20);
    shape->has_more = shape->depth > 0 && !is_by_date(shape->paging) &&
                      !is_in_header(shape->paging) && shape->paging != NEED_SINGLE &&
                      random_chance(random, 25);
    shape->end = is_in_header(shape->paging)
                     ? END_ABSENT
                     : (enum shape_end)random_between(random, 0, SHAPE_ENDS);
    shape->omits_empty_list = shows_page(shape) && random_chance(random, 25);
}

void shape_random(struct shape *shape, struct random *random)
{
    *shape = (struct shape){ .paging = (enum need_paging)random_between(random, 0, NEED_PAGINGS) };
    shape->is_xml = random_chance(random, 35);
    shape->has_space = shape->is_xml && random_chance(random, 60);
    choose_body(shape, random);
    shape->has_dates = random_chance(random, 75) || is_by_date(shape->paging);
    shape->two_phases = !is_by_date(shape->paging) && random_chance(random, 20);
    shape->bare_ids = shape->two_phases && random_chance(random, 40);
    shape->number_ids = random_chance(random, 30);
    shape->has_error_rule = random_chance(random, 50);
    shape->size = (int)random_between(random, 4, 9);
    shape->id_batch = (int)random_between(random, 3, 12);
    shape->is_wild = !shape->is_xml && (shape->size + shape->id_batch) % 3 == 0;
}

/* ---- paths ---- */

/* "$.total" or "/n:reply/n:total". */
static struct str root_path(const struct shape *shape, struct arena *arena, const char *name)
{
    const char *prefix = shape->has_space ? "n:" : "";

    if (shape->is_xml)
        return arena_printf(arena, "/%sreply/%s%s", prefix, prefix, name);
    return arena_printf(arena, "$.%s", name);
}

static struct str item_path(const struct shape *shape, struct arena *arena, const char *name)
{
    if (shape->is_xml)
        return arena_printf(arena, "%s%s", shape->has_space ? "n:" : "", name);
    return arena_printf(arena, "$.%s", name);
}

static struct str list_path(const struct shape *shape, struct arena *arena, int depth)
{
    const char *n = shape->has_space ? "n:" : "";

    if (shape->is_xml)
        return depth == 2 ? arena_printf(arena, "/%sreply/%sdata/%sitems/%sitem", n, n, n, n)
                          : arena_printf(arena, "/%sreply/%sitems/%sitem", n, n, n);
    return arena_printf(arena, "%s%s",
                        depth == 0   ? "$"
                        : depth == 1 ? "$.items"
                                     : "$.data.items",
                        shape->is_wild ? "[*]" : "");
}

/* ---- the file ---- */

static void write_query(const struct shape *shape, struct buf *out)
{
    static const char *const pages[NEED_PAGINGS] = {
        [NEED_OFFSET] = "      offset: \"${page.offset}\"\n",
        [NEED_PAGE0] = "      page: \"${page.no}\"\n",
        [NEED_PAGE1] = "      page: \"${page.no}\"\n",
        [NEED_TOKEN] = "      token: \"${page.token}\"\n",
    };

    buf_add(out, STR("    query:\n      since: \"${epoch(window.from)}\"\n"));
    if (shape->paging != NEED_SINCE)
        buf_add(out, STR("      until: \"${epoch(window.to)}\"\n"));
    if (shape->paging != NEED_SINGLE)
        buf_add(out, STR("      rows: \"${page.size}\"\n"));
    if (pages[shape->paging] != NULL)
        buf_add(out, str_of(pages[shape->paging]));
    if (shape->paging == NEED_TOKEN_HEADER)
        buf_add(out, STR("    headers: { X-Token: \"${page.token}\" }\n"));
}

static void write_page(const struct shape *shape, struct arena *arena, struct buf *out)
{
    static const char *const types[NEED_PAGINGS] = {
        [NEED_OFFSET] = "type: offset",
        [NEED_PAGE0] = "type: page, base: 0",
        [NEED_PAGE1] = "type: page, base: 1",
        [NEED_TOKEN] = "type: token",
        [NEED_TOKEN_HEADER] = "type: token, next_header: X-Next",
        [NEED_URL] = "type: url",
        [NEED_LINK] = "type: url, next_header: Link",
        [NEED_TIME] = "type: time, order_by: updated asc",
        [NEED_SINCE] = "type: time, order_by: updated asc",
        [NEED_SINGLE] = "type: single",
    };

    buf_printf(out, "    page: { %s", types[shape->paging]);
    if (shape->paging != NEED_SINGLE)
        buf_printf(out, ", size: %d", shape->size);
    if (is_by_date(shape->paging))
        buf_printf(out, ", size_max: 100");
    if (has_next_in_body(shape->paging))
        buf_printf(out, ", next: %.*s", STR_ARG(root_path(shape, arena, "next")));
    buf_add(out, STR(" }\n"));
    buf_printf(out,
               "    window: { key: updated, lag: 1m, max: 12h, min: 1m%s,"
               " start: 2026-01-01T00:00:00Z }\n",
               shape->paging == NEED_SINCE ? ", client_filter: true" : "");
}

static void write_absent(const struct shape *shape, struct buf *out)
{
    const char *comma = "";

    if (!shape->total_first_only && !shape->omits_empty_list &&
        (shape->end != END_ABSENT || !has_next(shape->paging)))
        return;
    buf_add(out, STR("      may_be_absent: ["));
    if (shape->total_first_only) {
        buf_add(out, STR("total"));
        comma = ", ";
    }
    if (shape->end == END_ABSENT && has_next(shape->paging)) {
        buf_printf(out, "%snext", comma);
        comma = ", ";
    }
    if (shape->omits_empty_list)
        buf_printf(out, "%sitems", comma);
    buf_add(out, STR("]\n"));
}

static void write_format(const struct shape *shape, struct buf *out)
{
    buf_add(out, STR("    response:\n"));
    if (shape->is_xml)
        buf_add(out, STR("      format: xml\n"));
    if (shape->has_space)
        buf_add(out, STR("      namespaces: { n: \"" SHAPE_SPACE "\" }\n"));
}

static void write_item(const struct shape *shape, struct arena *arena, struct buf *out)
{
    buf_printf(out, "      id: %.*s\n", STR_ARG(item_path(shape, arena, "id")));
    if (shape->has_dates)
        buf_printf(out, "      updated_at: %.*s\n", STR_ARG(item_path(shape, arena, "updated")));
}

static void write_response(const struct shape *shape, struct arena *arena, struct buf *out)
{
    write_format(shape, out);
    buf_printf(out, "      items: %.*s\n", STR_ARG(list_path(shape, arena, shape->depth)));
    if (!shape->two_phases)
        write_item(shape, arena, out);
    else if (shape->bare_ids)
        buf_printf(out, "      id: %s\n", shape->is_xml ? "." : "$");
    else
        buf_printf(out, "      id: %.*s\n", STR_ARG(item_path(shape, arena, "id")));
    if (shape->has_total)
        buf_printf(out, "      total: %.*s\n", STR_ARG(root_path(shape, arena, "total")));
    if (shape->has_more)
        buf_printf(out, "      has_more: %.*s\n", STR_ARG(root_path(shape, arena, "more")));
    write_absent(shape, out);
    if (shape->has_error_rule)
        buf_printf(out, "      error_when: [ { path: %.*s, level: L1, code: backend } ]\n",
                   STR_ARG(root_path(shape, arena, "error")));
}

static void write_details(const struct shape *shape, struct arena *arena, struct buf *out)
{
    buf_add(out, STR("    details: { endpoint: record }\n"
                     "  record:\n"
                     "    role: detail\n"
                     "    path: /record\n"
                     "    query: { ids: \"${join(ids.list, \\\",\\\")}\" }\n"
                     "    page: { type: single }\n"));
    buf_printf(out, "    batch: { id_batch_size: %d }\n", shape->id_batch);
    write_format(shape, out);
    buf_printf(out, "      items: %.*s\n", STR_ARG(list_path(shape, arena, 1)));
    write_item(shape, arena, out);
}

struct str shape_source(const struct shape *shape, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena, 1 << 16);
    buf_add(&out, STR("source: demo\n"
                      "http: { base_url: https://api.example.org }\n"
                      "rate: { per_second: 1000, burst: 1000 }\n"
                      "retry: { max_attempts: 3, min_delay: 100ms, max_delay: 1s }\n"
                      "endpoints:\n"
                      "  list:\n"
                      "    role: search\n"
                      "    path: /list\n"));
    write_query(shape, &out);
    write_page(shape, arena, &out);
    write_response(shape, arena, &out);
    if (shape->two_phases)
        write_details(shape, arena, &out);
    buf_add(&out, STR("operations:\n  harvest: { endpoint: list }\n"));
    return buf_str(&out);
}

const char *shape_endpoint(const struct shape *shape)
{
    return shape->two_phases ? "record" : "list";
}

struct str shape_describe(const struct shape *shape, struct arena *arena)
{
    static const char *const ends[] = { "null", "absent", "empty" };

    return arena_printf(
        arena, "%s %s%s, list at depth %d%s, pages of %d%s%s%s%s%s%s%s%s%s%s",
        need_paging_name(shape->paging), shape->is_xml ? "xml" : "json",
        shape->has_space ? " with a namespace" : "", shape->depth,
        shape->is_wild ? " by a wildcard" : "", shape->size, shape->has_total ? ", total" : "",
        shape->total_first_only ? " on the first page" : "", shape->has_more ? ", has_more" : "",
        has_next_in_body(shape->paging) ? ", ends by next " : "",
        has_next_in_body(shape->paging) ? ends[shape->end] : "",
        shape->omits_empty_list ? ", no empty list" : "", shape->has_dates ? ", dates" : "",
        shape->two_phases ? ", two phases" : "", shape->bare_ids ? " bare" : "",
        shape->has_error_rule ? ", error rule" : "");
}

/* ---- what it needs ---- */

int64_t shape_need(const struct shape_api *api, const struct window *windows, size_t count)
{
    const struct shape *shape = api->shape;
    int64_t need = 0;

    for (size_t w = 0; w < count; w++) {
        struct page_need slice = { .paging = shape->paging,
                                   .size = shape->size,
                                   .shows_end = shape->has_total || shape->has_more ||
                                                has_next(shape->paging),
                                   .id_batch = shape->two_phases ? shape->id_batch : 0 };

        for (int i = 0; i < api->count; i++)
            slice.records += api->records[i].updated_us >= windows[w].from_us &&
                             api->records[i].updated_us < windows[w].to_us;
        need += page_need(&slice);
    }
    return need;
}
