/* batch_key: how a batch is named on the command line: RUN/NUMBER, or RUN for the one of its
 * batches that matters.
 */
#ifndef PATRA_CMD_BATCH_BATCH_KEY_H
#define PATRA_CMD_BATCH_BATCH_KEY_H

#include "view/batch.h"

/* COMMAND_OPTION for anything else. number is 0 for RUN alone. */
bool batch_key_read(const char *text, struct view_batch_key *key, struct error *err) MUST_CHECK;

#endif
