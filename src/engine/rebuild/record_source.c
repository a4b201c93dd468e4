/* Walks the records of the aggregates that a projection shows. */
#include "engine/rebuild/record_source.h"

#include "data/json_write.h"
#include "engine/export/field_reader.h"
#include "port/store_record_read.h"

enum { PAGE_RECORDS = 1000, PAGE_BYTES = 16 << 20, EVENT_BYTES = 16 << 20 };

/* ---- whose records ---- */

static bool is_record_pattern(struct arena *arena, const struct rebuild_request *request,
                              struct str pattern)
{
    struct str rest = pattern;
    const struct field_reader_request open = { .store = request->store,
                                               .source = str_cut(&rest, '/'),
                                               .now_us = clock_now_us(request->clock),
                                               .specs = request->specs };
    struct field_reader reader = { 0 };
    struct error ignored;
    bool ok;

    (void)arena;
    if (str_find_char(pattern, '/') == pattern.len)
        return false;
    ok = field_reader_open(&reader, &open, &ignored);
    field_reader_close(&reader);
    return ok;
}

bool record_source_check(struct arena *arena, const struct rebuild_request *request,
                         struct error *err)
{
    for (size_t t = 0; t < request->spec->table_count; t++) {
        const struct projection_table *table = &request->spec->tables[t];

        for (size_t s = 0; s < table->source_count; s++) {
            for (size_t a = 0; a < table->sources[s].aggregate_count; a++) {
                const struct str pattern = table->sources[s].aggregates[a];

                if (!is_record_pattern(arena, request, pattern))
                    return error_set(err, ERROR_REQUEST, "rebuild.pruned",
                                     "early events were removed from the stream, and %.*s has no "
                                     "records to rebuild from",
                                     STR_ARG(pattern));
            }
        }
    }
    return true;
}

/* The next source and endpoint with records that the projection shows; false: there is none. */
static bool next_home(const struct rebuild_request *request, const struct record_count_list *homes,
                      struct arena *arena, const struct rebuild_state *state, size_t *at,
                      bool *is_same)
{
    for (size_t i = 0; i < homes->count; i++) {
        const struct record_count *home = &homes->items[i];
        const int by_source = str_cmp(home->source, state->source);
        const int order = by_source != 0 ? by_source : str_cmp(home->endpoint, state->endpoint);

        if (order < 0 ||
            !projection_has(request->spec, arena_printf(arena, "%.*s/%.*s", STR_ARG(home->source),
                                                        STR_ARG(home->endpoint))))
            continue;
        *at = i;
        *is_same = order == 0;
        return true;
    }
    return false;
}

/* ---- records as events ---- */

static bool make_body(struct arena *arena, struct str source, const struct record_entry *entry,
                      const struct derived_fields *fields, struct str *body, struct error *err)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, arena, EVENT_BYTES);
    json_writer_init(&w, &out);
    json_write_object(&w);
    json_write_member_str(&w, STR("eventType"),
                          entry->is_deleted ? PROJECTION_DELETED : STR("RecordUpdated"));
    json_write_member_str(&w, STR("source"), source);
    json_write_member_str(&w, STR("endpoint"), entry->endpoint);
    json_write_member_str(&w, STR("id"), entry->provider_id);
    json_write_member_i64(&w, STR("version"), entry->version);
    if (entry->has_updated)
        json_write_member_instant(&w, STR("updatedAt"), entry->updated_us);
    if (entry->provider_version.len > 0)
        json_write_member_str(&w, STR("providerVersion"), entry->provider_version);
    json_write_member_bool(&w, STR("deleted"), entry->is_deleted);
    json_write_member_str(&w, STR("exprHash"), entry->expr_hash);
    if (fields->json.len > 0) {
        json_write_name(&w, STR("fields"));
        json_write_raw(&w, fields->json);
    }
    json_write_end(&w);
    if (!buf_ok(&out, err))
        return false;
    json_writer_finish(&w);
    *body = buf_str(&out);
    return true;
}

static bool add_event(struct arena *arena, struct field_reader *reader, struct str source,
                      const struct record_entry *entry, struct record_page *page, struct error *err)
{
    struct derived_fields fields = { 0 };
    struct project_event *event = &page->items[page->count];

    if (!entry->is_deleted && !field_reader_read(reader, arena, entry, &fields, err))
        return false;
    if (!entry->is_deleted && fields.json.len == 0) {
        page->unread++;
        return true;
    }
    *event = (struct project_event){
        .aggregate_type =
            arena_printf(arena, "%.*s/%.*s", STR_ARG(source), STR_ARG(entry->endpoint)),
        .aggregate_id = entry->provider_id,
        .event_type = entry->is_deleted ? PROJECTION_DELETED : STR("RecordUpdated"),
        .version = entry->version,
        .occurred_us = entry->changed_us,
    };
    page->count++;
    return make_body(arena, source, entry, &fields, &event->body, err);
}

static bool add_all(struct arena *arena, const struct rebuild_request *request, struct str source,
                    const struct record_entry_list *list, struct record_page *page,
                    struct error *err)
{
    const struct field_reader_request open = { .store = request->store,
                                               .source = source,
                                               .now_us = clock_now_us(request->clock),
                                               .specs = request->specs };
    struct field_reader reader = { 0 };
    bool ok = field_reader_open(&reader, &open, err);

    for (size_t i = 0; ok && i < list->count; i++)
        ok = add_event(arena, &reader, source, &list->items[i], page, err);
    field_reader_close(&reader);
    return ok;
}

bool record_source_next(struct arena *arena, struct arena *keep,
                        const struct rebuild_request *request, struct rebuild_state *state,
                        struct record_page *page, struct error *err)
{
    struct record_walk walk = { .states = RECORDS_ALL,
                                .with_changed = true,
                                .with_payload = true,
                                .limit = PAGE_RECORDS,
                                .bytes_max = PAGE_BYTES };
    struct record_count_list homes;
    struct record_entry_list list;
    bool is_same = false;
    size_t at = 0;

    *page = (struct record_page){ 0 };
    if (!store_record_counts(request->store, arena, (struct str){ 0 }, &homes, err))
        return false;
    if (!next_home(request, &homes, arena, state, &at, &is_same)) {
        state->records_done = true;
        return true;
    }
    walk.source = homes.items[at].source;
    walk.endpoint = homes.items[at].endpoint;
    if (is_same)
        walk.after = (struct record_place){ walk.endpoint, state->record_id };
    if (!store_record_walk(request->store, arena, &walk, &list, err))
        return false;
    page->items = ARENA_ARRAY(arena, struct project_event, list.count);
    if (page->items == NULL)
        return arena_error(arena, err);
    if (!add_all(arena, request, walk.source, &list, page, err))
        return false;
    arena_reset(keep);
    state->source = arena_copy(keep, walk.source);
    /* After the last record of an endpoint, the place is behind every id of it. */
    state->endpoint = list.is_end ? arena_printf(keep, "%.*s%c", STR_ARG(walk.endpoint), '\x01')
                                  : arena_copy(keep, walk.endpoint);
    state->record_id = list.count > 0 && !list.is_end ? list.items[list.count - 1].id : 0;
    return !keep->failed || arena_error(keep, err);
}
