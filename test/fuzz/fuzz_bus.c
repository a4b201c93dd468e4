/* Any bytes as a bus file, and as the stored form of one. A file is read or refused with faults
 * that have a place; what was read is stored, loaded and printed without becoming something else. A
 * stored form that is accepted is exactly what its bus is stored as. */
#include <assert.h>
#include <stdint.h>

#include "spec/bus.h"

static void check_file(struct arena *arena, struct str text)
{
    struct fault_list faults;
    struct bus_text stored, again;
    struct bus_spec spec, back;
    struct error err;
    struct buf out;

    fault_list_init(&faults, arena);
    if (!bus_read(arena, text, &faults, &spec)) {
        assert(faults.errors > 0 || faults.failed);
        return;
    }
    assert(bus_compile(arena, &spec, &stored, &err));
    if (!bus_load(arena, stored.json, &back, &err))
        return; /* characters that YAML does not take: lint and apply tell */
    assert(bus_compile(arena, &back, &again, &err) && str_eq(stored.json, again.json));
    buf_init(&out, arena, 1 << 20);
    assert(bus_diff(arena, &spec, &back, &out) == 0);
    bus_print(arena, &spec, &out);
    assert(!out.failed && bus_read(arena, buf_str(&out), &faults, &back) &&
           bus_compile(arena, &back, &again, &err) && str_eq(stored.json, again.json));
}

static void check_stored(struct arena *arena, struct str text)
{
    struct bus_text again;
    struct bus_spec spec;
    struct error err;

    if (!bus_load(arena, text, &spec, &err)) {
        assert(err.level == ERROR_FATAL || err.level == ERROR_REQUEST || err.level == ERROR_DATA ||
               err.level == ERROR_TRANSIENT);
        return;
    }
    assert(bus_compile(arena, &spec, &again, &err) && str_eq(again.json, text));
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
