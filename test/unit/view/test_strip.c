/* The strip of a cursor: each instant once, the worst never hidden. */
#include "view/strip.h"

#include "base/instant.h"
#include "view_rig.h"

static struct view_strip_filter filter_of(const char *from, const char *to)
{
    return (struct view_strip_filter){ .cursors = { .source = STR("demo") },
                                       .from = maybe(from),
                                       .to = maybe(to),
                                       .pieces_max = 100,
                                       .named_max = 100 };
}

static struct view_strip strip_of(struct store *store, const struct view_strip_filter *filter)
{
    const struct view_reader reader = view_rig(store);
    struct view_strip_list list;
    struct error err = { 0 };

    REQUIRE_OK(view_strips(&reader, filter, &list, &err), err);
    REQUIRE(list.count == 1, "one cursor, one endpoint");
    return list.items[0];
}

/* Pieces follow each other without a gap, from the first instant to the last. */
static void check_whole(const struct view_strip *strip)
{
    int64_t at_us = strip->window.from_us;

    for (size_t i = 0; i < strip->count; i++) {
        CHECK_EQ(strip->items[i].window.from_us, at_us, "no gap");
        at_us = strip->items[i].window.to_us;
    }
    CHECK_EQ(at_us, strip->window.to_us, "up to the end");
}

/* "COVERED OPEN ..." */
static struct str states(const struct view_strip *strip)
{
    struct buf out;

    buf_init(&out, contract_arena(), 4096);
    for (size_t i = 0; i < strip->count; i++)
        buf_printf(&out, "%s%.*s", i > 0 ? " " : "",
                   STR_ARG(code_of(&STRIP_STATE_CODES, (int)strip->items[i].state)));
    return buf_str(&out);
}

/* Three days: one is covered, one failed, one waits. */
static struct store *three_days(struct task_list *tasks)
{
    struct store *store = view_rig_store();

    (void)view_rig_harvest(store);
    *tasks = planning_tasks(store);
    REQUIRE(tasks->count == 3, "a task for each day");
    planning_end(store, tasks->items[0].id, TASK_SUCCEEDED, NULL);
    planning_end(store, tasks->items[1].id, TASK_FAILED, NULL);
    return store;
}

TEST(each_piece_says_what_is_known_of_it_and_names_its_task)
{
    const struct view_strip_filter filter = filter_of("2024-12-31", "2025-01-05");
    struct view_rig_json json;
    struct view_strip strip;
    struct task_list tasks;
    struct store *store = three_days(&tasks);
    struct str text;

    strip = strip_of(store, &filter);
    check_whole(&strip);
    CHECK_STR(states(&strip), STR("OPEN COVERED MISSING LIVE OPEN"), "day by day");
    CHECK_EQ(strip.items[2].window.from_us, at("2025-01-02"), "the second day");
    REQUIRE(strip.items[2].task != NULL, "it has a task");
    CHECK_EQ(strip.items[2].task->id, tasks.items[1].id, "that failed");
    CHECK_EQ(strip.missing, 1, "one is missing");
    view_strips_write(view_rig_begin(&json), &(struct view_strip_list){ &strip, 1 });
    text = view_rig_end(&json);
    CHECK(view_rig_has(text, "\"state\":\"MISSING\",\"task\":{\"id\":2,"), "as JSON");
    contract_end();
}

/* What a person set back is wanted again: nothing failed there. */
TEST(what_was_reset_is_open_and_one_piece)
{
    const struct view_strip_filter filter = filter_of("2025-01-01", "2025-01-04");
    struct view_strip strip;
    struct task_list tasks;
    struct store *store = view_rig_store();
    struct coverage_namespace of;
    struct error err = { 0 };
    int64_t count;

    (void)view_rig_harvest(store);
    tasks = planning_tasks(store);
    planning_end_all(store, TASK_SUCCEEDED);
    of = (struct coverage_namespace){ .source = tasks.items[0].source,
                                      .endpoint = tasks.items[0].endpoint,
                                      .operation = tasks.items[0].operation,
                                      .cursor_key = tasks.items[0].cursor_key,
                                      .scope = tasks.items[0].scope,
                                      .namespace_key = tasks.items[0].namespace_key };
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_coverage_reset(store, &of, at("2025-01-02"), NOW_US, &count, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(count, 2, "two days");
    strip = strip_of(store, &filter);
    check_whole(&strip);
    CHECK_STR(states(&strip), STR("COVERED OPEN"), "the rest is open");
    contract_end();
}

TEST(without_a_beginning_it_begins_where_something_was_planned)
{
    struct view_strip_filter filter = filter_of(NULL, "2025-01-05");
    struct view_strip strip;
    struct task_list tasks;
    struct store *store = three_days(&tasks);

    strip = strip_of(store, &filter);
    check_whole(&strip);
    CHECK_EQ(strip.window.from_us, at("2025-01-01"), "the first plan");
    contract_end();
}

TEST(a_hole_does_not_disappear_where_pieces_are_joined)
{
    struct view_strip_filter filter = filter_of("2020-01-01", "2030-01-01");
    struct view_strip strip;
    struct task_list tasks;
    struct store *store = three_days(&tasks);

    filter.pieces_max = 3;
    strip = strip_of(store, &filter);
    check_whole(&strip);
    CHECK(strip.count <= 4, "few pieces");
    for (size_t i = 0; i < strip.count; i++) {
        if (strip.items[i].state != STRIP_MISSING)
            continue;
        REQUIRE(strip.items[i].task != NULL, "it has a task");
        CHECK_EQ(strip.items[i].task->id, tasks.items[1].id, "that failed");
        CHECK(strip.items[i].parts > 1, "with its neighbours");
        contract_end();
        return;
    }
    CHECK(false, "the hole is gone");
}

TEST(tasks_that_were_not_read_leave_pieces_without_a_name)
{
    struct view_strip_filter filter = filter_of("2024-12-31", "2025-01-05");
    struct view_strip strip;
    struct task_list tasks;
    struct store *store = three_days(&tasks);

    filter.named_max = 0;
    strip = strip_of(store, &filter);
    check_whole(&strip);
    CHECK_STR(states(&strip), STR("OPEN COVERED MISSING LIVE OPEN"), "the same");
    CHECK(strip.items[2].task == NULL, "and no task");
    contract_end();
}

TEST(a_window_that_ends_before_it_begins_is_refused)
{
    struct view_strip_filter filter = filter_of("2025-01-05", "2025-01-01");
    struct task_list tasks;
    struct view_reader reader = view_rig(three_days(&tasks));
    struct view_strip_list list;
    struct error err = { 0 };

    CHECK(!view_strips(&reader, &filter, &list, &err), "refused");
    CHECK_STR(str_of(err.code), STR("request.parameter"), "code");
    contract_end();
}
