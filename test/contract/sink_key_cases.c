/* Keys of projections: found, digested, picked. */
#include <string.h>

#include "data/hash.h"
#include "engine/project/digest.h"
#include "sink_rig.h"
#include "sink_things.h"

TEST(keys_are_found_rows_and_gone_ones)
{
    struct sink_rig rig;
    struct sink_seen seen;
    bool found;

    sink_rig_begin(&rig, THINGS_ERASED);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Drop", 3, "{}"), rig.err);
    REQUIRE_OK(store_sink_row(rig.sink, rig.tables, 0, &(struct sink_key){ STR("thing"), STR("a") },
                              &seen, &found, &rig.err),
               rig.err);
    CHECK(found && seen.is_gone && seen.version == 3, "gone");
    REQUIRE_OK(store_sink_row(rig.sink, rig.tables, 0, &(struct sink_key){ STR("thing"), STR("d") },
                              &seen, &found, &rig.err),
               rig.err);
    CHECK(!found, "never seen");
    sink_rig_end(&rig);
}

enum { BUCKETS = 64 };

/* The rule by itself: 60 bits of SHA-256 of a state's text. */
static int64_t hash_of_state(const char *text)
{
    struct hash_sum sum;
    struct error err;
    int64_t bits = 0;

    REQUIRE(hash_of(str_of(text), &sum, &err), err.text);
    for (int i = 0; i < 8; i++)
        bits = (int64_t)((uint64_t)bits << 8 | sum.bytes[i]);
    return (int64_t)((uint64_t)bits >> 4);
}

static void add_state(struct bucket_digest *digests, const char *text)
{
    const int64_t hash = hash_of_state(text);

    digest_add(digests, &(struct key_digest){ .bucket = hash % BUCKETS,
                                              .keys = 1,
                                              .low = hash & 0x3fffffff,
                                              .high = hash >> 30 });
}

static void check_digests(struct sink_rig *rig, const char *const *texts, size_t count)
{
    struct bucket_digest digests[BUCKETS], wanted[BUCKETS] = { { 0 } };

    for (size_t i = 0; i < count; i++)
        add_state(wanted, texts[i]);
    REQUIRE_OK(digest_table(rig->sink, &rig->batch, rig->tables, 0, BUCKETS, digests, &rig->err),
               rig->err);
    CHECK(memcmp(digests, wanted, sizeof(wanted)) == 0, "digests");
}

TEST(every_database_makes_the_same_digests)
{
    static const char *const before[] = { "1:cthing:2", "2:\xc3\xa9/thing:3-", "1:bthing:5" };
    static const char *const after[] = { "1:cthing:2", "2:\xc3\xa9/thing:3-", "1:bthing:6" };
    struct sink_rig rig;

    sink_rig_begin(&rig, THINGS_ERASED);
    REQUIRE_OK(sink_rig_event(&rig, "b", "Set", 5, "{}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "\xc3\xa9/", "Drop", 3, "{}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "c", "Set", 2, "{}"), rig.err);
    check_digests(&rig, before, ARRAY_LEN(before));
    REQUIRE_OK(sink_rig_event(&rig, "b", "Set", 6, "{}"), rig.err);
    check_digests(&rig, after, ARRAY_LEN(after));
    sink_rig_end(&rig);
}

TEST(the_keys_of_a_bucket_are_picked)
{
    struct key_pick pick = { .buckets = { .count = BUCKETS } };
    char marks[BUCKETS] = { 0 };
    struct sink_seen_list list;
    struct sink_rig rig;

    sink_rig_begin(&rig, THINGS_ERASED);
    REQUIRE_OK(sink_rig_event(&rig, "b", "Set", 5, "{}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Drop", 3, "{}"), rig.err);
    pick.marks = (struct str){ marks, BUCKETS };
    marks[hash_of_state("1:athing:3-") % BUCKETS] = KEY_PICKED;
    REQUIRE_OK(store_sink_pick(rig.sink, &rig.arena, rig.tables, 0, &pick, &list, &rig.err),
               rig.err);
    REQUIRE(list.count == 1, "one of two");
    CHECK_STR(list.items[0].key.aggregate_type, STR("thing"), "its type");
    CHECK_STR(list.items[0].key.aggregate_id, STR("a"), "its id");
    CHECK(list.items[0].version == 3 && list.items[0].is_gone, "its state");
    pick.buckets.ignores_gone = true;
    memset(marks, 0, sizeof(marks));
    marks[hash_of_state("1:athing:3") % BUCKETS] = KEY_PICKED;
    REQUIRE_OK(store_sink_pick(rig.sink, &rig.arena, rig.tables, 0, &pick, &list, &rig.err),
               rig.err);
    CHECK(list.count == 1 && list.items[0].is_gone, "whether it is gone need not count");
    sink_rig_end(&rig);
}
