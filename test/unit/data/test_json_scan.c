/* The fast loops over JSON give the same result as the plain ones. */
#include "test.h"

#include "data/json_scan.h"

/* Texts with a special byte at every place, of every value, and lengths around the step of 16. */
enum { LEN_MAX = 50 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static const char *first_special(const char *at, const char *end)
{
    while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' &&
           *at != '\\')
        at++;
    return at;
}

static const char *first_quote(const char *at, const char *end)
{
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

static const char *first_ink(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

static void check_all(const char *at, const char *end, const char *label)
{
    CHECK_EQ(json_scan_plain(at, end) - at, first_special(at, end) - at, label);
    CHECK_EQ(json_scan_plain_portable(at, end) - at, first_special(at, end) - at, label);
    CHECK_EQ(json_scan_quote(at, end) - at, first_quote(at, end) - at, label);
    CHECK_EQ(json_scan_quote_portable(at, end) - at, first_quote(at, end) - at, label);
    CHECK_EQ(json_scan_space(at, end) - at, first_ink(at, end) - at, label);
    CHECK_EQ(json_scan_space_portable(at, end) - at, first_ink(at, end) - at, label);
}

TEST(each_loop_stops_at_the_first_byte_that_matters)
{
    char text[LEN_MAX];

    for (int byte = 0; byte < 256; byte++) {
        for (int len = 0; len <= LEN_MAX; len++) {
            memset(text, byte % 2 == 0 ? 'x' : ' ', sizeof(text));
            if (len > 0)
                text[(byte * 7) % len] = (char)byte;
            check_all(text, text + len, "one special byte");
        }
    }
}

TEST(both_ways_agree_on_random_bytes)
{
    static const char common[] = "aZ09 \"\\\n\t\r\x1F\x7F\x80\xFF";
    uint32_t random = 1;
    char text[LEN_MAX];

    for (int round = 0; round < 20000; round++) {
        const size_t len = next_random(&random) % (LEN_MAX + 1);
        const size_t kinds = round % 2 == 0 ? 5 : sizeof(common) - 1;

        for (size_t i = 0; i < len; i++)
            text[i] = common[next_random(&random) % kinds];
        check_all(text, text + len, "random bytes");
    }
}
