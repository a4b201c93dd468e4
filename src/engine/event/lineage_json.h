/* lineage_json: the lineage of an event as JSON, in its body and on the wire. */
#ifndef PATRA_ENGINE_EVENT_LINEAGE_JSON_H
#define PATRA_ENGINE_EVENT_LINEAGE_JSON_H

#include "data/json_write.h"
#include "port/store_lineage.h"

/* {"scheduleInstanceId":1,"planId":2,"sliceId":3,"taskId":4,"runId":5,"batchId":6} */
static inline void lineage_json_write(struct json_writer *w, const struct lineage *lineage)
{
    json_write_object(w);
    json_write_member_i64(w, STR("scheduleInstanceId"), lineage->schedule_instance_id);
    json_write_member_i64(w, STR("planId"), lineage->plan_id);
    json_write_member_i64(w, STR("sliceId"), lineage->slice_id);
    json_write_member_i64(w, STR("taskId"), lineage->task_id);
    json_write_member_i64(w, STR("runId"), lineage->run_id);
    json_write_member_i64(w, STR("batchId"), lineage->batch_id);
    json_write_end(w);
}

#endif
