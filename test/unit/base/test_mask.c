/* Tests: e-mail addresses and phone numbers are taken out of texts, and nothing else is. */
#include "base/mask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static const struct {
    const char *in;
    const char *out;
} masked[] = {
    { "write to jane.doe@example.org, please", "write to j***@example.org, please" },
    { "<mailto:jane.doe+x@mail.example.co.uk>", "<mailto:j***@mail.example.co.uk>" },
    { "jane.doe@example.org", "j***@example.org" },
    { "ab@example.org a@b.org abc@b.org", "**@example.org *@b.org ***@b.org" },
    { "two: jane@a.org,john@b.org", "two: j***@a.org,j***@b.org" },
    { "?email=jane.doe%40example.org&x=1", "?email=j***%40example.org&x=1" },
    { "\"mail\":\"jane\\u0040example.org\"", "\"mail\":\"j***\\u0040example.org\"" },
    { "jane.doe&#64;example.org", "j***&#64;example.org" },
    { "J\xc3\xbcrgen@example.org", "J***@example.org" },
    { "\xc3\xbcrgen@example.org", "***@example.org" },
    { "\"contact jane.doe@exam... (120 bytes)", "\"contact j***@exam... (120 bytes)" },
    { "cut: jane.doe@exam", "cut: j***@exam" },
    { "cut: jane.doe@", "cut: j***@" },
    { "call +49 30 1234567 now", "call +49***67 now" },
    { "call +1 (555) 010-9999.", "call +1***99." },
    { "\"phone\":\"+8613912345678\"", "\"phone\":\"+86***78\"" },
    { "(+44) 20 7946 0958", "(+44***58" },
    { "tel:030-1234567", "tel:***67" },
    { "Tel: +49 30 1234567", "Tel: +***67" },
};

TEST(addresses_and_numbers_are_masked)
{
    for (size_t i = 0; i < ARRAY_LEN(masked); i++) {
        char text[256];
        size_t len = strlen(masked[i].in);

        memcpy(text, masked[i].in, len);
        len = mask_personal(text, len);
        CHECK_STR(((struct str){ text, len }), str_of(masked[i].out), masked[i].in);
        CHECK_EQ(mask_personal(text, len), len, "masked once is masked");
        CHECK_STR(((struct str){ text, len }), str_of(masked[i].out), "the same");
    }
}

TEST(numbers_that_people_need_are_kept)
{
    static const char *const kept[] = {
        "id 31000001 was refused, 12345678901 too",
        "10.1234/abc-5678.90123456, 10.1000/+12345678",
        "ISSN 1234-5678 and 1234-567X, ISBN 978-3-16-148410-0",
        "2026-01-31T10:00:00+01:00, +2026-01-31, 20260131+0100",
        "018f6a3e-7c1b-7000-8000-1234567890ab",
        "from=2026-01-01&q=a+31000001,+31000002",
        "1.5e+10000000, 12+34567890",
        "+1234567, +1234567890123456, +0123456789",
        "sha256:+12345678abcdef",
        "ArticleId[@IdType='doi'], $[?@.a == 1], //a/@b",
        "postgresql://me@localhost/db, postgresql://me:***@db.example.org/x",
        "https://***@example.org/ and j***@example.org",
        "hotel: 1234567",
        "",
    };

    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        char text[256];
        const size_t len = strlen(kept[i]);

        memcpy(text, kept[i], len);
        CHECK_STR(((struct str){ text, mask_personal(text, len) }), str_of(kept[i]), kept[i]);
    }
}

/* What real sources say of errors loses no character but those of addresses. */
TEST(recorded_errors_are_kept)
{
    static const char *const files[] = {
        "fixtures/arxiv/error-in-200.xml",
        "fixtures/arxiv/id-malformed-400.xml",
        "fixtures/crossref/error-filter-400.json",
        "fixtures/crossref/error-cursor-invalid-404.json",
        "fixtures/crossref/error-validation-400.json",
        "fixtures/oai/zenodo-422-badresumptiontoken.xml",
        "fixtures/openalex/error-400-filter.json",
        "fixtures/semanticscholar/error-400-fields.json",
    };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        const char *path = test_shared(files[i]);
        static char text[1 << 16], before[1 << 16];
        FILE *file = path != NULL ? fopen(path, "rb") : NULL;
        size_t len;

        if (path == NULL)
            TEST_SKIP("the fixtures are not here");
        REQUIRE(file != NULL, files[i]);
        len = fread(text, 1, sizeof(text), file);
        (void)fclose(file);
        memcpy(before, text, len);
        REQUIRE(len > 0 && memchr(text, '@', len) == NULL, "an error without an address");
        CHECK_STR(((struct str){ text, mask_personal(text, len) }), ((struct str){ before, len }),
                  files[i]);
    }
}
