/* Tests: version 7 ids increase, whatever the clock does. */
#include "base/uuid.h"

#include <string.h>

#include "test.h"

static const unsigned char ones[UUID_RANDOM_BYTES] = { 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                       0xFF, 0xFF, 0xFF, 0xFF, 0xFF };
static const unsigned char zeros[UUID_RANDOM_BYTES] = { 0 };

/* RFC 9562 appendix A.6: the instant and random bits of its example, laid out by hand:
 * 017F22E2-79B0-7CC3-98C4-DC0C0C07398F is 2022-02-22T19:22:22.000Z. Its counter (CC3) is in the
 * upper half, where ours never starts, so one from the lower half stands in its place. */
TEST(uuid_has_the_layout_of_the_rfc)
{
    static const unsigned char random[] = { 0x04, 0xC3, 0x18, 0xC4, 0xDC,
                                            0x0C, 0x0C, 0x07, 0x39, 0x8F };
    struct uuid_state state = { 0 };
    char text[UUID_TEXT_MAX];

    uuid_format(uuid_make(&state, INT64_C(1645557742000000), random), text);
    CHECK_STR(str_of(text), STR("017f22e2-79b0-74c3-98c4-dc0c0c07398f"), "the RFC's example");
    state = (struct uuid_state){ 0 };
    uuid_format(uuid_make(&state, 0, ones), text);
    CHECK_STR(str_of(text), STR("00000000-0000-77ff-bfff-ffffffffffff"), "version and variant");
    state = (struct uuid_state){ 0 };
    uuid_format(uuid_make(&state, 0, zeros), text);
    CHECK_STR(str_of(text), STR("00000000-0000-7000-8000-000000000000"), "version and variant");
}

TEST(uuid_increases_for_any_clock_and_random_bits)
{
    /* now_us: stands still, goes back by an hour, jumps ahead, goes before 1970 */
    static const int64_t clock_us[] = { 5000000000, 5000000000, 1400000000, 5000000999,
                                        5000001000, 9000000000, -1 };
    struct uuid_state state = { 0 };
    struct uuid last = { { 0 } };

    for (size_t i = 0; i < ARRAY_LEN(clock_us); i++) {
        for (int n = 0; n < 10000; n++) { /* more than a millisecond's counter can hold */
            const struct uuid id = uuid_make(&state, clock_us[i], n % 3 == 0 ? ones : zeros);

            REQUIRE(memcmp(last.bytes, id.bytes, 16) < 0, "strictly increasing");
            last = id;
        }
    }
}
