/* orphans: runs whose process died, and whose task was cancelled before somebody began it again.
 *
 * A lease that ran out puts its task back into the queue and leaves its run as it is: the next run
 * of the task ends it (engine/execute/task_run.c). A task that is cancelled in the queue has no
 * next run, so its last one ends with it, in the same transaction.
 */
#ifndef PATRA_ADAPTER_SQL_ORPHANS_H
#define PATRA_ADAPTER_SQL_ORPHANS_H

/* Of tasks that are CANCELLED, at :now. `tasks` is a condition on ing_task AS t. */
#define ORPHANS_END(tasks)                                                                      \
    "UPDATE ing_task_run SET status_code = CASE WHEN checkpoint IS NULL THEN 'CANCELLED'"       \
    " ELSE 'PARTIAL' END, partial_reason_code = CASE WHEN checkpoint IS NULL THEN NULL"         \
    " ELSE 'CUT_SHORT' END, error = 'its lease ran out', finished_at = :now, updated_at = :now" \
    " WHERE status_code IN ('PLANNED', 'RUNNING') AND task_id IN (SELECT t.id FROM ing_task t"  \
    " WHERE t.status_code = 'CANCELLED' AND " tasks ")"

#endif
