/* Encoding in groups of three bytes. */
#include "data/base64.h"

void base64_encode(struct buf *out, struct str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = (const unsigned char *)bytes.data;

    for (size_t i = 0; i < bytes.len; i += 3) {
        const size_t left = bytes.len - i;
        const uint32_t group = (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
                               (left > 2 ? in[i + 2] : 0);
        const char four[4] = { digits[group >> 18], digits[group >> 12 & 63],
                               left > 1 ? digits[group >> 6 & 63] : '=',
                               left > 2 ? digits[group & 63] : '=' };

        buf_add(out, (struct str){ four, sizeof(four) });
    }
}
