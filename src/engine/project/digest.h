/* digest: what a side has, as numbers per bucket (port/key_digest.h), so that two sides can be
 * compared without reading their keys. One side is a table of a projection, the other its copy or
 * the records.
 */
#ifndef PATRA_ENGINE_PROJECT_DIGEST_H
#define PATRA_ENGINE_PROJECT_DIGEST_H

#include "port/store_sink.h"

struct bucket_digest { /* of all types */
    int64_t keys;
    int64_t low;
    int64_t high;
};

/* Adds the digest of one type in one bucket to those of all. */
void digest_add(struct bucket_digest *buckets, const struct key_digest *part);
bool digest_is_same(const struct bucket_digest *a, const struct bucket_digest *b);

/* How many buckets, so that each has few of these keys. */
int64_t digest_buckets(int64_t keys);

/* Of all keys of a table; `digests` has a place per bucket. The arena is reset. */
bool digest_table(struct store *sink, struct arena *arena, const struct sink_tables *tables,
                  size_t table, int64_t buckets, struct bucket_digest *digests,
                  struct error *err) MUST_CHECK;

#endif
