/* A snapshot is read once, stays while it is held, and the cache stays small. */
#include "engine/source/spec_cache.h"

#include <pthread.h>

#include "spec/snapshot.h"
#include "spec/source.h"
#include "test.h"

enum { SNAPSHOTS = SPECS_KEPT + 20, THREADS = 4, ROUNDS = 500 };

static struct arena arena;
static struct str snapshots[SNAPSHOTS];

/* One snapshot with more and more spaces after it: as many texts, one meaning. */
static void make_snapshots(void)
{
    const struct source_text text = { .file = test_read("sources/crossref.yaml") };
    struct source *source = ARENA_NEW(&arena, struct source);
    struct snapshot snapshot;
    struct fault_list faults;
    struct error err;

    fault_list_init(&faults, &arena);
    REQUIRE(source_read(&arena, &text, &faults, source), "the source is valid");
    REQUIRE_OK(
        snapshot_make(&arena,
                      &(struct snapshot_request){ .source = source, .operation = STR("harvest") },
                      &snapshot, &err),
        err);
    for (int i = 0; i < SNAPSHOTS; i++)
        snapshots[i] = arena_printf(&arena, "%.*s%*s", STR_ARG(snapshot.json), i, "");
}

static struct spec_cache *open_cache(void)
{
    struct spec_cache *cache;
    struct error err;

    arena_init(&arena, 64 << 20);
    make_snapshots();
    REQUIRE_OK(spec_cache_open(&cache, &err), err);
    return cache;
}

static void close_cache(struct spec_cache *cache)
{
    spec_cache_close(cache);
    arena_release(&arena);
}

static const struct spec *hold(struct spec_cache *cache, int i)
{
    const struct spec *spec;
    struct error err;

    REQUIRE_OK(spec_cache_hold(cache, snapshots[i], &spec, &err), err);
    return spec;
}

TEST(the_same_snapshot_is_the_same_spec)
{
    struct spec_cache *cache = open_cache();
    const struct spec *first = hold(cache, 0);
    const struct spec *second = hold(cache, 0);
    const struct spec *other = hold(cache, 1);

    CHECK(first == second, "read once");
    CHECK(first != other, "another text is another spec");
    CHECK_STR(first->source, STR("crossref"), "and it is what the snapshot says");
    spec_cache_release(cache, first);
    spec_cache_release(cache, second);
    spec_cache_release(cache, other);
    CHECK(hold(cache, 0) == first, "and kept");
    spec_cache_release(cache, first);
    close_cache(cache);
}

TEST(what_is_held_outlives_all_others)
{
    struct spec_cache *cache = open_cache();
    const struct spec *held = hold(cache, 0);

    for (int i = 1; i < SNAPSHOTS; i++)
        spec_cache_release(cache, hold(cache, i));
    CHECK(hold(cache, 0) == held, "still there");
    CHECK_STR(held->source, STR("crossref"), "and readable");
    spec_cache_release(cache, held);
    spec_cache_release(cache, held);
    close_cache(cache);
}

TEST(without_a_cache_each_holder_has_its_own)
{
    struct spec_cache *cache = open_cache();
    const struct spec *first = hold(NULL, 0);
    const struct spec *second = hold(NULL, 0);

    CHECK(first != second, "each has its own");
    spec_cache_release(NULL, first);
    CHECK_STR(second->source, STR("crossref"), "which the other one's release leaves alone");
    spec_cache_release(NULL, second);
    close_cache(cache);
}

TEST(what_is_no_snapshot_is_not_kept)
{
    struct spec_cache *cache = open_cache();
    const struct spec *spec;
    struct error err;

    for (int i = 0; i < 2; i++) {
        CHECK(!spec_cache_hold(cache, STR("{}"), &spec, &err), "not a snapshot");
        CHECK(spec == NULL, "nothing to release");
    }
    spec_cache_release(cache, spec);
    close_cache(cache);
}

static void *use(void *context)
{
    struct spec_cache *cache = context;

    for (int i = 0; i < ROUNDS; i++) {
        const struct spec *spec = hold(cache, i % SNAPSHOTS);

        if (!str_eq(spec->source, STR("crossref")))
            return cache;
        spec_cache_release(cache, spec);
    }
    return NULL;
}

TEST(any_number_of_threads_share_it)
{
    struct spec_cache *cache = open_cache();
    pthread_t threads[THREADS];
    void *bad;

    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, use, cache) == 0, "a thread");
    for (int i = 0; i < THREADS; i++) {
        REQUIRE(pthread_join(threads[i], &bad) == 0, "joined");
        CHECK(bad == NULL, "what was held was whole");
    }
    close_cache(cache);
}
