/* A token of an export that is accepted belongs to what it was made for, and says a place in it
 * that reads back. */
#include <assert.h>
#include <stdint.h>

#include "engine/export/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str text = { (const char *)bytes, size };
    struct export_token token = { .store = STR("3f2a60c1"), .source = STR("crossref") };
    struct arena arena;
    struct error err;
    int64_t again;

    arena_init(&arena, 1 << 20);
    for (int i = 0; i < 2; i++) {
        token.endpoint = i == 0 ? STR("") : STR("works");
        if (!export_token_read(text, &token, &token.after, &err)) {
            assert(err.level == ERROR_REQUEST);
            continue;
        }
        assert(token.after >= 0);
        assert(str_starts(text, i == 0 ? STR("v1/3f2a60c1/crossref//")
                                       : STR("v1/3f2a60c1/crossref/works/")));
        assert(export_token_read(export_token_text(&arena, &token), &token, &again, &err));
        assert(again == token.after);
    }
    arena_release(&arena);
    return 0;
}
