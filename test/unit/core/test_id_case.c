/* Ids that differ only in case, against all of them in order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/id_case.h"
#include "random.h"
#include "test.h"

enum { LETTERS = 4, ALL = 1 << LETTERS, ROUNDS = 2000 };

static int by_bytes(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Every case of "1aB-cd", sorted. */
static void make_all(char all[ALL][8])
{
    static const size_t PLACES[LETTERS] = { 1, 2, 4, 5 };

    for (int i = 0; i < ALL; i++) {
        (void)strcpy(all[i], "1AB-CD");
        for (int k = 0; k < LETTERS; k++) {
            if (i >> k & 1)
                all[i][PLACES[k]] = (char)(all[i][PLACES[k]] | 0x20);
        }
    }
    qsort(all, ALL, sizeof(all[0]), by_bytes);
}

TEST(the_next_one_is_the_first_of_all_that_is_not_before)
{
    static const char BYTES[] = "01AaBbCcDd-z\xc3";
    struct random random = { 7 };
    char all[ALL][8], next[8] = { 0 };

    make_all(all);
    for (int round = 0; round < ROUNDS; round++) {
        char from[9] = { 0 };
        const int64_t len = random_between(&random, 0, 9);
        const char *wanted = NULL;

        if (random_chance(&random, 50))
            (void)strcpy(from, all[random_between(&random, 0, ALL)]);
        for (int64_t i = 0; i < len; i++) {
            if (from[i] == '\0' || random_chance(&random, 20))
                from[i] = BYTES[random_between(&random, 0, sizeof(BYTES) - 1)];
        }
        for (int i = 0; i < ALL && wanted == NULL; i++)
            wanted = strcmp(all[i], from) >= 0 ? all[i] : NULL;
        memset(next, 0, sizeof(next));
        CHECK(id_case_next(STR("1aB-cd"), str_of(from), next) == (wanted != NULL), from);
        if (wanted != NULL)
            CHECK_STR(str_of(next), str_of(wanted), from);
    }
}

TEST(ids_are_alike_whose_letters_differ_only_in_case)
{
    CHECK(id_case_is_alike(STR("10.1000/AbC"), STR("10.1000/aBc")), "letters");
    CHECK(!id_case_is_alike(STR("10.1000/abc"), STR("10.1000/abd")), "another letter");
    CHECK(!id_case_is_alike(STR("a"), STR("ab")), "longer");
    CHECK(!id_case_is_alike(STR("@"), STR("`")), "no letters, though a bit apart");
    CHECK(!id_case_is_alike(STR("\xc3\x84"), STR("\xc3\xa4")), "other alphabets differ");
}
