/* A migrated template in a folder in RAM, and copies of it. */
#include "ram_database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/store_open.h"
#include "test.h"

enum { FOLDER_BYTES_MAX = 512, PATH_BYTES_MAX = FOLDER_BYTES_MAX + 32 };

static struct {
    char folder[FOLDER_BYTES_MAX];
    char template[PATH_BYTES_MAX];
    char database[PATH_BYTES_MAX];
} ram;

static void remove_database(const char *path)
{
    static const char *const endings[] = { "", "-wal", "-shm" };
    char name[PATH_BYTES_MAX + 8];

    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        (void)snprintf(name, sizeof(name), "%s%s", path, endings[i]);
        (void)unlink(name);
    }
}

static void remove_folder(void)
{
    remove_database(ram.database);
    remove_database(ram.template);
    (void)rmdir(ram.folder);
}

static void make_folder(void)
{
    const char *temporary = getenv("TMPDIR");
    const char *parent = access("/dev/shm", W_OK | X_OK) == 0        ? "/dev/shm"
                         : temporary != NULL && temporary[0] != '\0' ? temporary
                                                                     : "/tmp";
    const int len = snprintf(ram.folder, sizeof(ram.folder), "%s/patra-test.XXXXXX", parent);

    REQUIRE(len > 0 && len < FOLDER_BYTES_MAX, "a short path");
    REQUIRE(mkdtemp(ram.folder) != NULL, "a folder for databases");
    (void)snprintf(ram.template, sizeof(ram.template), "%s/template.db", ram.folder);
    (void)snprintf(ram.database, sizeof(ram.database), "%s/patra.db", ram.folder);
    REQUIRE(atexit(remove_folder) == 0, "the folder is removed at the end");
}

/* The adapter makes files of 32 KB pages, for large batches. Tests commit a few rows at a time, and
 * each commit writes whole pages: with 4 KB they take half as long. A file that has pages keeps
 * their size. */
static void make_small_pages(void)
{
    sqlite3 *db = NULL;

    REQUIRE(sqlite3_open(ram.template, &db) == SQLITE_OK &&
                sqlite3_exec(db, "PRAGMA page_size = 4096; VACUUM", NULL, NULL, NULL) == SQLITE_OK,
            "a file of small pages");
    (void)sqlite3_close(db);
}

static void make_template(void)
{
    struct store *store;
    struct error err = { 0 };
    int64_t taken;

    REQUIRE_OK(
        store_open(str_of(ram.template), &(struct store_options){ .create = true }, &store, &err),
        err);
    REQUIRE_OK(store_migrate(store, 0, &taken, &err), err);
    store_close(store); /* the log goes into the file */
}

static void copy_template(void)
{
    const int from = open(ram.template, O_RDONLY | O_CLOEXEC);
    const int to = open(ram.database, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct stat stat;
    off_t at = 0;

    REQUIRE(from >= 0 && to >= 0 && fstat(from, &stat) == 0, "template and copy");
    while (at < stat.st_size)
        REQUIRE(sendfile(to, from, &at, (size_t)(stat.st_size - at)) > 0, "room for a copy");
    (void)close(from);
    (void)close(to);
}

const char *ram_database(void)
{
    if (ram.folder[0] == '\0') {
        make_folder();
        make_small_pages();
        make_template();
    }
    remove_database(ram.database);
    copy_template();
    return ram.database;
}
