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

static const char *const BUG_NAMES[BUG_COUNT] = { READER_BUG_NAMES, "offsets alone",
                                                  "halving that skips one" };

static const char *history(int bug, uint64_t seed, struct reader_counts *seen)
{
    struct consume_world *w = calloc(1, sizeof(*w));
    const char *wrong;

    REQUIRE(w != NULL, "memory");
    consume_world_begin(w, bug, seed);
    reader_world_live(&w->world);
    wrong = consume_world_judge(w);
    *seen = w->world.seen;
    consume_world_end(w);
    free(w);
    return wrong;
}

TEST(whatever_dies_or_refuses_each_event_takes_effect_once_and_in_order)
{
    reader_world_play(history, true);
}

TEST(every_planted_bug_is_found)
{
    reader_world_find_bugs(history, BUG_NAMES, BUG_COUNT);
}
