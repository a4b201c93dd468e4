/* Which partition has its turn, and when none has. */
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

static struct partition_query ask_at(int64_t now_us, size_t count)
{
    static struct partition_list partitions;
    static const struct pause_list pauses;

    partitions = (struct partition_list){ (struct partition_state *)states, count };
    return (struct partition_query){
        .partitions = &partitions, .pauses = &pauses, .wanted = want, .now_us = now_us
    };
}

static const struct partition_state *chosen(struct partitions *partitions, int64_t now_us,
                                            size_t count)
{
    const struct partition_query ask = ask_at(now_us, count);
    const struct partition_state *state = partitions_choose(partitions, &ask).partition;

    return state;
}

TEST(partitions_of_one_priority_take_turns)
{
    const struct partition_state *first, *second;
    struct partitions *partitions;
    struct error err;

    REQUIRE_OK(partitions_open(&partitions, &err), err);
    first = chosen(partitions, T0, 2);
    second = chosen(partitions, T0, 2);
    CHECK(first != NULL && second != NULL &&
              !str_eq(first->partition.source, second->partition.source),
          "one after the other");
    CHECK(str_eq(chosen(partitions, T0, 2)->partition.source, first->partition.source),
          "and again");
    partitions_close(partitions);
}

TEST(a_partition_that_wants_silence_is_left_alone_until_then)
{
    const struct partition_rest rest = { .until_us = T0 + US_PER_MINUTE,
                                         .reason = WAIT_RETRY_AFTER };
    const struct partition_rest shorter = { .until_us = T0 + US_PER_SECOND, .reason = WAIT_QUOTA };
    struct partition_query ask;
    struct partitions *partitions;
    struct error err;

    REQUIRE_OK(partitions_open(&partitions, &err), err);
    CHECK(chosen(partitions, T0, 1) != NULL, "before");
    partitions_note_rest(partitions, &states[0].partition, &rest);
    partitions_note_rest(partitions, &states[0].partition, &shorter);
    CHECK(chosen(partitions, T0, 1) == NULL, "its tasks stay in the queue");
    CHECK(chosen(partitions, T0 + US_PER_MINUTE - 1, 1) == NULL, "to the end");
    ask = ask_at(T0, 1);
    CHECK_EQ(partitions_rest(partitions, &ask).until_us, T0 + US_PER_MINUTE, "until when");
    CHECK_EQ(partitions_rest(partitions, &ask).reason, WAIT_RETRY_AFTER, "and why");
    CHECK(str_eq(chosen(partitions, T0, 2)->partition.source, STR("pubmed")), "others go on");
    CHECK(str_eq(chosen(partitions, T0, 2)->partition.source, STR("pubmed")), "and only they");
    CHECK(chosen(partitions, T0 + US_PER_MINUTE, 1) != NULL, "then it is its turn again");
    partitions_close(partitions);
}
