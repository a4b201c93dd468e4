/* Responses for every way of paging, made of a number of records. */
#include "fake_source.h"

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
static void add_record_of(struct buf *out, int index, int minute)
{
    buf_printf(out, "{\"id\":\"r%03d\",\"updated_at\":\"2026-01-01T%02d:%02d:00Z\"}", index,
               minute / 60, minute % 60);
}

static void add_record(struct buf *out, int index)
{
    add_record_of(out, index, 24 * 60 - 1 - index % (24 * 60));
}

static void add_range(struct fake_source *fake, struct buf *out, int from, int count, bool ids_only)
{
    for (int i = from; i < from + count && i < fake->records; i++) {
        if (i > from)
            buf_add_char(out, ',');
        if (ids_only)
            buf_printf(out, "\"r%03d\"", i);
        else
            add_record(out, i);
    }
}

static void add_total(struct fake_source *fake, struct buf *out)
{
    if (fake->total >= 0)
        buf_printf(out, ",\"total\":%lld", (long long)fake->total);
}

static void serve_list(struct fake_source *fake, struct arena *arena,
                       const struct http_request *request, struct buf *out)
{
    int from = number(arena, request, "offset", 0);
    int size = number(arena, request, "limit", number(arena, request, "size", 100));

    if (str_find(request->url, STR("page0")) < request->url.len)
        from = number(arena, request, "page", 0) * size;
    if (fake->page_max > 0 && size > fake->page_max)
        size = fake->page_max;
    if (fake->sticks && from >= fake->records)
        from = (fake->records - 1) / size * size;
    if (fake->moves)
        from -= fake->served - 1;
    buf_add(out, str_find(request->url, STR("/sorted")) < request->url.len ? STR("{\"records\":[")
                                                                           : STR("{\"items\":["));
    add_range(fake, out, from > 0 ? from : 0, size, false);
    buf_add_char(out, ']');
    add_total(fake, out);
    buf_add_char(out, '}');
}

static void serve_next(struct fake_source *fake, struct arena *arena,
                       const struct http_request *request, struct buf *out)
{
    const int size = number(arena, request, "size", 100);
    const int page = number(arena, request, "page", 1);

    buf_add(out, STR("{\"items\":["));
    add_range(fake, out, (page - 1) * size, size, false);
    buf_add(out, STR("],\"next\":"));
    if (page * size < fake->records)
        buf_printf(out, "\"/generic/next?page=%d&size=%d&api_key=ECHOED\"", page + 1, size);
    else
        buf_add(out, STR("null"));
    add_total(fake, out);
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

static void serve_token(struct fake_source *fake, const struct http_request *request,
                        struct buf *out)
{
    const int size = json_number(request->body, "size", 40);
    const int from = json_number(request->body, "token", 0);

    buf_add(out, STR("{\"items\":["));
    add_range(fake, out, from, size, false);
    buf_add(out, STR("],\"nextToken\":"));
    if (from + size < fake->records)
        buf_printf(out, "\"%d\"", from + size);
    else
        buf_add(out, STR("null"));
    add_total(fake, out);
    buf_add_char(out, '}');
}

static void serve_scroll(struct fake_source *fake, struct arena *arena,
                         const struct http_request *request, struct buf *out)
{
    const int size = 20;

    if (str_eq(param(arena, request, "cursor"), STR("*"))) {
        fake->scroll_at = 0;
        fake->scrolls++;
    }
    buf_add(out, STR("{\"status\":\"ok\",\"message\":{\"next-cursor\":\"SCROLL\",\"items\":["));
    for (int i = fake->scroll_at; i < fake->scroll_at + size && i < fake->records; i++)
        buf_printf(out, "%s{\"DOI\":\"10.1/R%03d\",\"indexed\":{\"timestamp\":1767225600000}}",
                   i > fake->scroll_at ? "," : "", i);
    fake->scroll_at += size;
    buf_printf(out, "],\"total-results\":%d}}", fake->records);
}

static void serve_ids(struct fake_source *fake, struct arena *arena,
                      const struct http_request *request, struct buf *out)
{
    buf_add(out, STR("{\"ids\":["));
    add_range(fake, out, number(arena, request, "offset", 0), number(arena, request, "limit", 20),
              true);
    buf_add_char(out, ']');
    add_total(fake, out);
    buf_add_char(out, '}');
}

static int serve_fetch(struct fake_source *fake, struct arena *arena,
                       const struct http_request *request, struct buf *out)
{
    struct str ids = param(arena, request, "ids");
    bool any = false;

    buf_add(out, STR("{\"records\":["));
    while (ids.len > 0) {
        const struct str id = str_cut(&ids, ',');
        const int index = atoi(id.data + 1);

        if (index == fake->poison)
            return fake->poison_status;
        if (index == fake->gone)
            continue;
        if (any)
            buf_add_char(out, ',');
        any = true;
        add_record(out, index);
    }
    buf_add(out, STR("]}"));
    return 200;
}

static void serve_history(struct fake_source *fake, struct buf *out)
{
    fake->session++;
    buf_printf(out, "{\"ids\":[],\"total\":%d,\"session\":\"S%d\"}", fake->records, fake->session);
}

static void serve_more(struct fake_source *fake, struct arena *arena,
                       const struct http_request *request, struct buf *out)
{
    const struct str session = param(arena, request, "session");

    if (fake->served == fake->session_dies_at || atoi(session.data + 1) != fake->session) {
        buf_add(out, STR("{\"gone\":true,\"records\":[]}"));
        return;
    }
    buf_add(out, STR("{\"records\":["));
    add_range(fake, out, number(arena, request, "offset", 0), number(arena, request, "limit", 20),
              false);
    buf_add(out, STR("]}"));
}

/* The first minute of the day from this date on, or after it; a date before the day is the day's
 * beginning. */
static int minute_from(struct str from, bool is_exclusive)
{
    const struct str day = STR("2026-01-01T");
    int minute;

    if (!str_starts(from, day))
        return str_starts(from, STR("2025")) ? 0 : 24 * 60;
    minute = atoi(from.data + 11) * 60 + atoi(from.data + 14);
    if (is_exclusive)
        return minute + 1;
    for (size_t i = day.len + strlen("00:00"); i < from.len; i++) {
        if (from.data[i] >= '1' && from.data[i] <= '9')
            return minute + 1;
    }
    return minute;
}

/* By date, the oldest first: minute m of the day is record 1439 - m, or as many records as share
 * it. */
static void serve_time(struct fake_source *fake, struct arena *arena,
                       const struct http_request *request, struct buf *out)
{
    const struct str from = param(arena, request, "from");
    const int per_minute = fake->per_minute > 0 ? fake->per_minute : 1;
    int left = number(arena, request, "size", 40);
    const int minute = minute_from(from, fake->is_exclusive);
    const char *comma = "";

    if (fake->page_max > 0 && left > fake->page_max)
        left = fake->page_max;
    buf_add(out, STR("{\"items\":["));
    for (int i = minute * per_minute; i < 24 * 60 * per_minute && left > 0; i++) {
        const int index = 24 * 60 * per_minute - 1 - i;

        if (index >= fake->records)
            continue;
        buf_add(out, str_of(comma));
        add_record_of(out, index, i / per_minute);
        comma = ",";
        left--;
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
    struct fake_source *fake = context;
    struct scripted_reply spoilt = *reply;
    struct buf out;
    int size;

    reply->status = 200;
    spoilt.status = 200;
    fake->served++;
    if (fake->spoil != NULL && fake->spoil(fake, fake->served, &spoilt)) {
        *reply = spoilt;
        return;
    }
    size = number(arena, request, "limit", number(arena, request, "size", 0));
    if (fake->page_cap > 0 && size > fake->page_cap) {
        reply->status = 0;
        reply->error_code = "http.too_large";
        return;
    }
    reply->took_us = fake->took_us;
    buf_init(&out, arena, 16 << 20);
    if (is_at(request, "/works"))
        serve_scroll(fake, arena, request, &out);
    else if (is_at(request, "/generic/next"))
        serve_next(fake, arena, request, &out);
    else if (is_at(request, "/generic/token"))
        serve_token(fake, request, &out);
    else if (is_at(request, "/generic/time"))
        serve_time(fake, arena, request, &out);
    else if (is_at(request, "/ids"))
        serve_ids(fake, arena, request, &out);
    else if (is_at(request, "/fetch"))
        reply->status = serve_fetch(fake, arena, request, &out);
    else if (is_at(request, "/history"))
        serve_history(fake, &out);
    else if (is_at(request, "/more"))
        serve_more(fake, arena, request, &out);
    else
        serve_list(fake, arena, request, &out);
    for (int64_t i = 0; i < fake->padding * size; i++)
        buf_add_char(&out, ' ');
    reply->body = buf_str(&out);
    if (fake->served == 1 && fake->kept < reply->body.len && fake->kept > 0)
        reply->body.len = fake->kept;
    else if (fake->served == 1)
        fake->kept = 0;
}

void fake_source_begin(struct fake_source *fake, struct rig *rig, const char *file,
                       const char *operation, int records)
{
    *fake = (struct fake_source){
        .records = records, .total = records, .poison = -1, .gone = -1, .rig = rig
    };
    rig_init(rig, file, operation, BASE);
    scripted_http_reply(&rig->http,
                        &(struct scripted_reply){ .make = serve, .context = fake, .times = -1 });
}

void fake_source_require_complete(const struct fake_source *fake, const struct rig *rig,
                                  const char *label)
{
    if (rig->failed)
        test_fail(__FILE__, __LINE__, "%s: %s", label, rig->err.text);
    CHECK_STR(str_of(fetch_verdict_name(rig->last.verdict.kind)), STR("complete"), label);
    CHECK_EQ(rig->ids.count, fake->records, label);
}
