#include "adapter/sqlite/checkpoint.h"

#include <signal.h>

void checkpoint_init(struct checkpoint *checkpoint, const char *path)
{
    *checkpoint = (struct checkpoint){ .path = path };
    (void)pthread_mutex_init(&checkpoint->guard, NULL);
    (void)pthread_cond_init(&checkpoint->changed, NULL);
}

/* Waits for nobody: what readers still need is copied the next time. */
static void copy_log(sqlite3 *db)
{
    (void)sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

static void *work(void *context)
{
    struct checkpoint *checkpoint = context;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    sqlite3 *db = NULL;
    const bool is_open = sqlite3_open_v2(checkpoint->path, &db, flags, NULL) == SQLITE_OK;

    (void)pthread_mutex_lock(&checkpoint->guard);
    while (!checkpoint->is_ending) {
        if (!checkpoint->is_wanted || !is_open) {
            (void)pthread_cond_wait(&checkpoint->changed, &checkpoint->guard);
            continue;
        }
        checkpoint->is_wanted = false;
        (void)pthread_mutex_unlock(&checkpoint->guard);
        copy_log(db);
        (void)pthread_mutex_lock(&checkpoint->guard);
    }
    (void)pthread_mutex_unlock(&checkpoint->guard);
    (void)sqlite3_close(db);
    return NULL;
}

/* Signals are the business of the thread that waits for them. */
static bool start_thread(struct checkpoint *checkpoint)
{
    sigset_t all, old;
    bool is_started;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    is_started = pthread_create(&checkpoint->thread, NULL, work, checkpoint) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return is_started;
}

static void wake_thread(struct checkpoint *checkpoint)
{
    (void)pthread_mutex_lock(&checkpoint->guard);
    if (!checkpoint->has_thread)
        checkpoint->has_thread = start_thread(checkpoint);
    checkpoint->is_wanted = true;
    (void)pthread_cond_signal(&checkpoint->changed);
    (void)pthread_mutex_unlock(&checkpoint->guard);
}

/* After a commit, with the number of pages in the log. */
static int on_commit(void *context, sqlite3 *db, const char *name, int pages)
{
    (void)name;
    if (pages >= CHECKPOINT_PAGES_MAX)
        copy_log(db);
    else if (pages >= CHECKPOINT_PAGES)
        wake_thread(context);
    return SQLITE_OK;
}

void checkpoint_follow(struct checkpoint *checkpoint, sqlite3 *db)
{
    (void)sqlite3_wal_hook(db, on_commit, checkpoint);
}

void checkpoint_release(struct checkpoint *checkpoint)
{
    (void)pthread_mutex_lock(&checkpoint->guard);
    checkpoint->is_ending = true;
    (void)pthread_cond_signal(&checkpoint->changed);
    (void)pthread_mutex_unlock(&checkpoint->guard);
    if (checkpoint->has_thread)
        (void)pthread_join(checkpoint->thread, NULL);
    (void)pthread_cond_destroy(&checkpoint->changed);
    (void)pthread_mutex_destroy(&checkpoint->guard);
}
