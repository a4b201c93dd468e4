/* Whose turn it is, and when nobody's. */
#include "engine/execute/partitions.h"

#include "test.h"

#define T0 INT64_C(1767225600000000)

static const struct partition_state states[] = {
    { .partition = { STR_INIT("crossref"), STR_INIT("works"), OPERATION_HARVEST },
      .has_due = true,
      .priority = 10 },
    { .partition = { STR_INIT("pubmed"), STR_INIT("search"), OPERATION_HARVEST },
      .has_due = true,
      .priority = 10 },
};

static bool want(const void *context, const struct task_partition *partition)
{
    (void)context;
    (void)partition;
    return true;
}

static struct crew_ask ask_at(int64_t now_us, size_t count)
{
    static struct partition_list partitions;
    static const struct pause_list pauses;

    partitions = (struct partition_list){ (struct partition_state *)states, count };
    return (struct crew_ask){
        .partitions = &partitions, .pauses = &pauses, .wanted = want, .now_us = now_us
    };
}

static const struct partition_state *chosen(struct crew *crew, int64_t now_us, size_t count)
{
    const struct crew_ask ask = ask_at(now_us, count);
    const struct partition_state *state = crew_choose(crew, &ask).partition;

    return state;
}

TEST(partitions_of_one_priority_take_turns)
{
    const struct partition_state *first, *second;
    struct crew *crew;
    struct error err;

    REQUIRE_OK(crew_open(&crew, &err), err);
    first = chosen(crew, T0, 2);
    second = chosen(crew, T0, 2);
    CHECK(first != NULL && second != NULL &&
              !str_eq(first->partition.source, second->partition.source),
          "one after the other");
    CHECK(str_eq(chosen(crew, T0, 2)->partition.source, first->partition.source), "and again");
    crew_close(crew);
}

TEST(a_partition_that_wants_silence_is_left_alone_until_then)
{
    const struct crew_rest rest = { T0 + US_PER_MINUTE, WAIT_RETRY_AFTER };
    const struct crew_rest shorter = { T0 + US_PER_SECOND, WAIT_QUOTA };
    struct crew_ask ask;
    struct crew *crew;
    struct error err;

    REQUIRE_OK(crew_open(&crew, &err), err);
    CHECK(chosen(crew, T0, 1) != NULL, "before");
    crew_rest_note(crew, &states[0].partition, &rest);
    crew_rest_note(crew, &states[0].partition, &shorter);
    CHECK(chosen(crew, T0, 1) == NULL, "its tasks stay in the queue");
    CHECK(chosen(crew, T0 + US_PER_MINUTE - 1, 1) == NULL, "to the end");
    ask = ask_at(T0, 1);
    CHECK_EQ(crew_rest_of(crew, &ask).until_us, T0 + US_PER_MINUTE, "until when");
    CHECK_EQ(crew_rest_of(crew, &ask).why, WAIT_RETRY_AFTER, "and why");
    CHECK(str_eq(chosen(crew, T0, 2)->partition.source, STR("pubmed")), "others go on");
    CHECK(str_eq(chosen(crew, T0, 2)->partition.source, STR("pubmed")), "alone");
    CHECK(chosen(crew, T0 + US_PER_MINUTE, 1) != NULL, "then it is its turn again");
    crew_close(crew);
}
