/* states: the transition tables of plans, tasks and runs. */
#include "core/states.h"

#include <assert.h>

#define TO(state) (UINT32_C(1) << (state))

static const uint32_t PLAN_NEXT[] = {
    [PLAN_DRAFT] = TO(PLAN_SLICING) | TO(PLAN_FAILED) | TO(PLAN_CANCELLED),
    [PLAN_SLICING] = TO(PLAN_READY) | TO(PLAN_PARTIAL) | TO(PLAN_FAILED) | TO(PLAN_CANCELLED),
    [PLAN_READY] = TO(PLAN_CANCELLED),
    [PLAN_PARTIAL] = TO(PLAN_SLICING) | TO(PLAN_CANCELLED),
    [PLAN_FAILED] = 0,
    [PLAN_CANCELLED] = 0,
};
const struct state_machine PLAN_STATES = { &PLAN_STATUS_CODES, PLAN_NEXT, PLAN_DRAFT };

static const uint32_t TASK_NEXT[] = {
    [TASK_QUEUED] = TO(TASK_DISPATCHED) | TO(TASK_EXECUTING) | TO(TASK_CANCELLED),
    [TASK_DISPATCHED] = TO(TASK_EXECUTING) | TO(TASK_QUEUED) | TO(TASK_CANCELLED),
    [TASK_EXECUTING] = TO(TASK_SUCCEEDED) | TO(TASK_PARTIAL) | TO(TASK_FAILED) |
                       TO(TASK_CANCELLED) | TO(TASK_QUEUED),
    [TASK_SUCCEEDED] = 0,
    [TASK_PARTIAL] = 0,
    [TASK_FAILED] = 0,
    [TASK_CANCELLED] = 0,
};
const struct state_machine TASK_STATES = { &TASK_STATUS_CODES, TASK_NEXT, TASK_QUEUED };

static const uint32_t RUN_NEXT[] = {
    [RUN_PLANNED] = TO(RUN_RUNNING) | TO(RUN_FAILED) | TO(RUN_CANCELLED),
    [RUN_RUNNING] = TO(RUN_SUCCEEDED) | TO(RUN_PARTIAL) | TO(RUN_FAILED) | TO(RUN_CANCELLED),
    [RUN_SUCCEEDED] = 0,
    [RUN_PARTIAL] = 0,
    [RUN_FAILED] = 0,
    [RUN_CANCELLED] = 0,
};
const struct state_machine RUN_STATES = { &RUN_STATUS_CODES, RUN_NEXT, RUN_PLANNED };

bool state_may_follow(const struct state_machine *machine, int from, int to)
{
    assert(from >= 0 && (size_t)from < machine->codes->count);
    assert(to >= 0 && (size_t)to < machine->codes->count);
    return (machine->next[from] & TO(to)) != 0;
}

bool state_is_final(const struct state_machine *machine, int state)
{
    assert(state >= 0 && (size_t)state < machine->codes->count);
    return machine->next[state] == 0;
}
