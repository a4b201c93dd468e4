#include "played_source.h"

#include <stdlib.h>

#include "data/url.h"
#include "test.h"

static struct str param(struct arena *arena, const struct http_request *request, const char *name)
{
    const size_t mark = str_find_char(request->url, '?');
    struct str value;

    if (!url_query_find(arena, str_slice(request->url, mark + 1, request->url.len), str_of(name),
                        &value))
        return (struct str){ NULL, 0 };
    return value;
}

static int number(struct arena *arena, const struct http_request *request, const char *name,
                  int preset)
{
    int64_t value;

    return str_to_i64(param(arena, request, name), &value) ? (int)value : preset;
}

/* Dates go down by a minute, from the newest, so that a list can be sorted by them. */
static void add_record(struct buf *out, int index)
{
    const int minute = 24 * 60 - 1 - index % (24 * 60);

    buf_printf(out, "{\"id\":\"r%03d\",\"updated_at\":\"2026-01-01T%02d:%02d:00Z\"}", index,
               minute / 60, minute % 60);
}

static void add_range(struct played *played, struct buf *out, int from, int count, bool ids_only)
{
    for (int i = from; i < from + count && i < played->records; i++) {
        if (i > from)
            buf_add_char(out, ',');
        if (ids_only)
            buf_printf(out, "\"r%03d\"", i);
        else
            add_record(out, i);
    }
}

static void add_total(struct played *played, struct buf *out)
{
    if (played->total >= 0)
        buf_printf(out, ",\"total\":%lld", (long long)played->total);
}

static void serve_list(struct played *played, struct arena *arena,
                       const struct http_request *request, struct buf *out)
{
    int from = number(arena, request, "offset", 0);
    int size = number(arena, request, "limit", number(arena, request, "size", 100));

    if (str_find(request->url, STR("page0")) < request->url.len)
        from = number(arena, request, "page", 0) * size;
    if (played->page_max > 0 && size > played->page_max)
        size = played->page_max;
    if (played->moves)
        from -= played->served - 1;
    buf_add(out, str_find(request->url, STR("/sorted")) < request->url.len ? STR("{\"records\":[")
                                                                           : STR("{\"items\":["));
    add_range(played, out, from > 0 ? from : 0, size, false);
    buf_add_char(out, ']');
    add_total(played, out);
    buf_add_char(out, '}');
}

static void serve_next(struct played *played, struct arena *arena,
                       const struct http_request *request, struct buf *out)
{
    const int size = number(arena, request, "size", 100);
    const int page = number(arena, request, "page", 1);

    buf_add(out, STR("{\"items\":["));
    add_range(played, out, (page - 1) * size, size, false);
    buf_add(out, STR("],\"next\":"));
    if (page * size < played->records)
        buf_printf(out, "\"/generic/next?page=%d&size=%d&api_key=ECHOED\"", page + 1, size);
    else
        buf_add(out, STR("null"));
    add_total(played, out);
    buf_add_char(out, '}');
}

static int json_number(struct str body, const char *name, int preset)
{
    const struct str key = str_of(name);
    const size_t at = str_find(body, key);

    return at < body.len
               ? atoi(body.data + at + key.len + (body.data[at + key.len + 2] == '"' ? 3 : 2))
               : preset;
}

static void serve_token(struct played *played, const struct http_request *request, struct buf *out)
{
    const int size = json_number(request->body, "size", 40);
    const int from = json_number(request->body, "token", 0);

    buf_add(out, STR("{\"items\":["));
    add_range(played, out, from, size, false);
    buf_add(out, STR("],\"nextToken\":"));
    if (from + size < played->records)
        buf_printf(out, "\"%d\"", from + size);
    else
        buf_add(out, STR("null"));
    add_total(played, out);
    buf_add_char(out, '}');
}

static void serve_scroll(struct played *played, struct arena *arena,
                         const struct http_request *request, struct buf *out)
{
    const int size = 20;

    if (str_eq(param(arena, request, "cursor"), STR("*"))) {
        played->scroll_at = 0;
        played->scrolls++;
    }
    buf_add(out, STR("{\"status\":\"ok\",\"message\":{\"next-cursor\":\"SCROLL\",\"items\":["));
    for (int i = played->scroll_at; i < played->scroll_at + size && i < played->records; i++)
        buf_printf(out, "%s{\"DOI\":\"10.1/R%03d\",\"indexed\":{\"timestamp\":1767225600000}}",
                   i > played->scroll_at ? "," : "", i);
    played->scroll_at += size;
    buf_printf(out, "],\"total-results\":%d}}", played->records);
}

static void serve_ids(struct played *played, struct arena *arena,
                      const struct http_request *request, struct buf *out)
{
    buf_add(out, STR("{\"ids\":["));
    add_range(played, out, number(arena, request, "offset", 0), number(arena, request, "limit", 20),
              true);
    buf_add_char(out, ']');
    add_total(played, out);
    buf_add_char(out, '}');
}

static int serve_fetch(struct played *played, struct arena *arena,
                       const struct http_request *request, struct buf *out)
{
    struct str ids = param(arena, request, "ids");
    bool any = false;

    buf_add(out, STR("{\"records\":["));
    while (ids.len > 0) {
        const struct str id = str_cut(&ids, ',');
        const int index = atoi(id.data + 1);

        if (index == played->poison)
            return played->poison_status;
        if (index == played->gone)
            continue;
        if (any)
            buf_add_char(out, ',');
        any = true;
        add_record(out, index);
    }
    buf_add(out, STR("]}"));
    return 200;
}

static void serve_history(struct played *played, struct buf *out)
{
    played->session++;
    buf_printf(out, "{\"ids\":[],\"total\":%d,\"session\":\"S%d\"}", played->records,
               played->session);
}

static void serve_more(struct played *played, struct arena *arena,
                       const struct http_request *request, struct buf *out)
{
    const struct str session = param(arena, request, "session");

    if (played->served == played->session_dies_at || atoi(session.data + 1) != played->session) {
        buf_add(out, STR("{\"gone\":true,\"records\":[]}"));
        return;
    }
    buf_add(out, STR("{\"records\":["));
    add_range(played, out, number(arena, request, "offset", 0), number(arena, request, "limit", 20),
              false);
    buf_add(out, STR("]}"));
}

/* By date, the oldest first: minute m of the day is record 1439 - m. */
static void serve_time(struct played *played, struct arena *arena,
                       const struct http_request *request, struct buf *out)
{
    const struct str from = param(arena, request, "from");
    int left = number(arena, request, "size", 40);

    buf_add(out, STR("{\"items\":["));
    for (int m = atoi(from.data + 11) * 60 + atoi(from.data + 14); m < 24 * 60 && left > 0; m++) {
        if (24 * 60 - 1 - m >= played->records)
            continue;
        add_record(out, 24 * 60 - 1 - m);
        if (--left > 0 && m < 24 * 60 - 1)
            buf_add_char(out, ',');
    }
    buf_add(out, STR("]}"));
}

static bool is_at(const struct http_request *request, const char *path)
{
    return str_find(request->url, str_of(path)) < request->url.len;
}

static void serve(void *context, struct arena *arena, const struct http_request *request,
                  struct scripted_reply *reply)
{
    struct played *played = context;
    struct scripted_reply spoilt = *reply;
    struct buf out;
    int size;

    reply->status = 200;
    spoilt.status = 200;
    played->served++;
    if (played->spoil != NULL && played->spoil(played, played->served, &spoilt)) {
        *reply = spoilt;
        return;
    }
    size = number(arena, request, "limit", number(arena, request, "size", 0));
    if (played->page_cap > 0 && size > played->page_cap) {
        reply->status = 0;
        reply->error_code = "http.too_large";
        return;
    }
    buf_init(&out, arena, 1 << 20);
    if (is_at(request, "/works"))
        serve_scroll(played, arena, request, &out);
    else if (is_at(request, "/generic/next"))
        serve_next(played, arena, request, &out);
    else if (is_at(request, "/generic/token"))
        serve_token(played, request, &out);
    else if (is_at(request, "/generic/time"))
        serve_time(played, arena, request, &out);
    else if (is_at(request, "/ids"))
        serve_ids(played, arena, request, &out);
    else if (is_at(request, "/fetch"))
        reply->status = serve_fetch(played, arena, request, &out);
    else if (is_at(request, "/history"))
        serve_history(played, &out);
    else if (is_at(request, "/more"))
        serve_more(played, arena, request, &out);
    else
        serve_list(played, arena, request, &out);
    reply->body = buf_str(&out);
}

void played_begin(struct played *played, struct rig *rig, const char *file, const char *operation,
                  int records)
{
    *played = (struct played){
        .records = records, .total = records, .poison = -1, .gone = -1, .rig = rig
    };
    rig_init(rig, file, operation, BASE);
    scripted_http_reply(&rig->http,
                        &(struct scripted_reply){ .make = serve, .context = played, .times = -1 });
}

void played_require_complete(const struct played *played, const struct rig *rig, const char *label)
{
    if (rig->failed)
        test_fail(__FILE__, __LINE__, "%s: %s", label, rig->err.text);
    CHECK_STR(str_of(fetch_verdict_name(rig->last.verdict.kind)), STR("complete"), label);
    CHECK_EQ(rig->ids.count, played->records, label);
}
