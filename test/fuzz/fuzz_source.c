/* Any bytes as a source file: read or refused with faults that have a place. What was read can be
 * written and read again without becoming something else; what has no fault can be made into a
 * snapshot for each of its operations, and every such snapshot can be read. */
#include <assert.h>
#include <stdint.h>

#include "data/xml.h"
#include "spec/check.h"
#include "spec/snapshot.h"
#include "spec/spec.h"

static void check_rows(const struct source *a, const struct source *b)
{
    assert(a->registry.count == b->registry.count);
    for (size_t i = 0; i < a->registry.count; i++) {
        const struct registry_row *row = &a->registry.rows[i];
        const struct registry_row *twin = source_row(b, row->table, row->endpoint, row->key);

        assert(twin != NULL && registry_row_eq(row, twin));
    }
}

static void check_snapshots(struct arena *arena, const struct source *source)
{
    const struct registry_row *row = NULL;
    struct snapshot snapshot;
    struct error err;
    struct spec spec;

    while ((row = source_next_operation(source, row)) != NULL) {
        const struct snapshot_request request = { .source = source, .operation = row->key };

        assert(snapshot_make(arena, &request, &snapshot, &err));
        assert(spec_read(arena, snapshot.json, &spec, &err));
        assert(str_eq(spec.operation.name, row->key));
    }
}

static void check_written(struct arena *arena, const struct source *source)
{
    struct fault_list faults;
    struct source again;
    struct buf out;

    buf_init(&out, arena, 16 << 20);
    fault_list_init(&faults, arena);
    source_write(source, &out);
    assert(!out.failed &&
           source_read(arena, &(struct source_text){ .file = buf_str(&out) }, &faults, &again));
    check_rows(source, &again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = { (const char *)data, size };
    struct fault_list faults, again;
    struct source source;
    struct arena arena;

    arena_init(&arena, 64 << 20);
    fault_list_init(&faults, &arena);
    if (source_lint(&arena, &xml_module, &(struct source_text){ .file = text }, &faults, &source))
        check_snapshots(&arena, &source);
    fault_list_init(&again, &arena);
    if (source_read(&arena, &(struct source_text){ .file = text }, &again, &source))
        check_written(&arena, &source);
    assert(faults.failed || again.failed || faults.errors >= again.errors);
    for (size_t i = 0; i < faults.count; i++)
        assert(faults.items[i].at.line > 0 && faults.items[i].at.column > 0);
    arena_release(&arena);
    return 0;
}
