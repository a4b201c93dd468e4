/* Which operations fetch the record, as the source is in force. */
#include "engine/source/source_select.h"
#include "engine/source/source_store.h"
#include "port/store_record_read.h"
#include "port/store_registry.h"
#include "spec/record_home.h"
#include "spec/snapshot.h"
#include "spec/spec.h"
#include "view/why_internal.h"

/* How many operations of the source have the same word. */
static bool is_only(const struct source *source, const struct registry_row *operation)
{
    const struct registry_row *row = NULL;
    int count = 0;

    while ((row = source_next_operation(source, row)) != NULL)
        count += source_operation_code(row) == source_operation_code(operation);
    return count == 1;
}

/* An operation that does not compile is there, but nothing more is known of it. */
static bool read_operation(const struct view_reader *reader, const struct source *source,
                           const struct registry_row *row, struct why_operation *operation)
{
    const struct snapshot_request request = { .source = source, .operation = row->key };
    struct snapshot snapshot;
    struct error ignored;
    struct spec spec;

    *operation = (struct why_operation){ .name = row->key,
                                         .operation = (enum operation)source_operation_code(row),
                                         .is_by_id = operation_is_by_id(row),
                                         .is_only = is_only(source, row) };
    if (!snapshot_make(reader->arena, &request, &snapshot, &ignored) ||
        !spec_read(reader->arena, snapshot.json, &spec, &ignored))
        return !reader->arena->failed;
    operation->endpoint = spec.endpoint.name;
    operation->takes_signals = operation->is_by_id && operation->operation == OPERATION_UPDATE &&
                               spec.operation.candidates[CANDIDATE_SIGNAL];
    operation->is_feed = spec.endpoint.window.type != CURSOR_TIME;
    operation->lag_us = spec.endpoint.window.lag_us;
    operation->query_hash = arena_copy(reader->arena, str_of(snapshot.query_hash));
    return !reader->arena->failed;
}

/* ---- which endpoint, and which id ---- */

/* The endpoint that has the record. */
static bool find_endpoint(const struct view_reader *reader, struct record_key *key,
                          struct error *err)
{
    struct record_entry_list found;

    if (!store_record_endpoints(reader->store, reader->arena, key->source, key->provider_id, &found,
                                err))
        return false;
    if (found.count > 1)
        return error_set(err, ERROR_REQUEST, "record.endpoint",
                         "%zu endpoints have a record %.*s, such as %.*s and %.*s: choose one with "
                         "--endpoint",
                         found.count, STR_ARG(key->provider_id), STR_ARG(found.items[0].endpoint),
                         STR_ARG(found.items[1].endpoint));
    if (found.count == 1)
        key->endpoint = found.items[0].endpoint;
    return true;
}

/* Of the endpoints that have records, the one whose quarantine or signals have the id; else the
 * first. */
static bool choose_endpoint(const struct view_reader *reader, const struct source *source,
                            struct record_key *key, struct error *err)
{
    const struct registry_row *row = NULL;
    struct str first = { 0 };

    while ((row = source_next_operation(source, row)) != NULL) {
        struct record_key candidate = *key;
        struct signal_past_list signals;
        struct quarantined_list bad;

        candidate.endpoint = record_home(source, row).endpoint;
        if (candidate.endpoint.len == 0)
            continue;
        if (first.len == 0)
            first = candidate.endpoint;
        if (!store_signal_of(reader->store, reader->arena, &candidate, 1, &signals, err) ||
            !store_quarantine_of(reader->store, reader->arena, &candidate, 1, &bad, err))
            return false;
        if (signals.count + bad.count == 0)
            continue;
        key->endpoint = candidate.endpoint;
        return true;
    }
    key->endpoint = first;
    return true;
}

/* A source may keep its ids in lower case; people type them as they were printed. */
static bool lower_id(struct arena *arena, const struct source *source, struct record_key *key,
                     struct error *err)
{
    const struct registry_row *first = source_next_operation(source, NULL);
    char *id;

    if (first == NULL ||
        !record_ids_are_lower(source, key->endpoint.len > 0 ? key->endpoint
                                                            : record_home(source, first).endpoint))
        return true;
    id = arena_alloc_raw(arena, key->provider_id.len + 1);
    if (id == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < key->provider_id.len; i++) {
        const char c = key->provider_id.data[i];

        id[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
    key->provider_id.data = id;
    return true;
}

static bool has_endpoint(const struct source *source, struct str endpoint)
{
    const struct registry_row *row = NULL;

    while ((row = source_next_operation(source, row)) != NULL) {
        if (str_eq(record_home(source, row).endpoint, endpoint))
            return true;
    }
    return false;
}

/* An endpoint of an earlier version of the source may have the record. */
static bool find_key(const struct view_reader *reader, const struct source *source,
                     struct record_key *key, struct error *err)
{
    const bool is_named = key->endpoint.len > 0;

    if (!lower_id(reader->arena, source, key, err) ||
        (!is_named && !find_endpoint(reader, key, err)))
        return false;
    if (key->endpoint.len == 0)
        return choose_endpoint(reader, source, key, err);
    return !is_named || has_endpoint(source, key->endpoint) ||
           error_set(err, ERROR_REQUEST, "why.endpoint",
                     "no operation of %.*s fetches records of an endpoint %.*s",
                     STR_ARG(key->source), STR_ARG(key->endpoint));
}

/* ---- all operations ---- */

static bool add_operations(const struct view_reader *reader, const struct source *source,
                           struct view_why *why, struct error *err)
{
    struct {
        struct why_operation *items;
        size_t count;
    } list = { 0 };
    const struct registry_row *row = NULL;

    while ((row = source_next_operation(source, row)) != NULL) {
        struct why_operation *operation;

        if (!str_eq(record_home(source, row).endpoint, why->key.endpoint))
            continue;
        operation = LIST_ADD(reader->arena, &list);
        if (operation == NULL || !read_operation(reader, source, row, operation))
            return arena_error(reader->arena, err);
    }
    why->source.operations = list.items;
    why->source.operation_count = list.count;
    return true;
}

static bool find_past(const struct view_reader *reader, struct view_why *why, struct error *err)
{
    int64_t version;

    if (!store_registry_version(reader->store, why->key.source, &version, err))
        return false;
    why->source.was_in_force = version > 0;
    return true;
}

bool why_source_read(const struct view_reader *reader, struct view_why *why, struct error *err)
{
    struct error ignored; /* an operation whose references cannot be read does not compile */
    struct source source;

    if (!source_load(reader->store, reader->arena, why->key.source, reader->now_us, &source, err))
        return source_error_is_unknown(err) && find_past(reader, why, err) &&
               (why->key.endpoint.len > 0 || find_endpoint(reader, &why->key, err));
    why->source.is_in_force = true;
    if (!source_select(reader->arena, reader->secrets, &source, &ignored))
        source.selected = (struct selected_list){ 0 };
    return find_key(reader, &source, &why->key, err) && add_operations(reader, &source, why, err) &&
           store_pause_list(reader->store, reader->arena, why->key.source, &why->source.pauses,
                            err);
}
