/* importer: runs an import, round after round, until it is stopped, nothing is left, or the import
 * is not what it was.
 *
 * Rounds follow on each other while there is something to import. Otherwise it looks again after 5
 * ms, and each time nothing is there twice as late, up to the spec's `poll`; while gaps exist after
 * 5 ms. Any number may run for one import: one of them holds the lease.
 *
 * A foreign database that is out of reach, or refuses, is tried again from a tenth of a second up
 * to some seconds later, with an address that is read again; `patra outbox status` has the reason.
 * No other import is held up. A store that is out of reach is waited for.
 */
#ifndef PATRA_ENGINE_IMPORT_IMPORTER_H
#define PATRA_ENGINE_IMPORT_IMPORTER_H

#include "base/log.h"
#include "engine/import/import.h"
#include "port/clock.h"
#include "port/random.h"

struct importer_opener { /* embed it first */
    bool (*open)(struct importer_opener *opener, const struct import_spec *spec,
                 struct store *store, struct foreign_outbox **foreign, struct error *err);
};

struct importer_parts { /* all must outlive it */
    struct store *store;
    struct clock *clock;
    struct random_source *random;
    struct log *log; /* NULL: none */
    struct importer_opener *opener;
    int stop_fd; /* readable: end */
};

struct importer_settings {
    struct import_settings import;
    struct str name;
    struct str spec_hash; /* it ends when the subscription has another one, or is not ACTIVE */
    bool is_draining;     /* ends when nothing is left, and at the first failure */
};

/* Gives the lease back when it ends. *imported (may be NULL) counts events. */
bool importer_run(const struct importer_parts *parts, const struct importer_settings *settings,
                  int64_t *imported, struct error *err) MUST_CHECK;

#endif
