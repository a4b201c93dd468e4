/* Tests: every table has its privileges, and nobody has too many. */
#include "core/grants.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

static const struct grant_row *row_of(struct str name)
{
    for (size_t i = 0; i < grant_rows_count; i++) {
        if (str_eq(str_of(grant_rows[i].name), name))
            return &grant_rows[i];
    }
    return NULL;
}

/* The tables or views that a migration makes, counted. */
static size_t check_made(struct str sql, struct str make)
{
    size_t count = 0;

    for (size_t at = str_find(sql, make); at < sql.len; at = str_find(sql, make)) {
        struct str rest = str_slice(sql, at + make.len, sql.len);
        const struct str name = str_trim(str_cut(&rest, ' '));

        if (row_of(name) == NULL)
            test_fail(__FILE__, __LINE__,
                      "%.*s has no row in src/core/grants.c: say which roles need it, or write a "
                      "row without privileges",
                      STR_ARG(name));
        count++;
        sql = rest;
    }
    return count;
}

TEST(every_table_of_the_schema_has_a_row)
{
    size_t tables = 1, rows = 0; /* schema_migration is made without a migration */
    glob_t found;

    REQUIRE(glob("sql/postgres/[0-9]*.sql", 0, NULL, &found) == 0, "migrations");
    for (size_t i = 0; i < found.gl_pathc; i++)
        tables += check_made(test_read(found.gl_pathv[i]), STR("CREATE TABLE ")) +
                  check_made(test_read(found.gl_pathv[i]), STR("CREATE VIEW "));
    globfree(&found);
    for (size_t i = 0; i < grant_rows_count; i++)
        rows += !grant_rows[i].is_sequence;
    CHECK_EQ(rows, tables, "and no row is of a table that is gone");
}

static bool may(enum grant_role role, const char *table, char letter)
{
    const char *letters = row_of(str_of(table))->roles[role];

    return letters != NULL && strchr(letters, letter) != NULL;
}

TEST(nobody_has_what_it_must_not_have)
{
    for (int i = 0; i < GRANT_ROLE_COUNT; i++) {
        const enum grant_role role = (enum grant_role)i;

        CHECK(!may(role, "ing_outbox", 'U'), "an event is never changed");
        CHECK(!may(role, "ing_cursor_event", 'U'), "nor is one of a cursor");
        CHECK(!may(role, "ing_record_state", 'D'), "a record is never removed");
        CHECK(!may(role, "reg_provenance", 'I'), "sources belong to the owner");
        CHECK(!may(role, "schema_migration", 'I'), "and so do migrations");
        CHECK(role == GRANT_PUBLISHER || !may(role, "ing_outbox", 'D'), "publishers remove events");
        CHECK(role == GRANT_PUBLISHER || !may(role, "ing_stream", 'I'), "publishers number them");
        CHECK(role == GRANT_EXECUTOR || !may(role, "ing_record_state", 'U'),
              "executors store records");
        CHECK(may(role, "schema_migration", 'S'), "who opens a store looks at its schema");
    }
    CHECK(!may(GRANT_CONSUMER, "ing_outbox", 'I'), "consumers cannot write the outbox");
    for (size_t i = 0; i < grant_rows_count; i++) {
        const char *letters = grant_rows[i].roles[GRANT_READER];

        CHECK(letters == NULL || strcmp(letters, "S") == 0, grant_rows[i].name);
    }
}

TEST(names_are_plain)
{
    CHECK(grants_name_ok(STR("patra_")) && grants_name_ok(STR("a1")), "names");
    CHECK(!grants_name_ok(STR("")) && !grants_name_ok(STR("1a")) && !grants_name_ok(STR("a\"b")) &&
              !grants_name_ok(STR("A")) && !grants_name_ok(STR("a b")),
          "others");
}
