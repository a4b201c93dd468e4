/* check: what can be wrong with a source although each value is valid by itself.
 *
 * The checks look at rows, not at YAML. `patra source lint` runs them over a file, the planner over
 * the rows in force in the Registry, and both report the same faults, all at once. A fault that a
 * source works with (no total, no updated_at) is a warning, kept in record_remarks of its plans.
 *
 * A setting that has no effect where it is written (`next` with paging by offset, a lag for an
 * endpoint that is requested by id) is an error, spec.idle: its author expects an effect that it
 * does not have.
 */
#ifndef PATRA_SPEC_CHECK_H
#define PATRA_SPEC_CHECK_H

#include "base/arena.h"
#include "base/attr.h"
#include "spec/fault.h"
#include "spec/resolve.h"
#include "spec/source.h"

struct xml; /* data/xml.h */

/* `xml` compiles XPaths; NULL: its module is loaded when a source needs it. */
void source_check(struct arena *arena, const struct xml *xml, const struct source *source,
                  struct fault_list *faults);

/* Checks what a plan of one operation uses: the operation, its endpoint and phase two, with the
 * trigger's values in effect (page.size=5000 may be valid by itself but more than the provider
 * returns). The operation is one of the source's rows. "spec.override" (L2) when the trigger sets
 * what it may not. */
struct plan_check {
    const struct source *source;
    const struct registry_row *operation;
    struct override_list overrides;
};
bool source_check_plan(struct arena *arena, const struct xml *xml, const struct plan_check *plan,
                       struct fault_list *faults, struct error *err) MUST_CHECK;

/* Reads a file and checks it, faults in the order of the file. False when there are errors. */
bool source_lint(struct arena *arena, const struct xml *xml, const struct source_text *text,
                 struct fault_list *faults, struct source *source) MUST_CHECK;

#endif
