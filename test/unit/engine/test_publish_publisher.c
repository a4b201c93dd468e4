/* Tests: how often the publisher looks, in virtual time, at a store that a table plays. */
#include "engine/publish/publisher.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "played_wake.h"
#include "port/store_rate.h"
#include "seeded_random.h"
#include "test.h"
#include "virtual_clock.h"

enum { LOOKS_MAX = 64 };

struct played {
    struct played_wake wake; /* first */
    struct virtual_clock clock;
    bool is_taken;        /* somebody else has the lease */
    int64_t gap_until_us; /* until then an id is missing, whose writer is at work */
    int looks;            /* claims and scans */
    int looks_wanted;     /* then it is stopped */
    int64_t looked_us[LOOKS_MAX];
    int wake_fd;
    int released;
};

static struct played *played_of(struct store *store)
{
    return (struct played *)store;
}

static void look(struct played *p)
{
    p->looked_us[p->looks++] = clock_monotonic_us(&p->clock.clock);
    if (p->looks == p->looks_wanted)
        (void)!write(p->wake_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

static bool has_gap(struct played *p)
{
    return clock_monotonic_us(&p->clock.clock) < p->gap_until_us;
}

static bool claim(struct store *store, const struct stream_claim *of, struct stream_lease *lease,
                  bool *held, struct error *err)
{
    struct played *p = played_of(store);

    (void)of;
    (void)err;
    *held = !p->is_taken;
    *lease = (struct stream_lease){ .epoch = 1, .cursor_id = has_gap(p) ? 2 : 0 };
    if (p->is_taken)
        look(p);
    return true;
}

static bool renew(struct store *store, int64_t epoch, int64_t until_us, bool *held,
                  struct error *err)
{
    (void)store;
    (void)epoch;
    (void)until_us;
    (void)err;
    *held = true;
    return true;
}

static bool release(struct store *store, int64_t epoch, struct error *err)
{
    (void)epoch;
    (void)err;
    played_of(store)->released++;
    return true;
}

static bool taken(struct store *store, struct arena *arena, int64_t above, struct stream_ids *ids,
                  struct error *err)
{
    int64_t *two;

    (void)store;
    (void)above;
    *ids = (struct stream_ids){ 0 };
    two = LIST_ADD(arena, ids);
    if (two == NULL)
        return arena_error(arena, err);
    *two = 2;
    return true;
}

static bool writers(struct store *store, struct arena *arena, struct stream_mark *mark,
                    struct error *err)
{
    struct str *writer;

    *mark = (struct stream_mark){ .last_id = 2 };
    if (!has_gap(played_of(store)))
        return true;
    writer = LIST_ADD(arena, &mark->writers);
    if (writer == NULL)
        return arena_error(arena, err);
    *writer = STR("somebody");
    return true;
}

static bool scan(struct store *store, struct arena *arena, const struct stream_scan *of,
                 struct outbox_ref_list *list, struct error *err)
{
    (void)arena;
    (void)of;
    (void)err;
    *list = (struct outbox_ref_list){ 0 };
    look(played_of(store));
    return true;
}

static bool append(struct store *store, const struct stream_append *of, bool *held,
                   struct error *err)
{
    (void)store;
    (void)of;
    (void)err;
    *held = true;
    return true;
}

static bool store_time(struct store *store, int64_t local_us, int64_t *now_us, struct error *err)
{
    (void)store;
    (void)err;
    *now_us = local_us;
    return true;
}

static const struct store_stream_ops STREAM = { .claim = claim,
                                                .renew = renew,
                                                .release = release,
                                                .taken = taken,
                                                .writers = writers,
                                                .scan = scan,
                                                .append = append };
static const struct store_rate_ops RATE = { .clock = store_time };

static void play(struct played *p)
{
    struct seeded_random random;
    const struct publisher_settings settings = { .sequencer = { .owner = STR("one") } };
    struct error err = { 0 };

    played_wake_open(&p->wake);
    p->wake.store.stream = &STREAM;
    p->wake.store.rate = &RATE;
    p->wake_fd = eventfd(0, EFD_CLOEXEC);
    virtual_clock_init(&p->clock, INT64_C(1767225600000000));
    seeded_random_init(&random, 1);
    REQUIRE_OK(publisher_run(&(struct publisher_parts){ .store = &p->wake.store,
                                                        .clock = &p->clock.clock,
                                                        .random = &random.source,
                                                        .wake_fd = p->wake_fd },
                             &settings, NULL, &err),
               err);
    (void)close(p->wake_fd);
    played_wake_close(&p->wake);
}

/* The wait before look i, in microseconds, by a fifth more or less. */
static void check_wait(const struct played *p, int i, int64_t wanted_us)
{
    const int64_t waited_us = p->looked_us[i] - p->looked_us[i - 1];

    CHECK(waited_us >= wanted_us * 4 / 5 && waited_us <= wanted_us * 6 / 5, "the wait");
    if (waited_us < wanted_us * 4 / 5 || waited_us > wanted_us * 6 / 5)
        test_note("look %d after %lld us, wanted %lld", i, (long long)waited_us,
                  (long long)wanted_us);
}

TEST(the_longer_nothing_comes_the_rarer_it_looks_up_to_a_second)
{
    struct played p = { .looks_wanted = 14 };

    play(&p);
    REQUIRE(p.looks == 14, "looks");
    for (int i = 1, wait_us = 5000; i < 14; i++, wait_us *= 2)
        check_wait(&p, i, wait_us < 1000000 ? wait_us : 1000000);
    CHECK_EQ(p.released, 1, "the lease is given back");
}

TEST(while_somebody_is_writing_it_looks_soon)
{
    struct played p = { .looks_wanted = 20, .gap_until_us = US_PER_HOUR };

    play(&p);
    for (int i = 1; i < 20; i++)
        check_wait(&p, i, 5000);
}

TEST(who_waits_for_the_lease_looks_ever_more_rarely)
{
    struct played p = { .looks_wanted = 12, .is_taken = true };

    play(&p);
    for (int i = 1, wait_us = 5000; i < 12; i++, wait_us *= 2)
        check_wait(&p, i, wait_us < 1000000 ? wait_us : 1000000);
    CHECK_EQ(p.released, 0, "nothing to give back");
}
