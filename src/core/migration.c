/* migration: comparing the known migrations with those a database has applied. */
#include "core/migration.h"

#include <assert.h>
#include <inttypes.h>

int64_t migration_latest(const struct migration_set *known)
{
    assert(known->count == 0 || known->items != NULL);
    return known->count == 0 ? 0 : known->items[known->count - 1].number;
}

static const struct migration *find_known(const struct migration_set *known, int64_t number)
{
    for (size_t i = 0; i < known->count; i++) {
        assert(i == 0 || known->items[i - 1].number < known->items[i].number);
        if (known->items[i].number == number)
            return &known->items[i];
    }
    return NULL;
}

bool migration_check(const struct migration_set *known, const struct migration_record_list *taken,
                     struct error *err)
{
    for (size_t i = 0; i < taken->count; i++) {
        const struct migration_record *record = &taken->items[i];
        const struct migration *step = find_known(known, record->number);

        if (step == NULL)
            return error_set(err, ERROR_FATAL, "store.newer",
                             "the database has migration %" PRId64
                             " (%.*s), but this patra only has migrations up to %" PRId64
                             ": use a newer patra",
                             record->number, STR_ARG(record->name), migration_latest(known));
        if (!str_eq(step->sha256, record->sha256))
            return error_set(
                err, ERROR_FATAL, "store.migration",
                "migration %" PRId64
                " (%.*s) differs from the one the database has: another build of patra made"
                " it. Nothing was changed. Use that build, or make a new store (patra"
                " init --store ANOTHER), apply the sources and harvest them again",
                record->number, STR_ARG(record->name));
    }
    return true;
}

const struct migration *migration_next(const struct migration_set *known,
                                       const struct migration_record_list *taken)
{
    for (size_t i = 0; i < known->count; i++) {
        bool is_taken = false;

        for (size_t j = 0; j < taken->count && !is_taken; j++)
            is_taken = taken->items[j].number == known->items[i].number;
        if (!is_taken)
            return &known->items[i];
    }
    return NULL;
}

int64_t migration_version(const struct migration_set *known,
                          const struct migration_record_list *taken)
{
    const struct migration *next = migration_next(known, taken);

    if (next == NULL)
        return migration_latest(known);
    return next == known->items ? 0 : next[-1].number;
}
