/* projection_spec: the words of projection files, and which events a table takes. */
#include "core/projection_spec.h"

#include <assert.h>

static const struct code_item EFFECT_ITEMS[] = {
    [PROJECTION_REPLACE] = CODE_ITEM("REPLACE", "the event is the whole row"),
    [PROJECTION_PARTIAL] = CODE_ITEM("PARTIAL", "the event is what changed of the row"),
    [PROJECTION_DELETE] = CODE_ITEM("DELETE", "the row is deleted"),
};
const struct code_table PROJECTION_EFFECT_CODES =
    CODE_TABLE("projection_effect", "what an event does to its row", EFFECT_ITEMS);

static const struct code_item ON_DELETE_ITEMS[] = {
    [PROJECTION_MARK] = CODE_ITEM("MARK", "the row stays and is marked"),
    [PROJECTION_ERASE] = CODE_ITEM("REMOVE", "the row goes; its key and version are remembered"),
};
const struct code_table PROJECTION_ON_DELETE_CODES =
    CODE_TABLE("projection_on_delete", "what becomes of a deleted row", ON_DELETE_ITEMS);

static const struct code_item START_ITEMS[] = {
    [PROJECTION_EARLIEST] = CODE_ITEM("EARLIEST", "the oldest event of the stream"),
    [PROJECTION_LATEST] = CODE_ITEM("LATEST", "the first event after it was applied"),
};
const struct code_table PROJECTION_START_CODES =
    CODE_TABLE("projection_start", "where a new projection begins", START_ITEMS);

static bool matches(struct str pattern, struct str aggregate_type)
{
    if (str_ends(pattern, STR("*")))
        return str_starts(aggregate_type, str_slice(pattern, 0, pattern.len - 1));
    return str_eq(pattern, aggregate_type);
}

bool projection_source_has(const struct projection_source *source, struct str aggregate_type)
{
    for (size_t i = 0; i < source->aggregate_count; i++) {
        if (matches(source->aggregates[i], aggregate_type))
            return true;
    }
    return false;
}

static bool takes_type(const struct projection_source *source, struct str event_type)
{
    for (size_t i = 0; i < source->type_count; i++) {
        if (str_eq(source->types[i], event_type))
            return true;
    }
    return source->type_count == 0;
}

const struct projection_source *projection_source_of(const struct projection_table *table,
                                                     struct str aggregate_type,
                                                     struct str event_type)
{
    for (size_t i = 0; i < table->source_count; i++) {
        if (projection_source_has(&table->sources[i], aggregate_type) &&
            takes_type(&table->sources[i], event_type))
            return &table->sources[i];
    }
    return NULL;
}

bool projection_has(const struct projection_spec *spec, struct str aggregate_type)
{
    for (size_t i = 0; i < spec->table_count; i++) {
        for (size_t k = 0; k < spec->tables[i].source_count; k++) {
            if (projection_source_has(&spec->tables[i].sources[k], aggregate_type))
                return true;
        }
    }
    return false;
}

enum projection_effect projection_effect_of(const struct projection_source *source,
                                            struct str event_type)
{
    return source->type_count == 0 && str_eq(event_type, PROJECTION_DELETED) ? PROJECTION_DELETE
                                                                             : source->effect;
}

bool projection_has_gone(const struct projection_table *table)
{
    for (size_t i = 0; i < table->source_count; i++) {
        if (table->sources[i].where.len > 0)
            return true;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].not_null)
            return true;
    }
    return table->on_delete == PROJECTION_ERASE;
}

struct str projection_only_type(const struct projection_table *table)
{
    assert(table->type_column.len == 0 && table->source_count > 0);
    return table->sources[0].aggregates[0];
}
