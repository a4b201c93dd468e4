/* Histories made by chance against a model: an array of hours, and a cursor that counts along it.
 *
 * Tasks of an hour are added where nothing is covered or live, claimed, and ended well or badly, in
 * any order; cursors are moved after some of the ends and not after others;
 * now and then a person sets the cursor. The model knows nothing of windows or events.
 */
#include <string.h>

#include "cursoring.h"
#include "engine/cursor/cursor_reset.h"
#include "random.h"

enum { HISTORIES = 300, HOURS = 24, STEPS = 150, LIVE_MAX = 64 };

struct running {
    struct task task;
    bool is_late; /* begun before a reset that reached it */
};

struct model {
    struct random random;
    struct store *store;
    struct plan plan;
    bool is_covered[HOURS];
    bool is_live[HOURS];
    int64_t cursor; /* hours */
    struct running running[LIVE_MAX];
    size_t running_count;
    int moves, resets;
};

static void add_tasks(struct model *m)
{
    for (int64_t hour = m->cursor; hour < HOURS; hour++) {
        if (m->is_covered[hour] || m->is_live[hour] || random_chance(&m->random, 40))
            continue;
        cursoring_add(m->store, &m->plan, hour, 1);
        m->is_live[hour] = true;
    }
}

static void claim(struct model *m)
{
    const struct task_claim claim = {
        .owner = STR("a"),
        .now_us = INSTANT_MAX,
        .until_us = INSTANT_MAX,
        .limit = random_between(&m->random, 1, 7),
    };
    struct task_list list;
    struct error err = { 0 };
    bool held;

    if (m->running_count + 7 > LIVE_MAX)
        return;
    REQUIRE_OK(store_task_claim(m->store, contract_arena(), &claim, &list, &err), err);
    for (size_t i = 0; i < list.count; i++) {
        const struct lease lease = { list.items[i].id, list.items[i].lease_epoch };

        REQUIRE_OK(store_lease_start(m->store, lease, NOW_US, &held, &err), err);
        m->running[m->running_count++] = (struct running){ .task = list.items[i] };
    }
}

static void finish(struct model *m)
{
    const int64_t chance = random_between(&m->random, 0, 100);
    struct task_end end = { .status = chance < 75 ? TASK_SUCCEEDED : TASK_FAILED,
                            .now_us = NOW_US };
    struct running running;
    struct error err = { 0 };
    int64_t hour, at;
    bool held;

    if (m->running_count == 0)
        return;
    at = random_between(&m->random, 0, (int64_t)m->running_count);
    running = m->running[at];
    m->running[at] = m->running[--m->running_count];
    hour = (running.task.window.from_us - NOW_US) / US_PER_HOUR;
    end.lease = (struct lease){ running.task.id, running.task.lease_epoch };
    REQUIRE_OK(store_lease_finish(m->store, &end, &held, &err), err);
    REQUIRE(held, "the lease");
    m->is_live[hour] = false;
    if (end.status == TASK_SUCCEEDED && !running.is_late)
        m->is_covered[hour] = true;
}

static void advance(struct model *m)
{
    const int64_t before = m->cursor;
    struct cursor_advance_result result;

    while (m->cursor < HOURS && m->is_covered[m->cursor])
        m->cursor++;
    result = cursoring_advance(m->store, &m->plan);
    CHECK_EQ(result.moved, m->cursor > before, "moves when it can, and only then");
    CHECK_EQ(result.value.instant_us, HOUR(m->cursor), "as far as the model");
    m->moves += result.moved;
}

static void reset(struct model *m)
{
    const int64_t to = random_between(&m->random, 0, HOURS + 1);
    const struct cursor_reset_request request = {
        .name = cursoring_name(&m->plan),
        .to = { .type = CURSOR_TIME, .instant_us = HOUR(to) },
        .who = STR("chance"),
        .now_us = HOUR(HOURS),
    };
    struct cursor_reset_result result;
    struct error err = { 0 };

    REQUIRE_OK(cursor_reset(m->store, contract_arena(), &request, &result, &err), err);
    if (to < m->cursor) {
        for (int64_t hour = to; hour < HOURS; hour++)
            m->is_covered[hour] = false;
        for (size_t i = 0; i < m->running_count; i++)
            m->running[i].is_late |= m->running[i].task.window.to_us > HOUR(to);
    }
    CHECK_EQ(result.is_moved, to != m->cursor, "set");
    m->cursor = to;
    m->resets++;
}

static void step(struct model *m)
{
    const int64_t chance = random_between(&m->random, 0, 100);

    if (chance < 15)
        add_tasks(m);
    else if (chance < 35)
        claim(m);
    else if (chance < 70)
        finish(m);
    else if (chance < 98)
        advance(m);
    else
        reset(m);
}

static bool run_history(uint64_t seed, int *moves, int *resets)
{
    static struct model m; /* large */
    int64_t value_us;

    m = (struct model){ .random = { seed }, .store = contract_store() };
    m.plan = cursoring_plan(m.store, NULL, 3);
    for (int64_t hour = 0; hour < 3; hour++)
        m.is_live[hour] = true;
    for (int i = 0; i < STEPS; i++)
        step(&m);
    cursoring_check_replay(m.store, &m.plan, "events and value");
    value_us = cursoring_cursor(m.store, &m.plan).value.instant_us;
    *moves += m.moves;
    *resets += m.resets;
    contract_end();
    return value_us == HOUR(m.cursor);
}

TEST(tasks_that_end_in_any_order_leave_the_cursor_where_the_model_is)
{
    const int histories = contract_rounds(HISTORIES);
    const struct random_seeds seeds = random_seeds((uint64_t)histories);
    int moves = 0, resets = 0;

    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        if (!run_history(seed, &moves, &resets)) {
            test_fail(__FILE__, __LINE__,
                      "the model and the cursor differ (PATRA_SEED=%" PRIu64 " runs it again)",
                      seed);
            return;
        }
    }
    CHECK(seeds.is_one || moves > histories, "cursors have moved");
    test_note("%d histories, %d moves, %d resets", histories, moves, resets);
}
