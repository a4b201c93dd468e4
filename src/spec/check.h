/* check: everything about a source that can be wrong although each value by itself is fine.
 *
 * The checks look at rows, not at YAML: `patra source lint` runs them over a file, the planner over
 * what the Registry has in force, and both tell the same. All faults are told at once. What a
 * source can live with (no total, no updated_at) is a warning, kept in record_remarks of its plans.
 *
 * A setting that can not act where it stands (a `next` for OFFSET paging, a lag on an endpoint that
 * is asked by id) is an error, spec.idle: whoever wrote it believes in an effect that it has not.
 */
#ifndef PATRA_SPEC_CHECK_H
#define PATRA_SPEC_CHECK_H

#include "base/arena.h"
#include "base/attr.h"
#include "spec/fault.h"
#include "spec/resolve.h"
#include "spec/source.h"

struct xml; /* data/xml.h */

/* `xml` reads XPath; NULL: its module is loaded when a source needs it. */
void source_check(struct arena *arena, const struct xml *xml, const struct source *source,
                  struct fault_list *faults);

/* What a plan of one operation needs: its endpoint, phase two, and itself, with a trigger's values
 * in effect (page.size=5000 may be fine by itself and more than the provider gives). The operation
 * is one of the source's rows. "spec.override" (L2) when the trigger says what it may not. */
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
