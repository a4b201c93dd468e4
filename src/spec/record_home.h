/* record_home: whose records an operation fetches, and who lists them.
 *
 * Records belong to the endpoint that lists them, also those that an UPDATE requests by id from
 * another one, and those of files (role bulk). Metrics of records are records of their own, and so
 * are children: what an endpoint with a parent returns for the parent's ids.
 */
#ifndef PATRA_SPEC_RECORD_HOME_H
#define PATRA_SPEC_RECORD_HOME_H

#include "spec/source.h"

struct record_home {
    struct str endpoint; /* under which the records are stored */
    struct str bearer;   /* whose responses are the records: its fields are theirs */
};

struct record_home record_home(const struct source *source, const struct registry_row *operation);

/* The endpoint that lists the records of `detail`; empty when there is not exactly one. */
struct str record_lister(const struct source *source, struct str detail);

/* The endpoint whose records the endpoint is requested for; empty: it is not a child. */
struct str record_parent(const struct source *source, struct str endpoint);

/* Whether the ids of the records that `lister` lists are in lower case. */
bool record_ids_are_lower(const struct source *source, struct str lister);

/* Whether the operation reads files of many records. */
bool operation_is_of_files(const struct source *source, const struct registry_row *operation);

/* Whether the operation requests records by id. */
bool operation_is_by_id(const struct registry_row *operation);

#endif
