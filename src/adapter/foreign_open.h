/* foreign_open: opens a foreign outbox. The only adapter is PostgreSQL's, a module. */
#ifndef PATRA_ADAPTER_FOREIGN_OPEN_H
#define PATRA_ADAPTER_FOREIGN_OPEN_H

#include "core/import_spec.h"
#include "port/foreign_outbox.h"
#include "port/secret.h"

struct foreign_open {
    const struct import_spec *spec;
    struct secret_source *secrets;
    struct store *store; /* whose session is used where the table is in its database */
};

/* L4 "foreign.auth" when the address cannot be had, "foreign.schema" when a table is said to be in
 * the database of a store that is a SQLite file. */
bool foreign_open(const struct foreign_open *open, struct foreign_outbox **foreign,
                  struct error *err) MUST_CHECK;

#endif
