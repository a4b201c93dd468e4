/* Base64 of RFC 4648. */
#include "data/base64.h"

#include "test.h"

/* The vectors of RFC 4648 section 10, and bytes that need the last two digits. */
static const struct {
    struct str bytes;
    struct str text;
} cases[] = {
    { STR_INIT(""), STR_INIT("") },
    { STR_INIT("f"), STR_INIT("Zg==") },
    { STR_INIT("fo"), STR_INIT("Zm8=") },
    { STR_INIT("foo"), STR_INIT("Zm9v") },
    { STR_INIT("foob"), STR_INIT("Zm9vYg==") },
    { STR_INIT("fooba"), STR_INIT("Zm9vYmE=") },
    { STR_INIT("foobar"), STR_INIT("Zm9vYmFy") },
    { STR_INIT("\xfb\xff\xbf"), STR_INIT("+/+/") },
    { STR_INIT("Aladdin:open sesame"), STR_INIT("QWxhZGRpbjpvcGVuIHNlc2FtZQ==") },
};

TEST(base64_writes_what_the_rfc_writes)
{
    struct arena arena;
    struct buf out;

    arena_init(&arena, 4096);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf_init(&out, &arena, 100);
        base64_encode(&out, cases[i].bytes);
        CHECK_STR(buf_str(&out), cases[i].text, "encoded");
    }
    arena_release(&arena);
}

TEST(base64_reads_what_it_writes)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char out[32];
        size_t len;

        REQUIRE(base64_decode(cases[i].text, out, sizeof(out), &len), cases[i].text.data);
        CHECK_STR(((struct str){ out, len }), cases[i].bytes, cases[i].text.data);
    }
}

TEST(base64_refuses_what_nobody_writes)
{
    static const char *const wrong[] = { "Zg",   "Zg=",  "Zg=g",      "Z===", "====",
                                         "Zh==", "Zm9=", "Zm9v Zm9v", "Zm-v", "Zg==Zg==" };
    char out[32];
    size_t len;

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        CHECK(!base64_decode(str_of(wrong[i]), out, sizeof(out), &len), wrong[i]);
    CHECK(!base64_decode(STR("Zm9vYmFy"), out, 5, &len), "no room");
}
