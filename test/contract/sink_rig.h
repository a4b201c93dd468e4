/* sink_rig: a projection from the text of its file, its tables, and events that are applied. */
#ifndef PATRA_TEST_CONTRACT_SINK_RIG_H
#define PATRA_TEST_CONTRACT_SINK_RIG_H

#include "contract.h"
#include "engine/project/project.h"
#include "port/store_sink.h"
#include "spec/projection.h"

struct sink_rig {
    const char *dsn;
    struct store *sink;
    struct arena arena; /* of the rig; lives to its end */
    struct arena batch;
    struct projection_spec spec;
    struct projection_text text;
    const struct projector *projector;
    const struct sink_tables *tables;
    struct sink_plan plan; /* of the last set-up */
    struct sink_written written;
    struct error err;
};

/* A new database; the file must have no faults. */
void sink_rig_begin(struct sink_rig *rig, const char *file);
void sink_rig_end(struct sink_rig *rig);

/* Another file of the same projection, with a new session. False: refused, see rig->plan. */
bool sink_rig_apply(struct sink_rig *rig, const char *file);

/* The tables of another side, with a new session. */
void sink_rig_side(struct sink_rig *rig, enum sink_side side);

/* One transaction; what it changed is in rig->written. False with rig->err. */
bool sink_rig_deliver(struct sink_rig *rig, const struct project_event *events, size_t count);

/* One event: "thing" k, of this type and version. */
bool sink_rig_event(struct sink_rig *rig, const char *id, const char *type, int64_t version,
                    const char *body);

/* Rows as sql_rows() returns them, in the batch's arena. */
struct str sink_rig_rows(struct sink_rig *rig, const char *sql);

#endif
