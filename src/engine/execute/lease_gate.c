/* Between the walk and the rate gate. Each attempt at a request is progress: it renews the lease
 * when a third of the lease is over. So does waiting for a response, which the timeouts of the
 * source end: a lease may be shorter than they are, so that a worker that died is soon replaced,
 * and one that waits is not. A walk that hangs does neither, and its lease runs out.
 */
#include "engine/execute/executor_internal.h"

#include <string.h>

/* A run that has not committed for so long is stuck, even if it makes requests. */
#define STALL_MAX_US (30 * US_PER_MINUTE)

static const char OVERTAKEN[] = "execute.overtaken";

bool lease_error_is_overtaken(const struct error *err)
{
    return strcmp(err->code, OVERTAKEN) == 0;
}

static bool keep_lease(struct lease_gate *gate, struct error *err)
{
    struct task_run *run = gate->run;
    struct executor *executor = run->executor;
    const int64_t lease_us = executor->settings.lease_us;
    const int64_t monotonic_us = clock_monotonic_us(executor->parts.clock);
    const int64_t now_us = executor_now_us(executor);
    bool held = true;

    if (monotonic_us - gate->renewed_us < lease_us / 3)
        return true;
    if (monotonic_us - run->committed_us > STALL_MAX_US)
        return error_set(err, ERROR_TRANSIENT, "execute.stalled",
                         "nothing was committed for half an hour");
    /* A store that is out of reach does not stop the walk: the commit will find out. */
    if (!store_lease_renew(executor->parts.store, run->lease, now_us + lease_us, now_us, &held,
                           err))
        return err->level == ERROR_TRANSIENT;
    if (!held)
        return error_set(err, ERROR_TRANSIENT, OVERTAKEN, "the lease is no longer held");
    gate->renewed_us = monotonic_us;
    return true;
}

static bool lease_gate_acquire(struct permit_gate *port, const struct permit_request *request,
                               struct permit *permit, struct error *err)
{
    struct lease_gate *gate = (struct lease_gate *)port;

    return keep_lease(gate, err) && permit_gate_acquire(gate->inner, request, permit, err);
}

static void lease_gate_feedback(struct permit_gate *port, const struct permit_feedback *feedback)
{
    struct lease_gate *gate = (struct lease_gate *)port;

    permit_gate_feedback(gate->inner, feedback);
}

/* A lost lease is found out by the next attempt or the commit. */
static void keep_waiting(struct http_watch *watch)
{
    struct error ignored;

    (void)!keep_lease(((struct run_watch *)watch)->gate, &ignored);
}

static void report_wait(struct permit_waiter *port, int64_t until_us, enum wait_reason reason)
{
    const struct task_run *run = ((struct run_waiter *)port)->run;

    executor_report(run->executor, &(struct executor_event){
                                       .kind = EXECUTOR_WAITING,
                                       .task = run->task,
                                       .run_id = run->run.id,
                                       .until_us = executor_shared_us(run->executor, until_us),
                                       .reason = reason });
}

void lease_gate_init(struct task_run *run, struct permit_gate *inner)
{
    run->lease_gate = (struct lease_gate){
        .gate = { .acquire = lease_gate_acquire, .feedback = lease_gate_feedback },
        .inner = inner,
        .run = run,
        .renewed_us = clock_monotonic_us(run->executor->parts.clock),
    };
    run->watch = (struct run_watch){ { keep_waiting }, &run->lease_gate };
    run->waiter = (struct run_waiter){ .waiter = { report_wait }, .run = run };
}
