/* batch_archived: a batch that retention has taken out of the store, read from its files. */
#ifndef PATRA_CMD_BATCH_BATCH_ARCHIVED_H
#define PATRA_CMD_BATCH_BATCH_ARCHIVED_H

#include "view/batch.h"

/* "batch.unknown" (L2) when the files do not have it either; "batch.archived" (L2) when one of them
 * cannot be read here: says which, why, and how to read it where it is. */
bool batch_archived(const struct view_reader *reader, const struct view_batch_key *key,
                    struct view_batch *view, struct error *err) MUST_CHECK;

#endif
