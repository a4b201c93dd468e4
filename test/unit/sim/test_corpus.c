/* The corpus and its views, against a model that looks at every version of every record. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "sim/protocol/body.h"
#include "sim/util/hash.h"
#include "sim/world/corpus.h"
#include "sim/world/view.h"
#include "sim/world/world.h"
#include "test.h"

enum { RECORDS = 3000 };

static struct world_options options_of(int64_t seed)
{
    struct world_options options;

    world_options_init(&options);
    options.seed = seed;
    options.records = RECORDS;
    options.late_ppm = 50000;
    options.future_ppm = 20000;
    options.deleted_ppm = 60000;
    options.merged_ppm = 30000;
    options.big_day_records = 300;
    return options;
}

TEST(versions_keep_their_rules)
{
    const struct world_options options = options_of(7);
    size_t deleted = 0, merged = 0, late = 0, ahead = 0, versions = 0;

    for (uint32_t record = 0; record < RECORDS; record++) {
        struct life life;

        life_make(&options, record, &life);
        REQUIRE(life.count >= 1 && life.count <= LIFE_VERSIONS_MAX, "a life has versions");
        CHECK((life.versions[0].flags & VERSION_DEPOSIT) != 0, "it begins with a deposit");
        for (size_t i = 0; i < life.count; i++) {
            const uint8_t dead = life.versions[i].flags & (VERSION_DELETED | VERSION_MERGED);

            versions++;
            late += life.versions[i].visible_us - life.versions[i].at_us > US_PER_HOUR;
            ahead += life.versions[i].visible_us < life.versions[i].at_us;
            CHECK(life.versions[i].at_us >= options.from_us, "not before the world");
            CHECK(life.versions[i].at_us < options.to_us, "before the end of the world");
            CHECK(dead == 0 || i + 1 == life.count, "death comes last");
            CHECK(dead == 0 || i > 0, "what dies was alive");
            if (i == 0)
                continue;
            CHECK(life.versions[i].at_us > life.versions[i - 1].at_us, "dates grow");
            CHECK(life.versions[i].visible_us > life.versions[i - 1].visible_us,
                  "appearances grow");
        }
        deleted += (life.versions[life.count - 1].flags & VERSION_DELETED) != 0;
        merged += (life.versions[life.count - 1].flags & VERSION_MERGED) != 0;
    }
    test_note("%zu versions of %d records: %zu late, %zu ahead; %zu deleted, %zu merged", versions,
              RECORDS, late, ahead, deleted, merged);
    CHECK(versions > RECORDS * 3 / 2, "records change");
    CHECK(deleted > 20 && merged > 10 && late > 20 && ahead > 5, "all that can happen happens");
}

TEST(merges_end_at_a_live_record)
{
    const struct world_options options = options_of(7);

    for (uint32_t record = 0; record < RECORDS; record++) {
        struct life life, target;

        life_make(&options, record, &life);
        if ((life.versions[life.count - 1].flags & VERSION_MERGED) == 0)
            continue;
        CHECK(corpus_merged_into(&options, record) != record, "not into itself");
        life_make(&options, corpus_merged_into(&options, record), &target);
        CHECK_EQ(target.versions[target.count - 1].flags & (VERSION_DELETED | VERSION_MERGED), 0,
                 "the survivor survives");
    }
}

TEST(bursts_share_an_instant)
{
    const struct world_options options = options_of(3);
    struct error err = { 0 };
    struct corpus corpus;
    struct view view;
    size_t longest = 0, run = 0;
    int64_t big_day = 0;

    REQUIRE_OK(corpus_open(&corpus, &options, &err), err);
    REQUIRE_OK(view_open(&view, &corpus, &err), err);
    for (uint32_t i = 1; i < view.orders[ORDER_UPDATED].count; i++) {
        run = view.orders[ORDER_UPDATED].keys[i] == view.orders[ORDER_UPDATED].keys[i - 1] ? run + 1
                                                                                           : 0;
        longest = run > longest ? run : longest;
    }
    for (uint32_t record = 0; record < RECORDS; record++)
        big_day += corpus_created_us(&corpus, record) >= options.big_day_us &&
                   corpus_created_us(&corpus, record) < options.big_day_us + US_PER_DAY;
    CHECK(longest >= 10, "many versions at one instant");
    CHECK(big_day >= 300, "the big day is big");
    view_close(&view);
    corpus_close(&corpus);
}

/* ---- the model ---- */

static bool model_holds(const struct corpus *corpus, const struct view_query *query,
                        uint32_t record, int64_t now_us, struct hit *hit, int64_t *key_us)
{
    uint32_t version = CORPUS_NONE;

    for (uint32_t v = corpus->first[record]; v < corpus->first[record + 1]; v++) {
        if (corpus->visible_us[v] <= now_us)
            version = v;
    }
    if (version == CORPUS_NONE || record < query->record_from || record >= query->record_to)
        return false;
    if (query->mode != VIEW_ALL && (corpus->flags[version] & VERSION_MERGED) != 0)
        return false;
    if (query->mode == VIEW_LIVE && (corpus->flags[version] & VERSION_DELETED) != 0)
        return false;
    for (int i = 0; i < ORDER_APPEARED; i++) {
        const int64_t key = view_key_of(corpus, (enum view_order)i, version);

        if (key < query->ranges[i].from_us || key >= query->ranges[i].to_us)
            return false;
    }
    *hit = (struct hit){ record, version };
    *key_us = view_key_of(corpus, query->order, version);
    return true;
}

struct model_hit {
    struct hit hit;
    int64_t key_us;
};

static int by_key(const void *a, const void *b)
{
    const struct model_hit *x = a, *y = b;

    if (x->key_us != y->key_us)
        return x->key_us < y->key_us ? -1 : 1;
    return x->hit.record < y->hit.record ? -1 : x->hit.record > y->hit.record;
}

static size_t model_list(const struct corpus *corpus, const struct view_query *query,
                         int64_t now_us, struct model_hit *list)
{
    size_t count = 0;

    for (uint32_t record = 0; record < corpus->count; record++)
        count += model_holds(corpus, query, record, now_us, &list[count].hit, &list[count].key_us);
    qsort(list, count, sizeof(*list), by_key);
    return count;
}

/* A random query: any order by date, mode, window, sometimes more filters, sometimes descending. */
static struct view_query some_query(const struct world_options *options, uint64_t hash)
{
    const int64_t span = options->to_us - options->from_us;
    struct view_query query =
        view_query_all((enum view_order)hash_below(hash_mix(hash + 1), ORDER_APPEARED),
                       (enum view_mode)hash_below(hash_mix(hash + 2), VIEW_MODE_COUNT));
    const int64_t from_us = options->from_us + (int64_t)(hash_mix(hash + 3) % (uint64_t)span);

    query.ranges[query.order] =
        (struct view_range){ from_us, from_us + (int64_t)(hash_mix(hash + 4) % (uint64_t)span) };
    if (hash % 3 == 0) {
        query.record_from = hash_below(hash_mix(hash + 5), RECORDS);
        query.record_to = query.record_from + hash_below(hash_mix(hash + 6), RECORDS);
    }
    if (hash % 4 == 0)
        query.ranges[ORDER_CREATED].to_us = options->from_us + span / 2;
    query.descending = hash % 5 == 0;
    return query;
}

static void check_query(const struct view *view, const struct view_query *query, uint64_t hash,
                        const struct model_hit *list, size_t count)
{
    const size_t limit = 1 + hash_below(hash_mix(hash + 7), 50);
    const size_t skip = hash_below(hash_mix(hash + 8), (uint32_t)count + 10);
    const size_t wanted = skip >= count ? 0 : count - skip < limit ? count - skip : limit;
    struct hit hits[64];

    CHECK_EQ(view_count(view, query), count, "count");
    REQUIRE(view_page(view, query, skip, limit, hits) == wanted, "the page's length");
    for (size_t i = 0; i < wanted; i++) {
        const size_t at = query->descending ? count - 1 - skip - i : skip + i;

        CHECK_EQ(hits[i].record, list[at].hit.record, "record");
        CHECK_EQ(hits[i].version, list[at].hit.version, "version");
    }
}

/* The hits after a key are the model's, also when the key itself does not exist. */
static void check_after(const struct view *view, struct view_query query,
                        const struct model_hit *list, size_t count, uint64_t hash)
{
    const size_t at = count > 0 ? hash_below(hash, (uint32_t)count) : 0;
    struct hit hit;

    if (count == 0 || query.descending)
        return;
    query.has_after = true;
    query.after_us = list[at].key_us;
    query.after_record = list[at].hit.record;
    CHECK_EQ(view_count(view, &query), count - at - 1, "after a key");
    if (at + 1 < count && view_page(view, &query, 0, 1, &hit) == 1)
        CHECK_EQ(hit.record, list[at + 1].hit.record, "the next one");
}

TEST(views_agree_with_a_scan_of_all_versions)
{
    const struct world_options options = options_of(11);
    const int64_t span = options.to_us - options.from_us;
    struct model_hit *list = malloc(RECORDS * sizeof(*list));
    struct error err = { 0 };
    struct corpus corpus;
    struct view view;

    REQUIRE_OK(corpus_open(&corpus, &options, &err), err);
    REQUIRE_OK(view_open(&view, &corpus, &err), err);
    for (uint64_t round = 0; round < 400; round++) {
        const uint64_t hash = hash_mix(round);
        struct view_query query = some_query(&options, hash);
        /* Large and small steps, forward and back. */
        const int64_t now_us =
            round % 3 == 0 ? options.from_us + (int64_t)(hash % (uint64_t)(span * 5 / 4))
                           : view.now_us + (int64_t)(hash % (uint64_t)US_PER_DAY) - US_PER_DAY / 2;
        size_t count;

        view_seek(&view, now_us);
        count = model_list(&corpus, &query, now_us, list);
        check_query(&view, &query, hash, list, count);
        check_after(&view, query, list, count, hash_mix(hash + 9));
    }
    view_close(&view);
    corpus_close(&corpus);
    free(list);
}

/* The bytes that malloc has allocated; 0 under a sanitizer. */
static size_t allocated(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

TEST(a_million_records_fit_into_500_megabytes)
{
    struct world_options options;
    struct error err = { 0 };
    struct sim_world *world;
    size_t before, bytes;

    world_options_init(&options);
    options.records = 1000000;
    before = allocated();
    world = body_world_open(&options, &err);
    REQUIRE(world != NULL, err.text);
    bytes = allocated() - before;
    test_note("1,000,000 records, %u versions: %zu MB", world_corpus(world)->version_count,
              bytes >> 20);
    CHECK(bytes < (size_t)500 << 20, "bytes");
    world_close(world);
}
