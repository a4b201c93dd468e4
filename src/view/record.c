/* Records: gathered from the store. */
#include "view/record.h"

#include <inttypes.h>

#include "engine/source/source_store.h"
#include "port/store_quarantine.h"

enum { HISTORY_MAX = 1000 };

/* ---- names ---- */

bool view_record_names(const struct view_reader *reader, struct str name, struct str endpoint,
                       struct error *err)
{
    const struct record_walk first = {
        .source = name, .endpoint = endpoint, .states = RECORDS_ALL, .limit = 1
    };
    struct record_entry_list list;
    struct source source;

    if (!store_record_walk(reader->store, reader->arena, &first, &list, err))
        return false;
    if (list.count > 0)
        return true;
    if (endpoint.len == 0)
        return view_source_check(reader, name, err);
    if (!source_load(reader->store, reader->arena, name, reader->now_us, &source, err))
        return false;
    return source_row(&source, REGISTRY_ENDPOINT, endpoint, STR("")) != NULL ||
           error_set(err, ERROR_REQUEST, "endpoint.unknown",
                     "%.*s has no endpoint '%.*s'; patra source show %.*s shows them",
                     STR_ARG(name), STR_ARG(endpoint), STR_ARG(name));
}

/* ---- many ---- */

bool view_record_list(const struct view_reader *reader, const struct record_walk *walk,
                      struct view_record_list *list, struct error *err)
{
    const struct record_entry *last;

    *list = (struct view_record_list){ 0 };
    if (!store_record_walk(reader->store, reader->arena, walk, &list->records, err))
        return false;
    if (list->records.count == 0)
        return view_record_names(reader, walk->source, walk->endpoint, err);
    if (list->records.is_end)
        return true;
    last = &list->records.items[list->records.count - 1];
    list->next = arena_printf(reader->arena, "%.*s/%" PRId64, STR_ARG(last->endpoint), last->id);
    return list->next.data != NULL || arena_error(reader->arena, err);
}

bool view_record_place(struct str text, struct record_place *place)
{
    size_t slash = text.len;

    while (slash > 0 && text.data[slash - 1] != '/')
        slash--;
    if (slash < 2 || !str_to_i64(str_slice(text, slash, text.len), &place->id) || place->id < 1)
        return false;
    place->endpoint = str_slice(text, 0, slash - 1);
    return true;
}

static struct view_record_count *count_of(struct arena *arena, struct view_record_count_list *list,
                                          struct str source, struct str endpoint)
{
    struct view_record_count *count;

    for (size_t i = 0; i < list->count; i++) {
        count = &list->items[i];
        if (str_eq(count->records.source, source) && str_eq(count->records.endpoint, endpoint))
            return count;
    }
    count = LIST_ADD(arena, list);
    if (count != NULL)
        count->records = (struct record_count){ .source = source, .endpoint = endpoint };
    return count;
}

bool view_record_counts(const struct view_reader *reader, struct str source,
                        struct view_record_count_list *list, struct error *err)
{
    struct quarantine_sum_list sums;
    struct record_count_list counts;

    *list = (struct view_record_count_list){ 0 };
    if (!store_record_counts(reader->store, reader->arena, source, &counts, err) ||
        !store_quarantine_sums(reader->store, reader->arena, source, &sums, err) ||
        (counts.count == 0 && !view_source_check(reader, source, err)))
        return false;
    for (size_t i = 0; i < counts.count && !reader->arena->failed; i++) {
        struct view_record_count *count =
            count_of(reader->arena, list, counts.items[i].source, counts.items[i].endpoint);

        if (count != NULL)
            count->records = counts.items[i];
    }
    for (size_t i = 0; i < sums.count && !reader->arena->failed; i++) {
        struct view_record_count *count =
            count_of(reader->arena, list, sums.items[i].source, sums.items[i].endpoint);

        if (count != NULL)
            count->quarantined += sums.items[i].count;
    }
    return !reader->arena->failed || arena_error(reader->arena, err);
}

/* ---- one ---- */

static bool unknown(const struct record_key *key, struct error *err)
{
    return error_set(err, ERROR_REQUEST, "record.unknown",
                     "%.*s has no record %.*s; patra why %.*s %.*s says where it is missing",
                     STR_ARG(key->source), STR_ARG(key->provider_id), STR_ARG(key->source),
                     STR_ARG(key->provider_id));
}

/* The endpoint of the record, where the caller named none. */
static bool find_endpoint(const struct view_reader *reader, struct record_key *key,
                          struct error *err)
{
    struct record_entry_list found;

    if (key->endpoint.len > 0)
        return true;
    if (!store_record_endpoints(reader->store, reader->arena, key->source, key->provider_id, &found,
                                err))
        return false;
    if (found.count == 0)
        return view_source_check(reader, key->source, err) && unknown(key, err);
    if (found.count > 1)
        return error_set(err, ERROR_REQUEST, "record.endpoint",
                         "%zu endpoints have a record %.*s, such as %.*s and %.*s: choose one with "
                         "--endpoint",
                         found.count, STR_ARG(key->provider_id), STR_ARG(found.items[0].endpoint),
                         STR_ARG(found.items[1].endpoint));
    key->endpoint = found.items[0].endpoint;
    return true;
}

static bool gather_events(const struct view_reader *reader, const struct view_record_query *query,
                          struct view_record *view, struct error *err)
{
    const struct stored_record *record = &view->record;
    struct outbox_query of = { .record_id = record->id,
                               .after_version = record->version - 1,
                               .limit = 1 };
    struct stored_event_list last;

    if (!store_outbox_of(reader->store, reader->arena, &of, &last, err))
        return false;
    view->changed_us = last.count > 0 ? last.items[0].event.occurred_us : 0;
    view->has_history = query->with_history;
    if (!query->with_history)
        return true;
    of.after_version = 0;
    of.limit = HISTORY_MAX;
    if (!store_outbox_of(reader->store, reader->arena, &of, &view->history, err))
        return false;
    view->history_is_full = view->history.count == HISTORY_MAX;
    return true;
}

/* Tombstones have none. A source that is gone leaves its records, but reads them no more. */
static bool derive(const struct view_reader *reader, const struct view_record_query *query,
                   struct view_record *view, struct error *err)
{
    const struct stored_record *record = &view->record;
    const struct record_entry entry = { .id = record->id,
                                        .provider_id = record->provider_id,
                                        .expr_hash = record->expr_hash,
                                        .observed_us = record->observed_us,
                                        .payload = record->payload };
    struct field_reader fields;
    bool ok;

    if (record->is_deleted) {
        view->fields.missing = STR("the record is deleted");
        return true;
    }
    ok = field_reader_open(&fields,
                           &(struct field_reader_request){ .store = reader->store,
                                                           .source = record->source,
                                                           .now_us = reader->now_us,
                                                           .specs = query->specs },
                           err) &&
         field_reader_read(&fields, reader->arena, &entry, &view->fields, err);
    field_reader_close(&fields);
    if (!ok && source_error_is_unknown(err)) {
        view->fields.missing = STR("the source is not in force");
        return true;
    }
    return ok;
}

bool view_record(const struct view_reader *reader, const struct view_record_query *query,
                 struct view_record *view, struct error *err)
{
    struct record_key key = query->key;
    bool found;

    *view = (struct view_record){ 0 };
    if (!find_endpoint(reader, &key, err) ||
        !store_record_get(reader->store, reader->arena, &key, &view->record, &found, err))
        return false;
    if (!found)
        return unknown(&key, err);
    return gather_events(reader, query, view, err) && derive(reader, query, view, err);
}
