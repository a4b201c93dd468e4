/* Any bytes as a projection file, and as the stored form of one. A file is read or refused with
 * faults; what was read is stored, loaded, printed and compiled without becoming something else. A
 * stored form that is accepted is exactly what its projection is stored as. */
#include <assert.h>
#include <stdint.h>

#include "spec/projection.h"

static void check_file(struct arena *arena, struct str text)
{
    struct projection_text stored, again;
    struct projection_spec spec, back;
    struct fault_list faults;
    struct error err;
    struct buf out;
    size_t count;

    fault_list_init(&faults, arena);
    if (!projection_read(arena, text, &faults, &spec)) {
        assert(faults.errors > 0 || faults.failed);
        return;
    }
    assert(projection_compile(arena, &spec, &stored, &err));
    if (!projection_load(arena, stored.json, &back, &err))
        return; /* characters that YAML does not take: lint and apply tell */
    assert(projection_compile(arena, &back, &again, &err) && str_eq(stored.json, again.json));
    buf_init(&out, arena, 4 << 20);
    assert(projection_diff(arena, stored.json, again.json, &out, &count, &err) && count == 0);
    assert(projection_print(arena, stored.json, &out, &err));
    assert(projection_read(arena, buf_str(&out), &faults, &back) &&
           projection_compile(arena, &back, &again, &err) && str_eq(stored.json, again.json));
}

static void check_stored(struct arena *arena, struct str text)
{
    struct projection_text again;
    struct projection_spec spec;
    struct error err;

    if (!projection_load(arena, text, &spec, &err))
        return;
    assert(projection_compile(arena, &spec, &again, &err) && str_eq(again.json, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = { (const char *)data, size };
    struct arena arena;

    arena_init(&arena, (size_t)64 << 20);
    check_file(&arena, text);
    arena_reset(&arena);
    check_stored(&arena, text);
    arena_release(&arena);
    return 0;
}
