/* uuid: the counter of version 7, and formatting. */
#include "base/uuid.h"

#include <string.h>

#include "base/instant.h"

enum { COUNTER_MAX = 0xFFF, COUNTER_START_MAX = 0x7FF };

static const int64_t MS_MAX = INT64_C(0xFFFFFFFFFFFF);

/* Advances the state to the next pair of milliseconds and counter. */
static void next(struct uuid_state *state, int64_t now_ms, uint32_t random)
{
    if (!state->started || now_ms > state->last_ms) {
        state->last_ms = now_ms;
        state->counter = random & COUNTER_START_MAX;
        state->started = true;
    } else if (state->counter < COUNTER_MAX) {
        state->counter++;
    } else {
        state->last_ms++;
        state->counter = random & COUNTER_START_MAX;
    }
}

struct uuid uuid_make(struct uuid_state *state, int64_t now_us,
                      const unsigned char random[UUID_RANDOM_BYTES])
{
    int64_t now_ms = now_us / US_PER_MS;
    struct uuid uuid;

    if (now_ms < 0)
        now_ms = 0; /* a clock before 1970 is wrong; the counter keeps the order */
    if (now_ms > MS_MAX)
        now_ms = MS_MAX;
    next(state, now_ms, (uint32_t)random[0] << 8 | random[1]);
    for (int i = 0; i < 6; i++)
        uuid.bytes[i] = (unsigned char)(state->last_ms >> (40 - 8 * i));
    uuid.bytes[6] = (unsigned char)(0x70 | state->counter >> 8);
    uuid.bytes[7] = (unsigned char)state->counter;
    memcpy(uuid.bytes + 8, random + 2, 8);
    uuid.bytes[8] = (unsigned char)(0x80 | (uuid.bytes[8] & 0x3F));
    return uuid;
}

static bool has_dash_before(int byte)
{
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

void uuid_format(struct uuid uuid, char text[UUID_TEXT_MAX])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < 16; i++) {
        if (has_dash_before(i))
            *text++ = '-';
        *text++ = digits[uuid.bytes[i] >> 4];
        *text++ = digits[uuid.bytes[i] & 0x0F];
    }
    *text = '\0';
}
