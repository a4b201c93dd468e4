/* id_batch: ids gathered until there are enough of them to be cut into slices.
 *
 * A batch is divided by hash, or, where ids are numbers and the source says so, by range. Slices
 * have as many ids as some twenty requests can carry, or as the operation's budget allows.
 */
#ifndef PATRA_ENGINE_UPDATE_ID_BATCH_H
#define PATRA_ENGINE_UPDATE_ID_BATCH_H

#include "engine/update/candidates.h"

enum { ID_BATCH_MAX = 20000, ID_SLICE_MAX = 5000 };
static_assert(ID_SLICE_MAX <= ID_BATCH_MAX, "a slice is cut from a batch");

struct held_id {
    struct str id;
    int64_t signal_id; /* 0: it was not a signal */
    int64_t rank;      /* its bucket, or itself as a number */
};

struct id_batch {
    struct store *store;
    struct arena arena;
    struct held_id ids[ID_BATCH_MAX];
    size_t count;
    int64_t slice_count; /* cut so far */
};

/* The batch is large: put it into an arena. */
void id_batch_init(struct id_batch *batch, struct store *store);
void id_batch_release(struct id_batch *batch);

/* Copies the id. The batch must not be full. */
bool id_batch_add(struct id_batch *batch, struct str id, int64_t signal_id,
                  struct error *err) MUST_CHECK;
bool id_batch_is_full(const struct id_batch *batch);

/* Cuts all that was added, and empties the batch. Consumes the signals of ids that became tasks.
 * *is_over is set when the budget ended; ids that it had no room for are dropped. */
bool id_batch_cut(struct id_batch *batch, const struct update_request *request, bool *is_over,
                  struct error *err) MUST_CHECK;

#endif
