/* Records, a page at a time. */
#include "serve/record_stream.h"

#include "engine/export/field_reader.h"
#include "view/record.h"

/* A page: so much that a round trip does not matter, so little that a client waits no second. */
enum { PAGE_RECORDS = 500 };
#define PAGE_BYTES ((int64_t)4 << 20)
/* With what is derived of it. */
#define PAGE_ARENA_BYTES ((size_t)64 << 20)

struct record_stream {
    struct web_stream stream; /* first */
    struct api *api;
    struct arena arena; /* of one page */
    struct record_walk walk;
    bool with_fields;
    char endpoint[256]; /* of walk.after: the page that named it is gone */
};

static bool write_line(struct record_stream *mine, struct field_reader *fields, struct buf *out,
                       const struct record_entry *entry, struct error *err)
{
    struct derived_fields derived = { .missing = STR("the record is deleted") };
    struct json_writer w;

    if (mine->with_fields && !entry->is_deleted &&
        !field_reader_read(fields, &mine->arena, entry, &derived, err))
        return false;
    json_writer_init(&w, out);
    view_record_entry_write(&w, entry, mine->with_fields ? &derived : NULL);
    buf_add_char(out, '\n');
    return true;
}

static bool write_page(struct record_stream *mine, struct store *store,
                       const struct record_entry_list *page, struct buf *out, struct error *err)
{
    const struct api_settings *settings = api_settings(mine->api);
    struct field_reader fields = { 0 };
    bool ok =
        !mine->with_fields ||
        field_reader_open(&fields,
                          &(struct field_reader_request){ .store = store,
                                                          .source = mine->walk.source,
                                                          .now_us = clock_now_us(settings->clock),
                                                          .specs = settings->specs },
                          err);

    for (size_t i = 0; ok && i < page->count; i++)
        ok = write_line(mine, &fields, out, &page->items[i], err);
    field_reader_close(&fields);
    return ok;
}

/* The next page begins after the last record of this one. */
static bool remember(struct record_stream *mine, const struct record_entry *last, struct error *err)
{
    if (last->endpoint.len >= sizeof(mine->endpoint))
        return error_set(err, ERROR_DATA, "record.endpoint", "the name of an endpoint is too long");
    for (size_t i = 0; i < last->endpoint.len; i++)
        mine->endpoint[i] = last->endpoint.data[i];
    mine->walk.after = (struct record_place){ { mine->endpoint, last->endpoint.len }, last->id };
    return true;
}

static bool more(struct web_stream *stream, int seat, struct buf *out, bool *is_end,
                 struct error *err)
{
    struct record_stream *mine = (struct record_stream *)stream;
    struct record_entry_list page;
    struct store *store;

    arena_reset(&mine->arena);
    if (!api_seat_store(mine->api, seat, &store, err))
        return false;
    if (!store_record_walk(store, &mine->arena, &mine->walk, &page, err) ||
        !write_page(mine, store, &page, out, err)) {
        api_seat_failed(mine->api, seat, err);
        return false;
    }
    *is_end = page.is_end || page.count == 0;
    return *is_end || remember(mine, &page.items[page.count - 1], err);
}

static void close_stream(struct web_stream *stream)
{
    struct record_stream *mine = (struct record_stream *)stream;

    arena_release(&mine->arena); /* mine itself is in the request's arena */
}

bool record_stream_open(struct call *call, const struct record_walk *walk, bool with_fields,
                        struct error *err)
{
    struct record_stream *mine = ARENA_NEW(call->reader.arena, struct record_stream);

    if (mine == NULL)
        return arena_error(call->reader.arena, err);
    *mine = (struct record_stream){ .stream = { more, close_stream },
                                    .api = call->api,
                                    .walk = *walk,
                                    .with_fields = with_fields };
    mine->walk.limit = PAGE_RECORDS;
    mine->walk.bytes_max = PAGE_BYTES;
    mine->walk.with_payload = with_fields;
    arena_init(&mine->arena, PAGE_ARENA_BYTES);
    call->response->stream = &mine->stream;
    return true;
}
