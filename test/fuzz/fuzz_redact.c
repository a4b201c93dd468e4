/* A secret in texts of servers: the text gets no longer, is the same when redacted again, and does
 * not have the secret any more, neither as it is nor percent-encoded. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "data/redact.h"

enum { TEXT_MAX = 1024 };

static const struct str secret = STR_INIT("S3c/r+t");
static const char encoded[] = "S3c%2Fr%2Bt";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const size_t given = size < TEXT_MAX ? size : TEXT_MAX, half = given / 2;
    char text[TEXT_MAX + 64], again[TEXT_MAX + 64];
    const size_t most = given + strlen(encoded);
    size_t len;

    if (given == 0)
        return 0;
    memcpy(text, bytes, half);
    memcpy(text + half, encoded, strlen(encoded));
    memcpy(text + half + strlen(encoded), bytes + half, given - half);
    len = redact_text(text, most, secret);
    assert(len <= most);
    assert(memmem(text, len, secret.data, secret.len) == NULL);
    assert(memmem(text, len, encoded, strlen(encoded)) == NULL);
    memcpy(again, text, len);
    assert(redact_text(again, len, secret) == len && memcmp(again, text, len) == 0);
    return 0;
}
