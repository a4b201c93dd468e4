/* key_digest: what a database has of many keys, as a few numbers that the database itself makes, so
 * that two databases can be compared without moving their keys.
 *
 * A state is a key, its version, and whether it is gone. It hashes to 60 bits, by the same rule in
 * every database (adapter/sql/key_digest.h); the low bits are its bucket. A digest is the number of
 * states of one type in one bucket and the sums of both halves of their hashes. Order does not
 * matter. Buckets with equal digests have the same states, but for once in 2^60 times.
 *
 * Where two sides differ, their buckets differ, and the states of these buckets alone are read
 * (key_pick).
 */
#ifndef PATRA_PORT_KEY_DIGEST_H
#define PATRA_PORT_KEY_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct key_digest {
    struct str aggregate_type;
    int64_t bucket;
    int64_t keys;
    int64_t low; /* the sum of the low 30 bits */
    int64_t high;
};

struct key_digest_list {
    struct key_digest *items; /* none without keys; in no order */
    size_t count;
};

struct key_buckets {
    int64_t count;     /* a power of two, up to KEY_BUCKETS_MAX */
    bool ignores_gone; /* whether a key is gone does not count */
};

enum { KEY_BUCKETS_MAX = 1 << 18 };

/* Which states are read: those in buckets whose byte is KEY_PICKED. */
struct key_pick {
    struct key_buckets buckets;
    struct str marks; /* a byte per bucket */
};

#define KEY_PICKED '\x01'

struct sink_key {
    struct str aggregate_type;
    struct str aggregate_id;
};

struct sink_seen { /* what a table, or the store, has of a key */
    struct sink_key key;
    int64_t version;
    bool is_gone; /* no row, or one that is marked: it was deleted, or a filter keeps it out */
};

struct sink_seen_list {
    struct sink_seen *items; /* in no order */
    size_t count;
};

#endif
