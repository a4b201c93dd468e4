/* key_digest: the digests of port/key_digest.h, as SQL of every database.
 *
 * The states stand in a FROM as `u`, with their texts as u.state; KEY_STATE makes one of type, id,
 * version and gone. The length keeps id and type apart. A hash is made once per state: {once} keeps
 * PostgreSQL from making it again wherever it is named.
 */
#ifndef PATRA_ADAPTER_SQL_KEY_DIGEST_H
#define PATRA_ADAPTER_SQL_KEY_DIGEST_H

#include "adapter/sql/statement.h"
#include "port/key_digest.h"

#define KEY_STATE(type, id, version, gone)                   \
    "length(" id ") || ':' || " id " || " type " || ':' || " \
    "CAST(" version " AS text) || CASE WHEN " gone " AND NOT :ignores_gone THEN '-' ELSE '' END"

/* The columns of a digest, of (type, h) AS k. */
#define KEY_DIGESTS                                                                \
    "SELECT k.type, k.h & :mask, count(*), CAST(sum(k.h & 1073741823) AS bigint)," \
    " CAST(sum(k.h >> 30) AS bigint) FROM "
#define KEY_DIGESTS_BY " GROUP BY 2, 1"

/* Whether the state u is picked. */
#define KEY_IS_PICKED "substr(:marks, CAST({key-hash} & :mask AS integer) + 1, 1) = :picked"

void bind_buckets(struct statement *st, const struct key_buckets *buckets);
void bind_pick(struct statement *st, const struct key_pick *pick);

/* Reads the rows of KEY_DIGESTS. */
bool key_digests_read(struct statement *st, struct arena *arena, struct key_digest_list *list,
                      struct error *err) MUST_CHECK;

/* Reads rows of type, id, version, gone. Without types: all are of `type`. */
bool key_states_read(struct statement *st, struct arena *arena, struct str type,
                     struct sink_seen_list *list, struct error *err) MUST_CHECK;

#endif
