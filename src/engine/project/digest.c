/* Digests of keys and versions by bucket. */
#include "engine/project/digest.h"

#include <string.h>

/* Fewer keys in a bucket mean fewer that are read in vain where it differs, and more numbers. */
enum { BUCKET_KEYS = 64 };

void digest_add(struct bucket_digest *buckets, const struct key_digest *part)
{
    struct bucket_digest *bucket = &buckets[part->bucket];

    bucket->keys += part->keys;
    bucket->low += part->low;
    bucket->high += part->high;
}

bool digest_is_same(const struct bucket_digest *a, const struct bucket_digest *b)
{
    return a->keys == b->keys && a->low == b->low && a->high == b->high;
}

int64_t digest_buckets(int64_t keys)
{
    int64_t buckets = 1;

    while (buckets < KEY_BUCKETS_MAX && buckets * BUCKET_KEYS < keys)
        buckets *= 2;
    return buckets;
}

bool digest_table(struct store *sink, struct arena *arena, const struct sink_tables *tables,
                  size_t table, int64_t buckets, struct bucket_digest *digests, struct error *err)
{
    struct key_digest_list list;

    memset(digests, 0, (size_t)buckets * sizeof(*digests));
    arena_reset(arena);
    if (!store_sink_digest(sink, arena, tables, table, &(struct key_buckets){ .count = buckets },
                           &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++)
        digest_add(digests, &list.items[i]);
    return true;
}
