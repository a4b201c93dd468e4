/* grants: what each part of patra may do in a PostgreSQL database, as SQL.
 *
 *      planner     fires schedules, plans, re-slices        patra serve --role planner, trigger
 *      executor    fetches and stores                       patra work, serve --role executor
 *      publisher   feeds the stream, relays it              patra publish, serve --role publisher
 *      consumer    reads the stream, keeps its place in it
 *      reader      reads what was harvested                 patra record, patra status, reports
 *
 * Applying sources, migrating, pausing and repairing are left to the owner of the database. Events
 * are never changed by anybody: no role may UPDATE the outbox, and only publishers may remove from
 * it.
 *
 * Every table has a row (grant_rows), also one that no role may use: a test compares them with the
 * migrations.
 */
#ifndef PATRA_CORE_GRANTS_H
#define PATRA_CORE_GRANTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

#define GRANT_ROLES(ROLE)        \
    ROLE(PLANNER, "planner")     \
    ROLE(EXECUTOR, "executor")   \
    ROLE(PUBLISHER, "publisher") \
    ROLE(CONSUMER, "consumer")   \
    ROLE(READER, "reader")

enum grant_role {
#define GRANT_ENUM(id, name) GRANT_##id,
    GRANT_ROLES(GRANT_ENUM)
#undef GRANT_ENUM
        GRANT_ROLE_COUNT
};

const char *grant_role_name(enum grant_role role);
/* False when there is none of this name. */
bool grant_role_find(struct str name, enum grant_role *role);

struct grant_row {
    const char *name; /* of a table, or of a sequence */
    bool is_sequence;
    const char *roles[GRANT_ROLE_COUNT]; /* letters of S select, I insert, U update, D delete, for a
                                            sequence also G usage; NULL: nothing */
};

extern const struct grant_row grant_rows[];
extern const size_t grant_rows_count;

struct grants_request {
    struct str prefix; /* of the names of roles: "patra_" */
    struct str schema; /* where the tables are: "public" */
    bool only;         /* one role: */
    enum grant_role role;
};

/* A script that may be run again and again: roles that are missing are made, and each gets exactly
 * these privileges. Prefix and schema must be identifiers (grants_name_ok). */
void grants_write(struct buf *out, const struct grants_request *request);

/* Letters, digits and _, not too long for a name with a role after it. */
bool grants_name_ok(struct str name);

#endif
