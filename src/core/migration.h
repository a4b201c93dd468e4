/* migration: the numbered steps that make up a database's schema, and which of them a database
 * still lacks.
 *
 * A database records the migrations applied to it, each with the hash of its text. A database is
 * refused if it has a migration that this program does not know (a newer patra made it), or one
 * whose text has changed since (migrations are never edited once released): its schema is unknown.
 */
#ifndef PATRA_CORE_MIGRATION_H
#define PATRA_CORE_MIGRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct migration {
    int64_t number; /* from 1, ascending */
    struct str name;
    struct str sha256; /* of the text, hex */
    struct str sql;
};

struct migration_set {
    const struct migration *items; /* by number */
    size_t count;
};

struct migration_record { /* a migration as the database records it */
    int64_t number;
    struct str name;
    struct str sha256;
};

struct migration_record_list {
    struct migration_record *items;
    size_t count;
};

int64_t migration_latest(const struct migration_set *known);

/* The last migration up to which all were applied; 0 before the first. */
int64_t migration_version(const struct migration_set *known,
                          const struct migration_record_list *taken);

/* False (L4) for a database that this program must not change. */
bool migration_check(const struct migration_set *known, const struct migration_record_list *taken,
                     struct error *err) MUST_CHECK;

/* The first migration that was not applied yet; NULL if there is none. */
const struct migration *migration_next(const struct migration_set *known,
                                       const struct migration_record_list *taken);

#endif
