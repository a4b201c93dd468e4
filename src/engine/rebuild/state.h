/* state: how far a rebuild is, as JSON in the projection's row; for rebuild/, and for views. */
#ifndef PATRA_ENGINE_REBUILD_STATE_H
#define PATRA_ENGINE_REBUILD_STATE_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"
#include "core/limits.h"

struct rebuild_state {
    struct str hash;   /* of the spec */
    int64_t run;       /* who is at it: the instant at which it began or continued */
    int64_t at_us;     /* when it was saved */
    bool has_records;  /* the stream did not reach back: records are read too */
    bool records_done; /* they were */
    bool is_swapped;   /* it is over; the old tables have the stream up to here */
    struct str source; /* of the last record that was read; empty: none */
    struct str endpoint;
    int64_t record_id;
    int64_t pos[OUTBOX_LANES]; /* of the stream: read */
};

bool rebuild_state_write(struct arena *arena, const struct rebuild_state *state, struct str *json,
                         struct error *err) MUST_CHECK;

/* False when the text is not one: the database is outside. It refers to the text. */
bool rebuild_state_read(struct arena *arena, struct str json, struct rebuild_state *state);

#endif
