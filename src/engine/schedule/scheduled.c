/* Operations with `every` or a cron line, from the rows of a source. */
#include "engine/schedule/scheduled.h"

#include <assert.h>

#include "base/list.h"
#include "spec/resolve.h"

static const struct registry_value *value_in(const struct registry_row *row, const char *column)
{
    const int i = registry_column(row->table, str_of(column));

    assert(i >= 0);
    return &row->values[i];
}

static bool is_enabled(const struct registry_row *row)
{
    const struct registry_value *enabled = value_in(row, "enabled");

    return !enabled->is_set || enabled->number != 0;
}

bool schedule_is_enabled(const struct source *source)
{
    const struct registry_row *row = source_row(source, REGISTRY_PROVENANCE, STR(""), STR(""));

    return row == NULL || is_enabled(row);
}

static bool read_schedule(const struct registry_row *row, struct schedule *schedule,
                          struct error *err)
{
    const struct registry_value *every = value_in(row, "every_us");
    size_t fault_at;

    if (every->is_set) {
        *schedule = (struct schedule){ .kind = SCHEDULE_EVERY, .every_us = every->number };
        return true;
    }
    schedule->kind = SCHEDULE_CRON;
    return cron_parse(value_in(row, "cron")->text, &schedule->cron, &fault_at, err);
}

static bool add_operation(struct arena *arena, struct str source, const struct registry_row *row,
                          struct scheduled_list *list)
{
    const struct registry_value *target = value_in(row, "target_endpoint");
    struct scheduled *scheduled = LIST_ADD(arena, list);
    struct error *fault = ARENA_NEW(arena, struct error);

    if (scheduled == NULL || fault == NULL)
        return false;
    *scheduled = (struct scheduled){ .source = arena_copy(arena, source),
                                     .operation = arena_copy(arena, row->key),
                                     .endpoint = target->is_set ? arena_copy(arena, target->text)
                                                                : (struct str){ 0 },
                                     .is_harvest = source_operation_code(row) == OPERATION_HARVEST,
                                     .since_us = row->effective_from_us };
    if (!read_schedule(row, &scheduled->schedule, fault))
        scheduled->fault = fault;
    return !arena->failed;
}

bool scheduled_add(struct arena *arena, const struct source *source, struct scheduled_list *list,
                   struct error *err)
{
    const struct registry_row *row = NULL;

    if (!schedule_is_enabled(source))
        return true;
    while ((row = source_next_operation(source, row)) != NULL) {
        const bool has = value_in(row, "every_us")->is_set || value_in(row, "cron")->is_set;

        if (has && is_enabled(row) && !add_operation(arena, source->registry.code, row, list))
            return arena_error(arena, err);
    }
    return true;
}
