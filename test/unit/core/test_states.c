/* Tests: the allowed transitions between states. */
#include "core/states.h"

#include "test.h"

static const struct {
    const char *label;
    const struct state_machine *machine;
} MACHINES[] = {
    { "plan", &PLAN_STATES },
    { "task", &TASK_STATES },
    { "run", &RUN_STATES },
};

/* The allowed transitions, written out; all others are forbidden. */
static const struct {
    const struct state_machine *machine;
    const char *from;
    const char *to;
} WAYS[] = {
    { &PLAN_STATES, "DRAFT", "SLICING" },       { &PLAN_STATES, "DRAFT", "FAILED" },
    { &PLAN_STATES, "DRAFT", "CANCELLED" },     { &PLAN_STATES, "SLICING", "READY" },
    { &PLAN_STATES, "SLICING", "PARTIAL" },     { &PLAN_STATES, "SLICING", "FAILED" },
    { &PLAN_STATES, "SLICING", "CANCELLED" },   { &PLAN_STATES, "PARTIAL", "SLICING" },
    { &PLAN_STATES, "PARTIAL", "CANCELLED" },   { &PLAN_STATES, "READY", "CANCELLED" },
    { &TASK_STATES, "QUEUED", "DISPATCHED" },   { &TASK_STATES, "QUEUED", "EXECUTING" },
    { &TASK_STATES, "QUEUED", "CANCELLED" },    { &TASK_STATES, "DISPATCHED", "EXECUTING" },
    { &TASK_STATES, "DISPATCHED", "QUEUED" },   { &TASK_STATES, "DISPATCHED", "CANCELLED" },
    { &TASK_STATES, "EXECUTING", "SUCCEEDED" }, { &TASK_STATES, "EXECUTING", "PARTIAL" },
    { &TASK_STATES, "EXECUTING", "FAILED" },    { &TASK_STATES, "EXECUTING", "CANCELLED" },
    { &TASK_STATES, "EXECUTING", "QUEUED" },    { &RUN_STATES, "PLANNED", "RUNNING" },
    { &RUN_STATES, "PLANNED", "FAILED" },       { &RUN_STATES, "PLANNED", "CANCELLED" },
    { &RUN_STATES, "RUNNING", "SUCCEEDED" },    { &RUN_STATES, "RUNNING", "PARTIAL" },
    { &RUN_STATES, "RUNNING", "FAILED" },       { &RUN_STATES, "RUNNING", "CANCELLED" },
};

static bool is_written_down(const struct state_machine *machine, int from, int to)
{
    for (size_t i = 0; i < ARRAY_LEN(WAYS); i++) {
        if (WAYS[i].machine == machine && code_find(machine->codes, str_of(WAYS[i].from)) == from &&
            code_find(machine->codes, str_of(WAYS[i].to)) == to)
            return true;
    }
    return false;
}

TEST(exactly_the_listed_transitions_are_allowed)
{
    for (size_t m = 0; m < ARRAY_LEN(MACHINES); m++) {
        const struct state_machine *machine = MACHINES[m].machine;

        for (int from = 0; from < (int)machine->codes->count; from++) {
            for (int to = 0; to < (int)machine->codes->count; to++)
                CHECK_EQ(state_may_follow(machine, from, to), is_written_down(machine, from, to),
                         MACHINES[m].label);
        }
    }
}

TEST(every_state_can_be_reached_and_can_end)
{
    for (size_t m = 0; m < ARRAY_LEN(MACHINES); m++) {
        const struct state_machine *machine = MACHINES[m].machine;
        const int count = (int)machine->codes->count;
        uint32_t reached = UINT32_C(1) << machine->first;
        uint32_t ends = 0;

        for (int round = 0; round < count; round++) {
            for (int s = 0; s < count; s++) {
                if ((reached >> s & 1) != 0)
                    reached |= machine->next[s];
                if (state_is_final(machine, s) || (machine->next[s] & ends) != 0)
                    ends |= UINT32_C(1) << s;
            }
        }
        CHECK_EQ(reached, (UINT32_C(1) << count) - 1, MACHINES[m].label);
        CHECK_EQ(ends, (UINT32_C(1) << count) - 1, MACHINES[m].label);
    }
}
