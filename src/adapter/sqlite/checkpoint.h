/* checkpoint: the write-ahead log goes into the database file in a thread of its own, so that
 * hardly a commit waits for it.
 *
 *      commit ─▶ log at CHECKPOINT_PAGES ─▶ the thread copies it in rounds, while others go on
 *                                           writing; each round leaves what came meanwhile
 *                few pages left, or log at CHECKPOINT_PAGES_LONG
 *                                        ─▶ the thread takes the writer's turn for a last round
 *                log at CHECKPOINT_PAGES_MAX ─▶ the writer copies the rest itself
 *
 * Only a log that is copied whole starts again from its beginning, and while somebody writes it
 * hardly ever is. So the thread ends with the writers of this process at rest, preferably when that
 * takes no longer than a commit does; those of other processes it can not stop, and they may meet
 * the maximum.
 *
 * One for all sessions of a process on a file; the thread starts when it is first needed, on a
 * connection of its own. Where it can not, the writers do its work.
 */
#ifndef PATRA_ADAPTER_SQLITE_CHECKPOINT_H
#define PATRA_ADAPTER_SQLITE_CHECKPOINT_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>

/* Of 32 KB: 32 MB, 8 MB, 192 MB and 256 MB. A batch of 1,000 records of 5 KB is about 300. */
enum {
    CHECKPOINT_PAGES = 1000,
    CHECKPOINT_PAGES_FEW = 256,
    CHECKPOINT_PAGES_LONG = 6000,
    CHECKPOINT_PAGES_MAX = 8000,
};

struct checkpoint {
    const char *path;
    pthread_mutex_t *writer; /* held by whoever of this process writes */
    pthread_mutex_t guard;   /* of what follows */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread;
    bool is_wanted;
    bool is_ending;
    int pages; /* in the log, after the last commit of this process */
};

void checkpoint_init(struct checkpoint *checkpoint, const char *path, pthread_mutex_t *writer);
void checkpoint_release(struct checkpoint *checkpoint); /* ends the thread, its round done */

/* From now on the session's commits are followed by checkpoints as told above. */
void checkpoint_follow(struct checkpoint *checkpoint, sqlite3 *db);

#endif
