/* digest: what a table has, as two numbers per lane, so that two sides can be compared without
 * reading both again.
 *
 * A digest is the number of keys and the sum of a hash of (type, id, version, whether it is gone)
 * of each. Order does not matter, and one key can be added or taken away. Equal digests differ in
 * content once in 2^64 times.
 */
#ifndef PATRA_ENGINE_PROJECT_DIGEST_H
#define PATRA_ENGINE_PROJECT_DIGEST_H

#include "port/store_sink.h"

struct lane_digest {
    int64_t keys;
    uint64_t sum;
};

void digest_add(struct lane_digest digests[OUTBOX_LANES], const struct sink_seen *seen);

/* Of a whole table, page by page; the arena is reset after each page. */
bool digest_table(struct store *sink, struct arena *arena, const struct sink_tables *tables,
                  size_t table, struct lane_digest digests[OUTBOX_LANES],
                  struct error *err) MUST_CHECK;

#endif
