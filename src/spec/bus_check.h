/* bus_check: what depends on more than one setting of a bus. */
#ifndef PATRA_SPEC_BUS_CHECK_H
#define PATRA_SPEC_BUS_CHECK_H

#include "core/bus_spec.h"
#include "spec/fault.h"

struct bus_mark { /* of one setting */
    struct mark at;
    bool is_given;
    bool is_broken; /* has a fault already */
};

struct bus_marks {
    struct bus_mark *items; /* one per row of the table */
    struct mark name;
    bool has_name;
};

void bus_check(const struct bus_spec *spec, const struct bus_marks *marks,
               struct fault_list *faults);

#endif
