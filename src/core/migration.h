/* migration: the numbered steps a database's schema is made of, and which of them a database may
 * still take.
 *
 * A database remembers the steps it took, each with the hash of its text. It is refused when it
 * took a step this program does not know (a newer patra made it), or one whose text has changed
 * since (migrations are never edited once released): nobody can say what such a schema is.
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

struct migration_record { /* a step as the database remembers it */
    int64_t number;
    struct str name;
    struct str sha256;
};

struct migration_record_list {
    struct migration_record *items;
    size_t count;
};

int64_t migration_latest(const struct migration_set *known);

/* The last step up to which all were taken; 0 before the first. */
int64_t migration_version(const struct migration_set *known,
                          const struct migration_record_list *taken);

/* False, L4, for a database that this program must not touch. */
bool migration_check(const struct migration_set *known, const struct migration_record_list *taken,
                     struct error *err) MUST_CHECK;

/* The first step that was not taken yet; NULL when there is none. */
const struct migration *migration_next(const struct migration_set *known,
                                       const struct migration_record_list *taken);

#endif
