/* coverage: what a namespace has covered and what is under way, by time or by pages.
 *
 * By time, each task covers its own window. Tasks whose window was cut by ids cover it together,
 * when they hold all ids (core/id_range.h). By pages, all tasks of a plan together cover the
 * plan's window, because a record of any date may be on any page. The planner subtracts coverage
 * from what it wants; cursor_advance() passes it to watermark_low().
 */
#ifndef PATRA_ENGINE_COVERAGE_COVERAGE_H
#define PATRA_ENGINE_COVERAGE_COVERAGE_H

#include "core/codes.h"
#include "port/store_plan.h"
#include "port/store_task.h"

/* Makes whole windows of parts by id. A window whose parts are all covered is added to the end of
 * `covered`, `joined` of them in all; a window with a live part is live. `settled` is joined in
 * the same way; parts that were settled at different times may not fit together, and the window is
 * then read once more. The parts stay in the list, sorted. */
bool coverage_join(struct arena *arena, struct coverage_list *list, struct error *err) MUST_CHECK;

/* Whether the window of a task, or its ids of a window, is covered or under way. The list must
 * have been joined. */
bool coverage_holds(struct arena *arena, const struct coverage_list *list, struct id_part part,
                    bool *holds, struct error *err) MUST_CHECK;

/* The windows of a namespace that reach beyond after_us, joined. */
struct coverage_query {
    struct coverage_namespace of;
    enum slice_dimension dimension; /* what its plans are cut by: TIME, PAGE */
    int64_t after_us;
};
bool coverage_load(struct store *store, struct arena *arena, const struct coverage_query *query,
                   struct coverage_list *list, struct error *err) MUST_CHECK;

/* The generation of a window's next task is how many of its tasks have ended (core/slice_spec.h).
 * coverage_ended() lists the windows of ended tasks, sorted, once for many calls. */
bool coverage_ended(struct arena *arena, const struct coverage_list *list,
                    struct window_list *ended, struct error *err) MUST_CHECK;
int64_t coverage_generation(struct window_list ended, struct window window);

#endif
