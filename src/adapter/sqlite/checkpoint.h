/* checkpoint: copies the write-ahead log into the database file in a thread of its own, so that
 * hardly any commit waits for it.
 *
 *      commit ─▶ log at CHECKPOINT_PAGES ─▶ the thread copies it in rounds, while others continue
 *                                           to write; each round leaves what they have added
 *                few pages left, or log at CHECKPOINT_PAGES_LONG
 *                                        ─▶ the thread takes the writer's turn for a last round
 *                log at CHECKPOINT_PAGES_LONG
 *                                        ─▶ it also waits, in that turn, for those who read the log
 *                log at CHECKPOINT_PAGES_MAX ─▶ the writer copies the rest itself
 *
 * Only a log that has been copied completely starts again from its beginning, and that hardly ever
 * happens while others write. So for its last round the thread holds up the writers of this
 * process, preferably when the round takes no longer than a commit. It cannot hold up the writers
 * of other processes; these may reach the maximum.
 *
 * A log that somebody reads does not start again either. Where one reader follows another there is
 * always one; so the thread waits for them once, CHECKPOINT_WAIT_MS at most, while nobody writes:
 * who begins to read then reads the file. If that was not long enough, it tries again when the log
 * is longer by as much.
 *
 * All sessions of a process on one file share one checkpoint. The thread starts when it is first
 * needed, on a connection of its own. If it cannot start, the writers do its work.
 */
#ifndef PATRA_ADAPTER_SQLITE_CHECKPOINT_H
#define PATRA_ADAPTER_SQLITE_CHECKPOINT_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "adapter/sqlite/turn.h"

/* Pages of 32 KB: 32 MB, 8 MB, 192 MB and 256 MB. A batch of 1,000 records of 5 KB takes about 300.
 */
enum {
    CHECKPOINT_PAGES = 1000,
    CHECKPOINT_PAGES_FEW = 256,
    CHECKPOINT_PAGES_LONG = 6000,
    CHECKPOINT_PAGES_MAX = 8000,
    CHECKPOINT_WAIT_MS = 100,
};

struct checkpoint {
    const char *path;
    struct turn *writer;   /* of the session of this process that writes */
    pthread_mutex_t guard; /* protects the members below */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread;
    bool is_wanted;
    bool is_ending;
    int pages; /* in the log, after the last commit of this process */
};

void checkpoint_init(struct checkpoint *checkpoint, const char *path, struct turn *writer);
void checkpoint_release(struct checkpoint *checkpoint); /* ends the thread after its round */

/* From now on, commits on this connection start checkpoints as described above. */
void checkpoint_follow(struct checkpoint *checkpoint, sqlite3 *db);

#endif
