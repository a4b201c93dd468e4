/* selected: values of references that decide which records are returned.
 *
 * A parameter that is a reference (env:, file:) counts by its name: the value may be a secret, and
 * differs between installations. Where the source says `selects: true`, the value is part of the
 * query: the planner reads it, and its hash goes into the plan's snapshot and query_hash. An
 * executor whose own value has another hash sends no request.
 */
#ifndef PATRA_SPEC_SELECTED_H
#define PATRA_SPEC_SELECTED_H

#include <stddef.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"
#include "data/hash.h"

struct selected {
    struct str name; /* of the parameter */
    char hash[HASH_HEX_MAX];
};

struct selected_list {
    struct selected *items;
    size_t count;
};

/* The hash of a parameter's value; data NULL: it has none. The name is part of it, so that equal
 * values of two parameters cannot be recognised. */
bool selected_hash(struct str name, struct str value, char hex[HASH_HEX_MAX],
                   struct error *err) MUST_CHECK;

/* NULL when the list has no value of this parameter. */
const struct selected *selected_find(const struct selected_list *list, struct str name);

#endif
