/* store_lineage: where a row comes from, from the trigger down to the batch. 0 = none. */
#ifndef PATRA_PORT_STORE_LINEAGE_H
#define PATRA_PORT_STORE_LINEAGE_H

#include <stdint.h>

struct lineage {
    int64_t schedule_instance_id;
    int64_t plan_id;
    int64_t slice_id;
    int64_t task_id;
    int64_t run_id;
    int64_t batch_id;
};

#endif
