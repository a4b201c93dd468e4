/* Looks for the pieces of a secret in texts and stores. */
#include "planted.h"

#include <stdio.h>
#include <string.h>

#include "sql.h"
#include "test.h"

/* What is left of the key in any of them: long enough not to be there by chance. */
static const char *const pieces[] = {
    "zq7/K",        "ZQ7/K",        "zq7%2F",       "zq7%252F",        "zq7&#47;",
    "zq7&#x2f;",    "zq7/K+y&amp;", "enE3L0sreSZ3", "enE3L0sreSZ3OXg", "b3A6enE3L0sr",
    "7a71372f4b2b", "u007au0071",   "u007a\\",      "K+y&w",           "k%2by",
};

void planted_check(struct str text, const char *what)
{
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        char label[400];

        (void)snprintf(label, sizeof(label), "%.300s: %s", what, pieces[i]);
        CHECK(str_find(text, str_of(pieces[i])) == text.len, label);
    }
}

void planted_check_run(struct run run, const char *what)
{
    planted_check(run.out, what);
    planted_check(run.talk, what);
}

void planted_check_store(const char *store)
{
    static const char *const files[] = { "", "-wal" };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        char path[600];
        struct str bytes;

        (void)snprintf(path, sizeof(path), "%s%s", store, files[i]);
        bytes = test_read(path);
        if (bytes.data != NULL)
            planted_check(bytes, path);
    }
}

void planted_check_database(const char *dsn)
{
    struct arena arena;
    struct str tables;

    arena_init(&arena, 256 << 20);
    tables = sql_rows(&arena, dsn,
                      "SELECT quote_ident(table_name) FROM information_schema.tables"
                      " WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'");
    while (tables.len > 0) {
        const struct str table = str_cut(&tables, '\n');
        struct str rows;

        if (table.len == 0)
            continue;
        rows = sql_rows(&arena, dsn,
                        arena_printf(&arena, "SELECT t::text FROM %.*s AS t", STR_ARG(table)).data);
        planted_check(rows, table.data);
    }
    arena_release(&arena);
}
