/* Passwords in arguments, and what is left of them. */
#include "cli/hide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static const char *const cases[][2] = {
    { "status", "status" },
    { "patra.db", "patra.db" },
    { "postgresql://me@host/db", "postgresql://me@host/db" },
    { "postgresql://host:5432/db", "postgresql://host:5432/db" },
    { "postgresql://me:word@host:5432/db", "postgresql://me:****@host:5432/db" },
    { "--store=postgresql://me:w@rd@host/db", "--store=postgresql://me:****@host/db" },
    { "postgresql://me:a/b@host/db", "postgresql://me:***@host/db" },
    { "postgresql:///db?user=me&password=word&port=1",
      "postgresql:///db?user=me&password=****&port=1" },
    { "host=h password=word user=me", "host=h password=**** user=me" },
    { "host=h password = 'my word' user=me", "host=h password = '*******' user=me" },
    { "password='it\\'s' x=1", "password='*****' x=1" },
    { "password='open", "password='****" },
    { "sslpassword=key password=word", "sslpassword=*** password=****" },
    { "password", "password" },
    { "http.proxy=http://me:word@proxy:3128", "http.proxy=http://me:****@proxy:3128" },
};

TEST(stars_cover_passwords_and_nothing_else)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char argument[200];

        (void)snprintf(argument, sizeof(argument), "%s", cases[i][0]);
        hide_passwords(argument);
        CHECK_STR(str_of(argument), str_of(cases[i][1]), cases[i][0]);
    }
}

TEST(the_program_keeps_what_others_do_not_see)
{
    char name[] = "patra", store[] = "--store=postgresql://me:word@host/db";
    char *argv[] = { name, store, NULL };
    char **copies = hide_arguments(2, argv);

    REQUIRE(copies != NULL, "memory");
    CHECK_STR(str_of(copies[0]), STR("patra"), "name");
    CHECK_STR(str_of(copies[1]), STR("--store=postgresql://me:word@host/db"), "kept");
    CHECK(copies[2] == NULL, "the end");
    CHECK_STR(str_of(argv[1]), STR("--store=postgresql://me:****@host/db"), "hidden");
    free(copies);
}
