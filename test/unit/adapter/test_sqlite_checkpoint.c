/* The thread that copies SQLite's write-ahead log into the database. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "adapter/sqlite/checkpoint.h"
#include "test.h"

enum { PATH_BYTES = 64 };

struct log_file {
    char folder[PATH_BYTES];
    char path[PATH_BYTES + 8];
    sqlite3 *db;
    struct turn writer;
    struct checkpoint checkpoint;
};

static void run(const struct log_file *file, const char *sql)
{
    REQUIRE(sqlite3_exec(file->db, sql, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(file->db));
}

/* Pages of 512 bytes: a thousand of them are soon written. */
static void open_file(struct log_file *file)
{
    (void)snprintf(file->folder, sizeof(file->folder), "/tmp/test_checkpoint.XXXXXX");
    REQUIRE(mkdtemp(file->folder) != NULL, "a folder");
    (void)snprintf(file->path, sizeof(file->path), "%s/a.db", file->folder);
    REQUIRE(sqlite3_open(file->path, &file->db) == SQLITE_OK, "open");
    run(file, "PRAGMA page_size = 512; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
              "CREATE TABLE filled (bytes BLOB)");
    turn_init(&file->writer);
    checkpoint_init(&file->checkpoint, file->path, &file->writer);
    checkpoint_follow(&file->checkpoint, file->db);
}

static void close_file(struct log_file *file)
{
    (void)sqlite3_close(file->db); /* the last one removes the log */
    turn_release(&file->writer);
    (void)unlink(file->path);
    (void)rmdir(file->folder);
}

static int keep_pages(void *context, sqlite3 *db, const char *name, int pages)
{
    (void)db;
    (void)name;
    *(int *)context = pages;
    return SQLITE_OK;
}

/* Of the log after one more small commit: few if it started over. */
static int pages_after_next(const struct log_file *file)
{
    int pages = -1;

    (void)sqlite3_wal_hook(file->db, keep_pages, &pages);
    run(file, "INSERT INTO filled VALUES (zeroblob(10))");
    return pages;
}

TEST(a_long_log_is_copied_by_the_thread)
{
    struct log_file file;

    open_file(&file);
    run(&file, "INSERT INTO filled VALUES (zeroblob(600000))");
    CHECK(file.checkpoint.has_thread, "a thread");
    CHECK(file.checkpoint.pages >= CHECKPOINT_PAGES, "long enough");
    checkpoint_release(&file.checkpoint);
    CHECK(pages_after_next(&file) < 10, "the log starts over");
    close_file(&file);
}

TEST(a_short_log_is_left_alone)
{
    struct log_file file;

    open_file(&file);
    run(&file, "INSERT INTO filled VALUES (zeroblob(100000))");
    CHECK(!file.checkpoint.has_thread, "no thread");
    checkpoint_release(&file.checkpoint);
    CHECK(pages_after_next(&file) > 200, "the log goes on");
    close_file(&file);
}

/* Its view of the file stands in the log: the thread must not go round and round for it. */
TEST(a_reader_keeps_the_log_and_the_thread_ends)
{
    struct log_file file;
    sqlite3 *reader = NULL;

    open_file(&file);
    run(&file, "INSERT INTO filled VALUES (zeroblob(10))");
    REQUIRE(sqlite3_open(file.path, &reader) == SQLITE_OK, "open");
    REQUIRE(sqlite3_exec(reader, "BEGIN; SELECT * FROM filled", NULL, NULL, NULL) == SQLITE_OK,
            "read");
    run(&file, "INSERT INTO filled VALUES (zeroblob(600000))");
    run(&file, "INSERT INTO filled VALUES (zeroblob(600000))");
    checkpoint_release(&file.checkpoint);
    CHECK(pages_after_next(&file) > CHECKPOINT_PAGES, "the log goes on");
    (void)sqlite3_close(reader);
    close_file(&file);
}

struct readers {
    atomic_bool is_over;
    sqlite3 *one, *other;
};

static void read_on(sqlite3 *db, const char *sql)
{
    REQUIRE(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
}

/* Two that read in turn: the next begins before the last has ended. */
static void *read_in_turn(void *context)
{
    struct readers *readers = context;
    sqlite3 *now = readers->one, *next = readers->other, *swap;

    read_on(now, "BEGIN; SELECT count(*) FROM filled");
    while (!atomic_load(&readers->is_over)) {
        read_on(next, "BEGIN; SELECT count(*) FROM filled");
        read_on(now, "COMMIT");
        swap = now;
        now = next;
        next = swap;
    }
    read_on(now, "COMMIT");
    return NULL;
}

/* Of the log when it began again, after it had been long; 0: never, although `commits_max` commits
 * of 1,000 pages were made. */
static int write_until_begun_again(struct log_file *file, int commits_max)
{
    int longest = 0;

    for (int i = 0; i < commits_max; i++) {
        turn_take(&file->writer);
        run(file, "INSERT INTO filled VALUES (zeroblob(500000))");
        turn_leave(&file->writer);
        if (longest >= CHECKPOINT_PAGES_LONG && file->checkpoint.pages < longest)
            return longest;
        longest = file->checkpoint.pages > longest ? file->checkpoint.pages : longest;
    }
    return 0;
}

/* A reader that is not scheduled for a tenth of a second keeps the log once more; so it may become
 * longer than once, but not grow with everything that is written. */
TEST(a_log_starts_over_where_one_reader_follows_another)
{
    struct readers readers = { .is_over = false };
    struct log_file file;
    pthread_t thread;
    int longest;

    open_file(&file);
    REQUIRE(sqlite3_open(file.path, &readers.one) == SQLITE_OK &&
                sqlite3_open(file.path, &readers.other) == SQLITE_OK,
            "open");
    REQUIRE(pthread_create(&thread, NULL, read_in_turn, &readers) == 0, "a thread");
    longest = write_until_begun_again(&file, 300);
    atomic_store(&readers.is_over, true);
    (void)pthread_join(thread, NULL);
    checkpoint_release(&file.checkpoint);
    CHECK(longest >= CHECKPOINT_PAGES_LONG, "a long log was begun again");
    (void)sqlite3_close(readers.one);
    (void)sqlite3_close(readers.other);
    close_file(&file);
}

/* The writer's turn is held by nobody once the thread has ended. */
TEST(the_writers_turn_is_given_back)
{
    struct log_file file;

    open_file(&file);
    for (int i = 0; i < 20; i++) {
        turn_take(&file.writer);
        run(&file, "INSERT INTO filled VALUES (zeroblob(300000))");
        turn_leave(&file.writer);
    }
    checkpoint_release(&file.checkpoint);
    CHECK(turn_take_within(&file.writer, 0), "free");
    turn_leave(&file.writer);
    close_file(&file);
}
