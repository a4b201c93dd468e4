/* Tests: migrations are never edited. sql/migrations.sha256 has the digest of each, as sha256sum
 * prints them. A new migration is a new number, and a new line there:
 *
 *      find sql -name '0*.sql' | sort | xargs sha256sum >sql/migrations.sha256
 */
#include <glob.h>
#include <stdio.h>

#include "base/arena.h"
#include "data/hash.h"
#include "test.h"

#define LIST "sql/migrations.sha256"

static bool is_listed(struct str list, struct str digest, const char *path)
{
    while (list.len > 0) {
        struct str line = str_cut(&list, '\n');

        if (str_ends(line, str_of(path)))
            return str_starts(line, digest);
    }
    return false;
}

static bool names_path(struct str list, const char *path)
{
    while (list.len > 0) {
        if (str_ends(str_cut(&list, '\n'), str_of(path)))
            return true;
    }
    return false;
}

TEST(a_migration_is_never_edited)
{
    const struct str list = test_read(LIST);
    size_t lines = 0;
    glob_t found;

    REQUIRE(list.data != NULL, LIST);
    REQUIRE(glob("sql/*/[0-9]*.sql", 0, NULL, &found) == 0, "migrations");
    REQUIRE(glob("sql/*/sink/[0-9]*.sql", GLOB_APPEND, NULL, &found) == 0, "of sinks");
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        const struct str text = test_read(path);
        char digest[HASH_HEX_MAX];
        struct hash_sum sum;
        struct error err;

        REQUIRE_OK(hash_of(text, &sum, &err), err);
        hash_hex(&sum, digest);
        if (!names_path(list, path))
            test_fail(__FILE__, __LINE__, "%s is not in " LIST ": add its line", path);
        else if (!is_listed(list, str_of(digest), path))
            test_fail(
                __FILE__, __LINE__,
                "%s has changed: databases that have it would be refused. Restore it, and add "
                "a migration with a new number instead",
                path);
    }
    for (struct str rest = list; rest.len > 0; lines++)
        (void)str_cut(&rest, '\n');
    CHECK_EQ(lines, found.gl_pathc, "a line for each migration: none was removed");
    globfree(&found);
}

/* Both databases have the same numbers and names. */
TEST(every_database_has_the_same_migrations)
{
    glob_t sqlite, postgres;

    REQUIRE(glob("sql/sqlite/[0-9]*.sql", 0, NULL, &sqlite) == 0, "of SQLite");
    REQUIRE(glob("sql/postgres/[0-9]*.sql", 0, NULL, &postgres) == 0, "of PostgreSQL");
    REQUIRE(sqlite.gl_pathc == postgres.gl_pathc, "as many");
    for (size_t i = 0; i < sqlite.gl_pathc; i++)
        CHECK_STR(str_of(sqlite.gl_pathv[i] + sizeof("sql/sqlite")),
                  str_of(postgres.gl_pathv[i] + sizeof("sql/postgres")), "by name");
    globfree(&sqlite);
    globfree(&postgres);
}
