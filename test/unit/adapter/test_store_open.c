/* Addresses of stores: which adapter, how they are printed, errors when they are opened. */
#include "adapter/store_open.h"

#include <string.h>

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
    CHECK(strstr(err.text, "No such file or directory") != NULL, "the system's reason");
    CHECK(!store_open(STR("mysql://host/db"), NULL, &store, &err), "an unknown scheme");
    CHECK(strstr(err.text, "postgresql://") != NULL, "the error names the known ones");
    CHECK(!store_open(STR(""), NULL, &store, &err), "an empty address");
}
