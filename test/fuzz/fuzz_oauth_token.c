/* The response of a token server: a token and its lifetime, or an error that quotes nothing. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "data/oauth_token.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str body = { (const char *)bytes, size };
    struct oauth_token token;
    struct arena arena;
    struct error err;
    struct str word;

    arena_init(&arena, 4 << 20);
    if (oauth_token_read(&arena, body, &token, &err))
        assert(token.value.len > 0 && token.lifetime_us >= 0);
    else
        assert(arena.failed || strcmp(err.code, "auth.token") == 0);
    word = oauth_token_refusal(&arena, body);
    for (size_t i = 0; i < word.len; i++)
        assert((word.data[i] >= 'a' && word.data[i] <= 'z') || word.data[i] == '_');
    arena_release(&arena);
    return 0;
}
