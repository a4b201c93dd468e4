/* spec_bounds: which ends of its window an endpoint's requests send.
 *
 * An API that accepts only a beginning (since=) lists everything after it, and one that accepts
 * neither lists everything. A slice of such a source costs what lies outside of it, too, so it is
 * not divided by time.
 */
#ifndef PATRA_SPEC_SPEC_BOUNDS_H
#define PATRA_SPEC_SPEC_BOUNDS_H

#include "spec/spec.h"

/* Fills in window.sends_from and window.sends_to. */
void spec_bounds_find(struct spec_endpoint *endpoint);

#endif
