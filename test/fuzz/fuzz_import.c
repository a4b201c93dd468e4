/* Any bytes as the file of a foreign outbox. It is read, or refused with faults; what was read is
 * stored and loaded without becoming something else. */
#include <assert.h>
#include <stdint.h>

#include "spec/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct import_text stored, again;
    struct import_spec spec, back;
    struct fault_list faults;
    struct arena arena;
    struct error err;

    arena_init(&arena, (size_t)64 << 20);
    fault_list_init(&faults, &arena);
    if (!import_read(&arena, (struct str){ (const char *)data, size }, &faults, &spec)) {
        assert(faults.errors > 0 || faults.failed);
    } else {
        assert(import_compile(&arena, &spec, &stored, &err));
        if (import_load(&arena, stored.json, &back, &err)) /* else: what YAML does not take */
            assert(import_compile(&arena, &back, &again, &err) && str_eq(stored.json, again.json));
    }
    arena_release(&arena);
    return 0;
}
