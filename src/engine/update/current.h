/* current: the queries that are in force, those of all operations of a source: a record that was
 * harvested is as current as one that was updated.
 */
#ifndef PATRA_ENGINE_UPDATE_CURRENT_H
#define PATRA_ENGINE_UPDATE_CURRENT_H

#include "data/hash.h"
#include "port/store.h"
#include "spec/source.h"

enum { CURRENT_QUERIES_MAX = 64 }; /* one per operation */

struct current_queries {
    char hashes[CURRENT_QUERIES_MAX][HASH_HEX_MAX];
    size_t count;
};

/* Resets the scratch. */
bool current_queries_find(struct current_queries *current, struct arena *scratch,
                          const struct source *source, struct error *err) MUST_CHECK;

/* Whether the query of an expression is in force. What it fetched need not be requested again; if
 * only its mapping is not in force, records are read again from their payloads (engine/rederive).
 */
bool current_queries_have(const struct current_queries *current, struct store *store,
                          struct arena *arena, struct str expr_hash, bool *has,
                          struct error *err) MUST_CHECK;

/* Makes known what records of the old expression have when they are fetched again by the new one
 * and have not changed: its query, and the mapping that read them. Without it they would keep the
 * old query, and be requested again and again. */
bool current_queries_renew(struct store *store, struct arena *arena, struct str old_hash,
                           struct str new_hash, int64_t now_us, struct error *err) MUST_CHECK;

#endif
