/* Derives fields of stored payloads. */
#include "engine/export/field_reader.h"

#include "engine/fetch/reread.h"
#include "engine/source/source_store.h"
#include "port/store_expr.h"

/* The mappings of a source, and a compiled reader for each expression: some kilobytes each. */
#define READER_BYTES_MAX ((size_t)256 << 20)

struct field_mapping {
    struct field_mapping *next;
    struct str expr_hash;
    const struct mapping *mapping; /* NULL: `missing` says why */
    struct str missing;
    struct reader reader; /* open where there is a mapping */
};

bool field_reader_open(struct field_reader *reader, const struct field_reader_request *request,
                       struct error *err)
{
    struct source source;

    *reader = (struct field_reader){ .store = request->store };
    arena_init(&reader->arena, READER_BYTES_MAX);
    reader->mappings = ARENA_NEW(&reader->arena, struct mappings);
    if (reader->mappings == NULL)
        return arena_error(&reader->arena, err);
    reader->mappings->specs = request->specs;
    return source_load(request->store, &reader->arena, request->source, request->now_us, &source,
                       err) &&
           mappings_load(reader->mappings, &reader->arena, &source, err);
}

void field_reader_close(struct field_reader *reader)
{
    for (struct field_mapping *known = reader->known; known != NULL; known = known->next)
        reader_close(&known->reader);
    if (reader->mappings != NULL)
        mappings_release(reader->mappings);
    arena_release(&reader->arena);
    *reader = (struct field_reader){ 0 };
}

/* ---- the mapping of an expression ---- */

static bool look_up(struct field_reader *reader, struct field_mapping *known, struct error *err)
{
    struct expr expr;
    bool found;

    if (!store_expr_get(reader->store, &reader->arena, known->expr_hash, &expr, &found, err))
        return false;
    if (!found) {
        known->missing = STR("the store does not know the expression that read it");
        return true;
    }
    known->mapping = mapping_of(reader->mappings, expr.endpoint);
    if (known->mapping == NULL) {
        known->missing = STR("no operation of the source reads its endpoint now");
        return true;
    }
    return reader_open(&known->reader, &reader->arena, known->mapping->endpoint, NULL, err);
}

static bool mapping_for(struct field_reader *reader, struct str expr_hash,
                        const struct field_mapping **mapping, struct error *err)
{
    struct field_mapping *known;

    for (known = reader->known; known != NULL; known = known->next) {
        if (str_eq(known->expr_hash, expr_hash)) {
            *mapping = known;
            return true;
        }
    }
    known = ARENA_NEW(&reader->arena, struct field_mapping);
    if (known == NULL)
        return arena_error(&reader->arena, err);
    known->expr_hash = arena_copy(&reader->arena, expr_hash);
    if (known->expr_hash.data == NULL)
        return arena_error(&reader->arena, err);
    if (!look_up(reader, known, err))
        return false;
    known->next = reader->known;
    reader->known = known;
    *mapping = known;
    return true;
}

/* ---- one record ---- */

static bool fields_of(const struct reread *reread, struct arena *arena,
                      struct derived_fields *fields, struct error *err)
{
    struct record_fields made;

    if (record_is_good(&reread->record)) {
        if (!record_fields(&reread->origin, &reread->record, &made, err))
            return false;
        fields->json = made.published;
        return true;
    }
    fields->missing = arena_printf(arena, "the present mapping cannot read it: %s: %.*s",
                                   reread->record.reason, STR_ARG(reread->record.detail));
    return fields->missing.data != NULL || arena_error(arena, err);
}

bool field_reader_read(struct field_reader *reader, struct arena *arena,
                       const struct record_entry *entry, struct derived_fields *fields,
                       struct error *err)
{
    const struct field_mapping *known;
    struct reread_from from = { .payload = entry->payload, .observed_us = entry->observed_us };
    struct reread reread;
    bool ok;

    *fields = (struct derived_fields){ 0 };
    if (!mapping_for(reader, entry->expr_hash, &known, err))
        return false;
    if (known->mapping == NULL) {
        fields->missing = known->missing;
        return true;
    }
    from.endpoint = known->mapping->endpoint;
    from.reader = &known->reader;
    if (!reread_open(&reread, arena, &from, err))
        return error_wrap(err, "fields of %.*s", STR_ARG(entry->provider_id));
    ok = fields_of(&reread, arena, fields, err);
    reread_close(&reread);
    return ok || error_wrap(err, "fields of %.*s", STR_ARG(entry->provider_id));
}
