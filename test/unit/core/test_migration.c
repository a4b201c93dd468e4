/* Tests: which databases are accepted, and which migration comes next. */
#include "core/migration.h"

#include <string.h>

#include "test.h"

static const struct migration STEPS[] = {
    { 1, STR_INIT("init"), STR_INIT("h1"), STR_INIT("") },
    { 2, STR_INIT("more"), STR_INIT("h2"), STR_INIT("") },
    { 5, STR_INIT("late"), STR_INIT("h5"), STR_INIT("") },
};
static const struct migration_set KNOWN = { STEPS, ARRAY_LEN(STEPS) };

#define TAKEN(n, hash)                   \
    {                                    \
        n, STR_INIT("x"), STR_INIT(hash) \
    }

static const struct {
    const char *label;
    struct migration_record taken[4];
    size_t count;
    const char *refused; /* NULL = accepted */
    const char *help;    /* the advice in the text */
    int64_t next;        /* 0 = none */
    int64_t version;
} cases[] = {
    { "an empty database", { { 0 } }, 0, NULL, NULL, 1, 0 },
    { "half way", { TAKEN(1, "h1") }, 1, NULL, NULL, 2, 1 },
    { "up to date", { TAKEN(1, "h1"), TAKEN(2, "h2"), TAKEN(5, "h5") }, 3, NULL, NULL, 0, 5 },
    { "one left out", { TAKEN(1, "h1"), TAKEN(5, "h5") }, 2, NULL, NULL, 2, 1 },
    { "from the future",
      { TAKEN(1, "h1"), TAKEN(6, "h6") },
      2,
      "store.newer",
      "use a newer patra",
      2,
      1 },
    { "unknown in between", { TAKEN(3, "h3") }, 1, "store.newer", "use a newer patra", 1, 0 },
    { "edited",
      { TAKEN(1, "h1"), TAKEN(2, "other") },
      2,
      "store.migration",
      "init --store ANOTHER",
      5,
      2 },
};

TEST(a_database_gets_the_missing_migrations_or_is_refused)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct migration_record items[4] = { cases[i].taken[0], cases[i].taken[1],
                                             cases[i].taken[2], cases[i].taken[3] };
        const struct migration_record_list taken = { items, cases[i].count };
        const struct migration *next = migration_next(&KNOWN, &taken);
        struct error err = { 0 };
        const bool ok = migration_check(&KNOWN, &taken, &err);

        CHECK_EQ(ok, cases[i].refused == NULL, cases[i].label);
        if (!ok) {
            CHECK_STR(str_of(err.code), str_of(cases[i].refused), cases[i].label);
            CHECK_EQ(err.level, ERROR_FATAL, cases[i].label);
            CHECK(strstr(err.text, cases[i].help) != NULL, err.text);
        }
        CHECK_EQ(next == NULL ? 0 : next->number, cases[i].next, cases[i].label);
        CHECK_EQ(migration_version(&KNOWN, &taken), cases[i].version, cases[i].label);
    }
}
