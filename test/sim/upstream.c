/* The fake API: finds records by date or number, writes pages, and spoils some responses. */
#include "upstream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/instant.h"
#include "data/date.h"
#include "test.h"

#define HEAD                                                        \
    "source: demo\n"                                                \
    "http: { base_url: https://api.example.org }\n"                 \
    "rate: { per_second: 100, burst: 10 }\n"                        \
    "retry: { max_attempts: 3, min_delay: 100ms, max_delay: 1s }\n" \
    "endpoints:\n"                                                  \
    "  works:\n"                                                    \
    "    role: search\n"                                            \
    "    path: /works\n"                                            \
    "    query:\n"                                                  \
    "      since: \"${epoch(window.from)}\"\n"                      \
    "      until: \"${epoch(window.to)}\"\n"                        \
    "      offset: \"${page.offset}\"\n"                            \
    "      rows: \"${page.size}\"\n"

#define TAIL                                                                              \
    "    response: { items: $.items, id: $.id, updated_at: $.updated, total: $.total }\n" \
    "  work:\n"                                                                           \
    "    role: detail\n"                                                                  \
    "    path: /work\n"                                                                   \
    "    query: { ids: \"${join(ids.list, \\\",\\\")}\" }\n"                              \
    "    batch: { id_batch_size: 10 }\n"                                                  \
    "    response: { items: $.items, id: $.id, updated_at: $.updated }\n"                 \
    "operations:\n"                                                                       \
    "  harvest: { endpoint: works }\n"                                                    \
    "  backfill: { endpoint: works }\n"                                                   \
    "  update: { endpoint: work, staleness: { after: 1d } }\n"

const char UPSTREAM_SOURCE[] = HEAD
    "    page: { type: offset, size: 10, cap: 60 }\n"
    "    window: { key: updated, lag: 10m, max: 1d, min: 1m, start: 2026-01-01T00:00:00Z }\n" TAIL;

const char UPSTREAM_SOURCE_BY_DAY[] =
    HEAD "      least: \"${slice.from}\"\n"
         "      most: \"${slice.last}\"\n"
         "    page: { type: offset, size: 10, cap: 60, id_max: 99999 }\n"
         "    window: { key: updated, lag: 10m, lookback: 1d, max: 1d, min: 1d, align: day,\n"
         "              granularity: day, start: 2026-01-01T00:00:00Z }\n" TAIL;

/* ---- the request ---- */

static int64_t number_in(struct str url, const char *name)
{
    char key[32];
    size_t at;

    (void)snprintf(key, sizeof(key), "%s=", name);
    at = str_find(url, str_of(key));
    return at < url.len ? strtoll(url.data + at + strlen(key), NULL, 10) : 0;
}

/* ---- the response ---- */

struct hit {
    int number;
    int64_t updated_us;
};

static int by_date(const void *left, const void *right)
{
    const struct hit *a = left, *b = right;

    if (a->updated_us != b->updated_us)
        return a->updated_us < b->updated_us ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static size_t find_hits(const struct upstream *api, struct str url, struct hit *hits)
{
    const int64_t since_us = number_in(url, "since") * US_PER_SECOND;
    const int64_t until_us = number_in(url, "until") * US_PER_SECOND;
    const bool has_range = str_find(url, STR("most=")) < url.len;
    const int64_t least = number_in(url, "least"), most = number_in(url, "most");
    size_t count = 0;

    for (int i = 0; i < api->count; i++) {
        const int64_t at_us = api->records[i].updated_us;

        if ((api->ignores_window || (at_us >= since_us && at_us < until_us)) &&
            (!has_range || (i >= least && i <= most)))
            hits[count++] = (struct hit){ i, api->records[i].updated_us };
    }
    if (count > 0)
        qsort(hits, count, sizeof(hits[0]), by_date);
    return count;
}

static void write_record(struct upstream *api, struct buf *out, int number)
{
    char text[INSTANT_TEXT_MAX];

    (void)instant_format(api->records[number].updated_us, text);
    buf_printf(out, "{\"id\":\"r%d\",\"updated\":\"%s\",\"rev\":%d}", number, text,
               api->records[number].revision);
    api->fetched[number]++;
}

static bool is_refused(const struct upstream *api, struct str url)
{
    const int64_t since_us = number_in(url, "since") * US_PER_SECOND;

    return since_us >= api->refused.from_us && since_us < api->refused.to_us;
}

static void reply_page(struct upstream *api, struct arena *arena, struct str url,
                       struct scripted_reply *reply)
{
    struct hit *hits = ARENA_ARRAY(arena, struct hit, API_RECORDS_MAX);
    const size_t count = find_hits(api, url, hits);
    const size_t offset = (size_t)number_in(url, "offset");
    const size_t end = offset + API_PAGE < count ? offset + API_PAGE : count;
    struct buf out;

    if (offset >= API_CAP || is_refused(api, url)) {
        reply->status = 400;
        reply->body = STR("{\"error\":\"refused\"}");
        return;
    }
    buf_init(&out, arena, 1 << 20);
    buf_printf(&out, "{\"total\":%zu,\"items\":[", count);
    for (size_t i = offset; i < end; i++) {
        buf_add(&out, i > offset ? STR(",") : STR(""));
        write_record(api, &out, hits[i].number);
    }
    buf_add(&out, STR("]}"));
    reply->body = buf_str(&out);
}

/* ids=r1%2Cr2: the comma may be encoded or not. */
static void reply_records(struct upstream *api, struct arena *arena, struct str url,
                          struct scripted_reply *reply)
{
    size_t at = str_find(url, STR("ids=")) + strlen("ids=");
    const char *comma = "";
    struct buf out;

    buf_init(&out, arena, 1 << 20);
    buf_add(&out, STR("{\"items\":["));
    for (; at < url.len && url.data[at] != '&'; at++) {
        if (url.data[at] != 'r')
            continue;
        buf_printf(&out, "%s", comma);
        write_record(api, &out, (int)strtol(url.data + at + 1, NULL, 10));
        comma = ",";
    }
    buf_add(&out, STR("]}"));
    reply->body = buf_str(&out);
}

/* Four kinds of failure, and one that looks like none: an empty list in the middle of a walk. (At
 * its beginning it would be indistinguishable from the truth.) */
static void spoil(struct upstream *api, struct str url, struct scripted_reply *reply)
{
    static const struct http_header wait[] = { { STR_INIT("Retry-After"), STR_INIT("2") } };

    switch (random_between(&api->random, 0, 5)) {
    case 0:
        reply->error_code = "http.reset";
        break;
    case 1:
        reply->status = 503;
        break;
    case 2:
        reply->status = 429;
        reply->headers = wait;
        reply->header_count = 1;
        break;
    case 3:
        reply->body.len /= 2;
        break;
    default:
        if (number_in(url, "offset") > 0)
            reply->body = STR("{\"total\":0,\"items\":[]}");
        break;
    }
}

static void reply_wait(const struct upstream *api, struct arena *arena,
                       struct scripted_reply *reply)
{
    struct http_header *wait = ARENA_NEW(arena, struct http_header);

    *wait = (struct http_header){ STR("Retry-After"), arena_printf(arena, "%d", api->wait_s) };
    *reply = (struct scripted_reply){ .status = 503, .headers = wait, .header_count = 1 };
}

static void make(void *context, struct arena *arena, const struct http_request *request,
                 struct scripted_reply *reply)
{
    struct upstream *api = context;

    api->requests++;
    api->watch = request->watch;
    if (api->before != NULL)
        api->before(api->context, api);
    *reply = (struct scripted_reply){ .status = 200, .took_us = 20 * US_PER_MS };
    if (str_find(request->url, STR("ids=")) < request->url.len)
        reply_records(api, arena, request->url, reply);
    else
        reply_page(api, arena, request->url, reply);
    if (api->wait_s > 0)
        reply_wait(api, arena, reply);
    if (random_chance(&api->random, api->fault_percent)) {
        api->spoiled++;
        spoil(api, request->url, reply);
    }
}

/* ---- the whole ---- */

void upstream_init(struct upstream *api, struct virtual_clock *clock, uint64_t seed)
{
    memset(api, 0, sizeof(*api));
    scripted_http_init(&api->http, &clock->clock);
    api->clock = clock;
    api->random.state = seed;
    scripted_http_reply(&api->http,
                        &(struct scripted_reply){ .times = -1, .make = make, .context = api });
}

void upstream_release(struct upstream *api)
{
    scripted_http_release(&api->http);
}

void upstream_change(struct upstream *api, int64_t at_us)
{
    const bool is_new = api->count == 0 || random_chance(&api->random, 70);
    const int number = is_new && api->count < API_RECORDS_MAX
                           ? api->count++
                           : (int)random_between(&api->random, 0, api->count);

    api->records[number].updated_us = at_us - at_us % US_PER_SECOND;
    api->records[number].revision++;
}
