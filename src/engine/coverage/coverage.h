/* plan_coverage: what a namespace has behind it and what is under way, whatever its plans are cut
 * by.
 *
 * By time, every task covers its own window; one that was cut by ids covers it together with
 * others, when they hold all ids (core/id_range.h). By pages it takes all tasks of a plan to cover
 * the plan's window: a record of any date may stand on any page. Planners subtract this from what
 * they want; whoever moves the cursor gives it to watermark_low().
 */
#ifndef PATRA_ENGINE_COVERAGE_COVERAGE_H
#define PATRA_ENGINE_COVERAGE_COVERAGE_H

#include "core/codes.h"
#include "port/store_plan.h"
#include "port/store_task.h"

/* What parts by id make of whole windows: those whose parts are all there stand at the end of
 * `covered`, `joined` of them; those with a part that is live are live. `settled` likewise: parts
 * that were settled at different times may not fit together, and are then looked at once more. The
 * parts stay in the list, sorted. */
bool coverage_join(struct arena *arena, struct coverage_list *list, struct error *err) MUST_CHECK;

/* Whether what a task has, a window or some ids of one, is covered or under way. The list is one
 * that was joined. */
bool coverage_holds(struct arena *arena, const struct coverage_list *list, struct id_part part,
                    bool *holds, struct error *err) MUST_CHECK;

/* The windows of a namespace that reach beyond after_us, joined. */
bool plan_coverage(struct store *store, struct arena *arena, const struct coverage_namespace *of,
                   enum slice_dimension dimension, int64_t after_us, struct coverage_list *list,
                   struct error *err) MUST_CHECK;

/* How often a window's task has ended before is the generation of its next one
 * (core/slice_spec.h). `ended` is sorted, and made once for many questions. */
bool coverage_ended(struct arena *arena, const struct coverage_list *list,
                    struct window_list *ended, struct error *err) MUST_CHECK;
int64_t coverage_generation(struct window_list ended, struct window window);

#endif
