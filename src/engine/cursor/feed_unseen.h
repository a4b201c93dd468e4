/* feed_unseen: records that a full sync did not have.
 *
 * When the token of a feed has expired, everything is read again. What was deleted since the last
 * sync is then missing without a word: sources show tombstones only to those who have a token. So a
 * record that is stored as live and was not seen since the full sync began is signalled, and the
 * next UPDATE requests it by id and learns what became of it.
 */
#ifndef PATRA_ENGINE_CURSOR_FEED_UNSEEN_H
#define PATRA_ENGINE_CURSOR_FEED_UNSEEN_H

#include "port/store_task.h"

struct feed_unseen_request {
    struct str source;
    struct str endpoint;
    int64_t since_us; /* when the full sync began */
    int64_t now_us;
};

/* Adds a signal for each, in transactions of its own; calling it again adds none. *count is how
 * many there are. */
bool feed_unseen_signal(struct store *store, struct arena *arena,
                        const struct feed_unseen_request *request, int64_t *count,
                        struct error *err) MUST_CHECK;

#endif
