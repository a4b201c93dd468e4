/* checkpoint: the write-ahead log goes into the database file in a thread of its own, so that no
 * commit waits for it.
 *
 *      commit ─▶ log at CHECKPOINT_PAGES ─▶ the thread copies it, while others go on writing
 *                log at CHECKPOINT_PAGES_MAX ─▶ the writer copies the rest itself
 *
 * While somebody writes, the thread always ends some pages behind, and a log that is not copied
 * whole can not start again from its beginning. So a writer that never rests stops at the maximum,
 * with most of the work done.
 *
 * One for all sessions of a process on a file; the thread starts when it is first needed, on a
 * connection of its own. Where it can not, the writers do its work.
 */
#ifndef PATRA_ADAPTER_SQLITE_CHECKPOINT_H
#define PATRA_ADAPTER_SQLITE_CHECKPOINT_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>

/* Of 32 KB: 32 MB and 256 MB. */
enum { CHECKPOINT_PAGES = 1000, CHECKPOINT_PAGES_MAX = 8000 };

struct checkpoint {
    const char *path;
    pthread_mutex_t guard; /* of what follows */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread;
    bool is_wanted;
    bool is_ending;
};

void checkpoint_init(struct checkpoint *checkpoint, const char *path);
void checkpoint_release(struct checkpoint *checkpoint); /* ends the thread */

/* From now on the session's commits are followed by checkpoints as told above. */
void checkpoint_follow(struct checkpoint *checkpoint, sqlite3 *db);

#endif
