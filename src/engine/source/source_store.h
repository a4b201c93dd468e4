/* source_store: loads sources from the Registry and applies changed ones.
 *
 * The rows in the store are the truth; a file is how people write them. Applying closes the rows
 * that were removed or changed and opens those that are new or changed, in one transaction, so
 * that at any instant one version of a source is in force as a whole. Nothing is ever overwritten.
 * The views of its records (port/store_view.h) change in the same transaction.
 */
#ifndef PATRA_ENGINE_SOURCE_SOURCE_STORE_H
#define PATRA_ENGINE_SOURCE_SOURCE_STORE_H

#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "port/store_registry.h"
#include "spec/source.h"
#include "spec/source_diff.h"

/* The source as it is in force at that instant. L2 "source.unknown" when there is none. */
bool source_load(struct store *store, struct arena *arena, struct str code, int64_t at_us,
                 struct source *source, struct error *err) MUST_CHECK;

/* True for "source.unknown". */
static inline bool source_error_is_unknown(const struct error *err)
{
    return strcmp(err->code, "source.unknown") == 0;
}

struct source_applied {
    int64_t version;         /* in force afterwards */
    int64_t at_us;           /* when it came into force */
    struct source_diff diff; /* empty: it was in force already; only views that were
                                missing were made */
};

/* Makes these rows, which must have been checked, the source in force. Two processes that apply
 * the same source do so one after the other. The new rows are in force from now_us on, or from
 * just after the latest change where that is later than now_us (a clock that was set back). */
bool source_apply(struct store *store, struct arena *arena, const struct source *wanted,
                  int64_t now_us, struct source_applied *applied, struct error *err) MUST_CHECK;

/* What source_apply() would do. */
bool source_compare(struct store *store, struct arena *arena, const struct source *wanted,
                    int64_t now_us, struct source_diff *diff, struct error *err) MUST_CHECK;

#endif
