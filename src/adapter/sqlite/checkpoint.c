/* The thread that copies the write-ahead log into the database file. */
#include "adapter/sqlite/checkpoint.h"

#include <signal.h>

void checkpoint_init(struct checkpoint *checkpoint, const char *path, struct turn *writer)
{
    *checkpoint = (struct checkpoint){ .path = path, .writer = writer };
    (void)pthread_mutex_init(&checkpoint->guard, NULL);
    (void)pthread_cond_init(&checkpoint->changed, NULL);
}

/* Returns how many pages of the log are in the file by now. Does not wait for readers: what they
 * hold up is copied the next time. */
static int copy_log(sqlite3 *db)
{
    int copied = 0;

    (void)sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, &copied);
    return copied;
}

static void copy_rest(struct checkpoint *checkpoint, sqlite3 *db)
{
    turn_take(checkpoint->writer);
    (void)copy_log(db);
    turn_leave(checkpoint->writer);
}

/* The next commit begins the log again. */
static bool restart_log(struct checkpoint *checkpoint, sqlite3 *db)
{
    int code;

    turn_take(checkpoint->writer);
    code = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL);
    turn_leave(checkpoint->writer);
    return code == SQLITE_OK;
}

/* How many pages are in the log; 0 when no more rounds shall follow. */
static int pages_now(struct checkpoint *checkpoint)
{
    int pages;

    (void)pthread_mutex_lock(&checkpoint->guard);
    pages = checkpoint->is_ending ? 0 : checkpoint->pages;
    (void)pthread_mutex_unlock(&checkpoint->guard);
    return pages;
}

/* A round that gets no further than the last one is blocked by a reader: then it stops. */
static void copy_in_rounds(struct checkpoint *checkpoint, sqlite3 *db)
{
    int last = 0;
    int copied = copy_log(db);
    int pages = pages_now(checkpoint);

    while (copied > last && pages > copied) {
        if (pages - copied <= CHECKPOINT_PAGES_FEW || pages >= CHECKPOINT_PAGES_LONG) {
            copy_rest(checkpoint, db);
            return;
        }
        last = copied;
        copied = copy_log(db);
        pages = pages_now(checkpoint);
    }
}

/* `long_pages`: from which length on readers are waited for. */
static void shorten_log(struct checkpoint *checkpoint, sqlite3 *db, int *long_pages)
{
    const int pages = pages_now(checkpoint);

    copy_in_rounds(checkpoint, db);
    if (pages < CHECKPOINT_PAGES_LONG)
        *long_pages = CHECKPOINT_PAGES_LONG;
    else if (pages >= *long_pages)
        *long_pages = CHECKPOINT_PAGES_LONG + (restart_log(checkpoint, db) ? 0 : pages);
}

/* A connection that has not read anything does not know of the log, and would copy none of it. */
static bool open_log(const char *path, sqlite3 **db)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;

    return sqlite3_open_v2(path, db, flags, NULL) == SQLITE_OK &&
           sqlite3_busy_timeout(*db, CHECKPOINT_WAIT_MS) == SQLITE_OK &&
           sqlite3_exec(*db, "PRAGMA synchronous = NORMAL; SELECT count(*) FROM sqlite_schema",
                        NULL, NULL, NULL) == SQLITE_OK;
}

static void *work(void *context)
{
    struct checkpoint *checkpoint = context;
    sqlite3 *db = NULL;
    const bool is_open = open_log(checkpoint->path, &db);
    int long_pages = CHECKPOINT_PAGES_LONG;

    (void)pthread_mutex_lock(&checkpoint->guard);
    while (is_open && (checkpoint->is_wanted || !checkpoint->is_ending)) {
        if (!checkpoint->is_wanted) {
            (void)pthread_cond_wait(&checkpoint->changed, &checkpoint->guard);
            continue;
        }
        checkpoint->is_wanted = false;
        (void)pthread_mutex_unlock(&checkpoint->guard);
        shorten_log(checkpoint, db, &long_pages);
        (void)pthread_mutex_lock(&checkpoint->guard);
    }
    (void)pthread_mutex_unlock(&checkpoint->guard);
    (void)sqlite3_close(db);
    return NULL;
}

/* The new thread blocks all signals: another thread handles them. */
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

static void tell_thread(struct checkpoint *checkpoint, int pages)
{
    (void)pthread_mutex_lock(&checkpoint->guard);
    checkpoint->pages = pages;
    checkpoint->is_wanted = pages >= CHECKPOINT_PAGES;
    if (checkpoint->is_wanted && !checkpoint->has_thread)
        checkpoint->has_thread = start_thread(checkpoint);
    if (checkpoint->is_wanted)
        (void)pthread_cond_signal(&checkpoint->changed);
    (void)pthread_mutex_unlock(&checkpoint->guard);
}

/* After a commit, with the number of pages in the log. */
static int on_commit(void *context, sqlite3 *db, const char *name, int pages)
{
    (void)name;
    tell_thread(context, pages);
    if (pages >= CHECKPOINT_PAGES_MAX)
        (void)copy_log(db);
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
