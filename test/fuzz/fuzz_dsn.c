/* The address of a store, made of three pieces of the input: however people write it, what is
 * printed of it holds no password. */
#include <assert.h>
#include <stdint.h>

#include "adapter/store_open.h"

static const char SECRET[] = "S3CRET";

static void check_redacted(struct arena *arena, struct str dsn)
{
    const struct str printed = store_dsn_redact(arena, dsn);

    assert(printed.data != NULL);
    assert(str_find(printed, str_of(SECRET)) == printed.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str rest = { (const char *)bytes, size };
    const struct str a = str_cut(&rest, '\n');
    const struct str b = str_cut(&rest, '\n');
    struct arena arena;

    if (str_find(a, str_of(SECRET)) < a.len || str_find(rest, str_of(SECRET)) < rest.len)
        return 0;
    arena_init(&arena, 1 << 20);
    check_redacted(&arena, arena_printf(&arena, "postgresql://%.*s:%s%.*s%s@%.*s", STR_ARG(a),
                                        SECRET, STR_ARG(b), SECRET, STR_ARG(rest)));
    check_redacted(&arena, arena_printf(&arena, "postgres://%.*s?password=%s%.*s", STR_ARG(a),
                                        SECRET, STR_ARG(b)));
    (void)store_dsn_kind((struct str){ (const char *)bytes, size });
    arena_release(&arena);
    return 0;
}
