/* How many records of the page have each field. */
#include "engine/fetch/field.h"
#include "engine/probe/probe.h"

struct counting {
    const struct probe *probe;
    struct probe_field *counts;
    struct error *err;
};

static bool count_typed(const struct counting *counting, const struct document_place *place,
                        size_t i)
{
    const struct reader *reader = &counting->probe->reader;
    const struct spec_response *response = &counting->probe->endpoint->response;
    const struct spec_field *field = &response->fields.items[i];
    const struct field_reading reading = { response, field, &reader->fields[i] };
    struct probe_field *count = &counting->counts[i];
    struct field_values values;

    if (!field_read(place, &reading, &values, counting->err))
        return false;
    count->misfits += values.misfit.data != NULL;
    count->records += values.is_there || values.misfit.data != NULL;
    count->several += !field->is_list && values.count > 1;
    return true;
}

static bool count_field(const struct counting *counting, const struct document_place *place,
                        size_t i)
{
    const struct reader *reader = &counting->probe->reader;
    bool is_there;

    if (counting->counts[i].field->type != FIELD_ANY)
        return count_typed(counting, place, i);
    if (!document_is_there(place, &reader->fields[i], &is_there, counting->err))
        return false;
    counting->counts[i].records += is_there;
    return true;
}

static bool count_record(const struct counting *counting, const struct record *record,
                         size_t *records)
{
    const struct probe *probe = counting->probe;
    const struct document_place place = { &probe->response.document, record->node, probe->arena };

    if (record->is_deleted || record->payload.len == 0)
        return true;
    (*records)++;
    for (size_t i = 0; i < probe->endpoint->response.fields.count; i++) {
        if (!count_field(counting, &place, i))
            return false;
    }
    return true;
}

bool probe_count_fields(struct probe *probe, struct error *err)
{
    const struct spec_field_list *fields = &probe->endpoint->response.fields;
    struct counting counting = { .probe = probe, .err = err };

    counting.counts = ARENA_ARRAY(probe->arena, struct probe_field, fields->count);
    if (counting.counts == NULL)
        return arena_error(probe->arena, err);
    for (size_t i = 0; i < fields->count; i++)
        counting.counts[i].field = &fields->items[i];
    probe->fields = (struct probe_fields){ .items = counting.counts, .count = fields->count };
    for (size_t i = 0; i < probe->listing.records.count; i++) {
        if (!count_record(&counting, &probe->listing.records.items[i], &probe->fields.records))
            return false;
    }
    for (size_t i = 0; i < probe->listing.bad.count; i++) {
        if (!count_record(&counting, &probe->listing.bad.items[i], &probe->fields.records))
            return false;
    }
    return true;
}
