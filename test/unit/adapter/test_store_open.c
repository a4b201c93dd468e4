/* Addresses of stores: which adapter, how they are printed, errors when they are opened. */
#include "adapter/store_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

TEST(an_address_selects_its_adapter)
{
    static const struct {
        const char *dsn;
        enum store_kind kind;
    } cases[] = {
        { "patra.db", STORE_SQLITE },
        { "/var/lib/patra/patra.db", STORE_SQLITE },
        { "sqlite:patra.db", STORE_SQLITE },
        { "postgresql://localhost/patra", STORE_POSTGRES },
        { "postgres://localhost/patra", STORE_POSTGRES },
        { "host=localhost dbname=patra password=s3cret", STORE_POSTGRES },
        { "dbname = patra", STORE_POSTGRES },
        { "service=patra", STORE_POSTGRES },
        { "./host=x", STORE_SQLITE },
        { "a=b.db", STORE_SQLITE },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_EQ(store_dsn_kind(str_of(cases[i].dsn)), cases[i].kind, cases[i].dsn);
}

TEST(an_address_is_printed_without_its_password)
{
    static const struct {
        const char *dsn;
        const char *printed;
    } cases[] = {
        { "patra.db", "patra.db" },
        { "postgresql://host/db", "postgresql://host/db" },
        { "postgresql://user@host:5432/db", "postgresql://user@host:5432/db" },
        { "postgresql://user:s3cret@host/db", "postgresql://user:***@host/db" },
        { "postgresql://user:s3@cret@host/db", "postgresql://user:***@host/db" },
        { "postgres://:s3cret@/db", "postgres://:***@/db" },
        { "postgresql:///db?password=s3cret&host=h", "postgresql:///db?***" },
        { "postgresql://user:s3/cret@host/db?x=y", "postgresql://user:***@host/db?***" },
        { "postgresql://user:s3?cret@host/db", "postgresql://***" },
        { "postgresql:///db?password=s3@cret", "postgresql://***" },
        { "host=db port=5433 dbname=patra user=u", "host=db port=5433 dbname=patra user=u" },
        { "host=db password=s3cret user=u sslmode=require", "host=db user=u ***" },
        { "host=db password='s3 user=cret'", "***" },
        { "host = db password = s3cret", "***" },
        { "hots=db password=s3cret", "***" },
    };
    struct arena arena;

    arena_init(&arena, 1 << 16);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_STR(store_dsn_redact(&arena, str_of(cases[i].dsn)), str_of(cases[i].printed),
                  cases[i].dsn);
    arena_release(&arena);
}

TEST(a_missing_file_is_not_created_without_the_option)
{
    struct store *store = NULL;
    struct error err = { 0 };

    CHECK(!store_open(STR("/nonexistent/patra.db"), NULL, &store, &err), "missing");
    CHECK_EQ(err.level, ERROR_REQUEST, "missing");
    CHECK_STR(str_of(err.code), STR("store.missing"), "missing");
    CHECK(strstr(err.text, "patra init") != NULL, "what to do about it");
    CHECK(!store_open(STR("/nonexistent/patra.db"), &(struct store_options){ .create = true },
                      &store, &err),
          "cannot be created");
    CHECK_EQ(err.level, ERROR_FATAL, "cannot be created");
    CHECK(strstr(err.text, "the folder /nonexistent does not exist") != NULL, err.text);
    CHECK(!store_open(STR("mysql://host/db"), NULL, &store, &err), "an unknown scheme");
    CHECK(strstr(err.text, "postgresql://") != NULL, "the error names the known ones");
    CHECK(!store_open(STR(""), NULL, &store, &err), "an empty address");
}

TEST(an_address_that_cannot_be_read_is_refused_without_being_repeated)
{
    static const char *const addresses[] = {
        "postgresql://user:s3cr/et@host/db",
        "hots=db password=s3cret",
    };

    for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
        struct store *store = NULL;
        struct error err = { 0 };

        CHECK(!store_open(str_of(addresses[i]), &(struct store_options){ .create = true }, &store,
                          &err),
              addresses[i]);
        CHECK_STR(str_of(err.code), STR("store.value"), addresses[i]);
        CHECK(strstr(err.text, "s3cr") == NULL, err.text);
    }
}

enum { PATH_BYTES = 64 };

static struct store *open_new(char folder[PATH_BYTES], char path[PATH_BYTES + 8])
{
    struct store *store = NULL;
    struct error err = { 0 };

    (void)snprintf(folder, PATH_BYTES, "/tmp/test_store_open.XXXXXX");
    REQUIRE(mkdtemp(folder) != NULL, "a folder");
    (void)snprintf(path, PATH_BYTES + 8, "%s/a.db", folder);
    REQUIRE_OK(store_open(str_of(path), &(struct store_options){ .create = true }, &store, &err),
               err);
    return store;
}

TEST(a_file_that_is_replaced_under_a_session_is_noticed)
{
    char folder[PATH_BYTES], path[PATH_BYTES + 8], moved[PATH_BYTES + 8];
    struct store *store = open_new(folder, path), *another = NULL;
    struct error err = { 0 };
    FILE *file;

    (void)snprintf(moved, sizeof(moved), "%s/b.db", folder);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE(rename(path, moved) == 0, "deleted");
    CHECK(!store_commit(store, &err), "what is written now would be lost");
    CHECK_STR(str_of(err.code), STR("store.replaced"), err.text);
    CHECK_EQ(err.level, ERROR_FATAL, "a person must look");
    store_rollback(store);
    file = fopen(path, "w");
    REQUIRE(file != NULL && fclose(file) == 0, "another file");
    CHECK(!store_begin(store, &err), "not the one that is open");
    CHECK_STR(str_of(err.code), STR("store.replaced"), err.text);
    CHECK(!store_another(store, &another, &err), "nor for new sessions of the process");
    REQUIRE(rename(moved, path) == 0, "put back");
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    store_close(store);
    (void)unlink(path);
    (void)rmdir(folder);
}
