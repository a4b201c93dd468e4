/* What the filter of ids promises: nothing is forgotten, few are mistaken. */
#include "engine/update/id_filter.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

static struct str name(char text[32], const char *kind, int i)
{
    const int len = snprintf(text, 32, "%s%d", kind, i);

    return (struct str){ text, (size_t)len };
}

TEST(what_was_added_is_never_forgotten)
{
    struct id_filter *filter = calloc(1, sizeof(*filter));
    char text[32];

    REQUIRE(filter != NULL, "memory");
    CHECK(!id_filter_has(filter, STR("10.1/a")), "an empty filter has nothing");
    for (int i = 0; i < 300000; i++)
        id_filter_add(filter, name(text, "10.1234/", i));
    for (int i = 0; i < 300000; i++) {
        if (!id_filter_has(filter, name(text, "10.1234/", i))) {
            test_fail(__FILE__, __LINE__, "%s is forgotten", text);
            break;
        }
    }
    free(filter);
}

/* The textbook: (1 - e^(-kn/m))^k with k = 4, n = 100,000, m = 2^23 is 0.5 in 100,000. */
TEST(others_are_taken_for_seen_as_rarely_as_the_header_says)
{
    struct id_filter *filter = calloc(1, sizeof(*filter));
    char text[32];
    int mistaken = 0;

    REQUIRE(filter != NULL, "memory");
    for (int i = 0; i < 100000; i++)
        id_filter_add(filter, name(text, "", 30000000 + i)); /* like PMIDs, side by side */
    for (int i = 0; i < 1000000; i++)
        mistaken += id_filter_has(filter, name(text, "", 40000000 + i));
    CHECK(mistaken <= 25, "about five in a million");
    test_note("%d of 1000000 taken for seen", mistaken);
    free(filter);
}
