/* Any bytes as a source file: read or refused with faults that have a place, and what was read can
 * be written and read again without becoming something else. */
#include <assert.h>
#include <stdint.h>

#include "spec/source.h"

static void check_rows(const struct source *a, const struct source *b)
{
    assert(a->registry.count == b->registry.count);
    for (size_t i = 0; i < a->registry.count; i++) {
        const struct registry_row *row = &a->registry.rows[i];
        const struct registry_row *twin = source_row(b, row->table, row->endpoint, row->key);

        assert(twin != NULL && registry_row_eq(row, twin));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = { (const char *)data, size };
    struct source source, again;
    struct fault_list faults;
    struct arena arena;
    struct buf out;

    arena_init(&arena, 64 << 20);
    fault_list_init(&faults, &arena);
    if (source_read(&arena, text, &faults, &source)) {
        buf_init(&out, &arena, 16 << 20);
        source_write(&source, &out);
        fault_list_init(&faults, &arena);
        assert(!out.failed && source_read(&arena, buf_str(&out), &faults, &again));
        check_rows(&source, &again);
    } else if (!faults.failed) {
        assert(faults.errors > 0);
        for (size_t i = 0; i < faults.count; i++)
            assert(faults.items[i].at.line > 0 && faults.items[i].at.column > 0);
    }
    arena_release(&arena);
    return 0;
}
