/* Builds the invented records of bench_commit. */
#include "records.h"

#include <stdio.h>

enum { RECORD_BYTES = 5000 };

/* The same for the same seed. */
static unsigned next_of(unsigned *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Words as in prose: a few of them are frequent. */
static char *add_words(char *at, unsigned *seed, int count)
{
    static const char *const ROOTS[] = { "acti", "bio",   "cell", "dyna", "effe", "form",
                                         "gen",  "hyper", "inte", "meta", "neur", "ortho",
                                         "para", "resp",  "stat", "trans" };
    static const char *const MIDDLES[] = { "ca", "di", "lo", "mi", "na", "pho", "ro", "ti" };
    static const char *const ENDS[] = { "tion", "sis", "ment", "al", "ing", "ed", "ic", "s" };

    for (int i = 0; i < count; i++) {
        const unsigned dice = next_of(seed);

        if (dice % 3 == 0)
            at += sprintf(at, "%s ", dice % 2 == 0 ? "of the" : "in");
        else
            at += sprintf(at, "%s%s%s ", ROOTS[dice >> 3 & 15], MIDDLES[dice >> 7 & 7],
                          ENDS[dice >> 10 & 7]);
    }
    return at;
}

static char *add_reference(char *at, unsigned *seed, int number)
{
    return at + sprintf(at,
                        ",{\"key\":\"ref%d\",\"doi-asserted-by\":\"publisher\",\"DOI\":"
                        "\"10.%u/%08x.%u\",\"year\":\"%u\"}",
                        number, 1000 + next_of(seed) % 4000, next_of(seed) * 2654435761U,
                        next_of(seed) % 10000, 1990 + next_of(seed) % 36);
}

char *record_add(char *at, int number, int round)
{
    char *const start = at;
    unsigned seed = (unsigned)number * 2654435761U;

    at += sprintf(at,
                  "{\"id\":\"10.1000/%08x.%d\",\"at\":\"2026-01-05T00:%02d:00Z\","
                  "\"title\":\"Of records, number %d\",\"abstract\":\"",
                  (unsigned)number * 2654435761U, number, round, number);
    at = add_words(at, &seed, 200);
    at += sprintf(at, "\",\"reference\":[{}");
    for (int i = 1; at - start < RECORD_BYTES - 100; i++)
        at = add_reference(at, &seed, i);
    return at + sprintf(at, "]}");
}
