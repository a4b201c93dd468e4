/* Digests of keys and versions by lane. */
#include "engine/project/digest.h"

#include <string.h>

#include "core/lane.h"

enum { PAGE_KEYS = 10000 };

static uint64_t mix(uint64_t hash)
{
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
    return hash ^ (hash >> 31);
}

/* Eight bytes at a time; the length ends a text, so that parts cannot move between them. */
static uint64_t add_text(uint64_t hash, struct str text)
{
    for (size_t i = 0; i < text.len; i += sizeof(uint64_t)) {
        const size_t len = text.len - i < sizeof(uint64_t) ? text.len - i : sizeof(uint64_t);
        uint64_t word = 0;

        memcpy(&word, text.data + i, len);
        hash = mix(hash ^ word);
    }
    return mix(hash ^ (text.len + 1));
}

void digest_add(struct lane_digest digests[OUTBOX_LANES], const struct sink_seen *seen)
{
    const struct sink_key *key = &seen->key;
    struct lane_digest *digest = &digests[lane_of(key->aggregate_type, key->aggregate_id)];
    uint64_t hash = add_text(add_text(0, key->aggregate_type), key->aggregate_id);

    digest->keys++;
    digest->sum += mix(mix(hash ^ (uint64_t)seen->version) + seen->is_gone);
}

bool digest_table(struct store *sink, struct arena *arena, const struct sink_tables *tables,
                  size_t table, struct lane_digest digests[OUTBOX_LANES], struct error *err)
{
    struct sink_scan scan = { .table = table, .limit = PAGE_KEYS };
    struct sink_page page = { .count = PAGE_KEYS };
    struct arena last; /* the key that the next page begins after */

    memset(digests, 0, OUTBOX_LANES * sizeof(*digests));
    arena_init(&last, 1 << 20);
    while (page.count == PAGE_KEYS) {
        const struct sink_key *key;

        arena_reset(arena);
        if (!store_sink_scan(sink, arena, tables, &scan, &page, err))
            goto fail;
        for (size_t i = 0; i < page.count; i++)
            digest_add(digests, &page.items[i]);
        if (page.count == 0)
            break;
        key = &page.items[page.count - 1].key;
        arena_reset(&last);
        scan.after = (struct sink_key){ arena_copy(&last, key->aggregate_type),
                                        arena_copy(&last, key->aggregate_id) };
        if (last.failed) {
            (void)arena_error(&last, err);
            goto fail;
        }
    }
    arena_release(&last);
    return true;
fail:
    arena_release(&last);
    return false;
}
