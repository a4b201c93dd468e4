/* Sequencer and consumers in virtual time, on a real store under faults.
 *
 *      a writer        changes records, several in a transaction
 *      a sequencer     rounds
 *      3 consumers     rounds; any of them dies at any call of the database, or sleeps between
 *                      reading and its transaction until the others have taken over
 *      a table         refuses keys, is broken
 *      a person        seeks, lets keys be tried again, gives keys up, redrives dead letters
 *
 * The table has a row per event, so it shows what a projection's versions would hide. Afterwards,
 * when all is well again: each event took effect once, those of a key in the order of its versions;
 * after a seek everything again; and of what was given up there is a dead letter.
 *
 * A bug is a switch: what the store, or the consumer, would do wrong. With each of them some
 * history must fail.
 */
#include <stdlib.h>

#include "consume_world.h"
#include "contract.h"

enum {
    STEPS = 260,
    HISTORIES = TEST_IS_SLOW ? 10 : 50,
    BUG_HISTORIES = 300, /* at most, until it was found so often */
    BUG_FINDS = TEST_IS_SLOW ? 1 : 3,
};

static const char *const BUG_NAMES[BUG_COUNT] = { READER_BUG_NAMES, "offsets alone",
                                                  "halving that skips one" };

/* ---- chance ---- */

static void change_table(struct world *w)
{
    static const char *const PARTS[] = { "k0000", "k00003", "k00011", NULL, NULL };

    w->refuse = PARTS[random_between(&w->random, 0, ARRAY_LEN(PARTS))];
    w->refuse_from = random_between(&w->random, 1, 12);
    w->is_broken = random_chance(&w->random, 10);
    world_set_table(w);
}

/* The consumer that has read sleeps; the others take over; a person may be there. */
static void others_work(void *context)
{
    struct world *w = context;

    if (w->is_nested || !random_chance(&w->random, 10))
        return;
    w->is_nested = true;
    if (random_chance(&w->random, 40))
        person_seek(w, random_chance(&w->random, 30));
    if (random_chance(&w->random, 40)) { /* it was only a person */
        w->is_nested = false;
        return;
    }
    virtual_clock_advance(&w->clock, 2 * LEASE_US);
    if (random_chance(&w->random, 20))
        person_give_up(w);
    world_write(w);
    world_sequence(w);
    for (int n = 0; n < 2; n++) {
        for (int i = 0; i < CONSUMERS; i++) {
            if (i != w->active)
                (void)world_turn(w, i);
        }
    }
    w->is_nested = false;
}

static void step(struct world *w)
{
    const int64_t what = random_between(&w->random, 0, 100);
    const int reader = (int)random_between(&w->random, 0, CONSUMERS);

    virtual_clock_advance(&w->clock, random_between(&w->random, 0, US_PER_SECOND / 4));
    if (what < 20)
        world_write(w);
    else if (what < 35)
        world_sequence(w);
    else if (what < 82)
        (void)world_turn(w, reader);
    else if (what < 85)
        world_kill(w, reader);
    else if (what < 88)
        world_stumble(w, reader);
    else if (what < 93)
        change_table(w);
    else if (what < 95)
        virtual_clock_advance(&w->clock, 2 * LEASE_US);
    else if (what < 96)
        person_seek(w, random_chance(&w->random, 40));
    else if (what < 97)
        person_try_again(w);
    else if (what < 98)
        person_redrive(w);
    else
        person_give_up_and_go_on(w);
}

/* Everything works again: what is left is applied. */
static void heal(struct world *w)
{
    w->refuse = NULL;
    w->is_broken = false;
    world_set_table(w);
    w->is_nested = true;
    for (int n = 0; n < 30; n++) {
        world_sequence(w);
        person_try_again(w);
        virtual_clock_advance(&w->clock, LEASE_US / 2);
        for (int i = 0; i < CONSUMERS; i++)
            (void)world_turn(w, i);
        virtual_clock_advance(&w->clock, 3 * US_PER_SECOND);
        for (int i = 0; i < CONSUMERS; i++)
            (void)world_turn(w, i);
    }
}

/* ---- histories ---- */

/* What is wrong; NULL: nothing. */
static const char *history(int bug, uint64_t seed, struct world *w)
{
    const char *wrong;

    world_begin(w, bug, seed, others_work);
    for (int i = 0; i < STEPS; i++)
        step(w);
    heal(w);
    wrong = world_judge(w);
    world_end(w);
    return wrong;
}

TEST(whatever_dies_or_refuses_each_event_takes_effect_once_and_in_order)
{
    const struct random_seeds seeds = random_seeds((uint64_t)contract_rounds(HISTORIES));
    struct world *w = calloc(1, sizeof(*w));
    int deaths = 0, overtaken = 0, parked = 0, returned = 0, dead = 0, given_up = 0, redriven = 0,
        seeks = 0, broken = 0;

    REQUIRE(w != NULL, "memory");
    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        const char *wrong = history(BUG_NONE, seed, w);

        if (wrong != NULL)
            test_fail(__FILE__, __LINE__, "seed %llu: %s", (unsigned long long)seed, wrong);
        deaths += w->seen.deaths;
        overtaken += w->seen.overtaken;
        parked += w->seen.parked;
        returned += w->seen.returned;
        given_up += w->seen.given_up;
        seeks += w->seen.seeks;
        dead += w->seen.dead;
        redriven += w->seen.redriven;
        broken += w->seen.broken;
    }
    test_note("%d deaths, %d overtaken, %d keys parked, %d returned, %d dead, %d given up, %d "
              "redriven, %d seeks, %d rounds with a broken table",
              deaths, overtaken, parked, returned, dead, given_up, redriven, seeks, broken);
    if (!seeds.is_one)
        CHECK(deaths > 0 && overtaken > 0 && parked > 0 && returned > 0 && dead > 0 &&
                  given_up > 0 && redriven > 0 && seeks > 0,
              "the histories have what they are for");
    free(w);
}

TEST(every_planted_bug_is_found)
{
    struct world *w = calloc(1, sizeof(*w));

    REQUIRE(w != NULL, "memory");
    for (int bug = BUG_NONE + 1; bug < BUG_COUNT; bug++) {
        const char *first = NULL;
        int found = 0;

        for (uint64_t seed = 1; seed <= BUG_HISTORIES && found < BUG_FINDS; seed++) {
            const char *wrong = history(bug, seed, w);

            if (first == NULL)
                first = wrong;
            found += wrong != NULL;
        }
        test_note("%s: %s", BUG_NAMES[bug], first != NULL ? first : "nothing");
        CHECK(found > 0, BUG_NAMES[bug]);
    }
    free(w);
}
