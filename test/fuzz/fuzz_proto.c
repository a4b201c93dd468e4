/* Whatever is read as a .proto file is compatible with itself, and every type has a name. */
#include <assert.h>
#include <stdint.h>

#include "spec/event_proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str text = { (const char *)bytes, size };
    struct compat_change_list changes;
    struct event_schema schema;
    struct arena arena;
    struct error err;

    arena_init(&arena, (size_t)64 << 20);
    if (event_proto_read(&arena, text, &schema, &err)) {
        for (size_t i = 0; i < schema.messages.count; i++) {
            const struct schema_message *message = &schema.messages.items[i];

            assert(message->name.len > 0);
            for (size_t k = 0; k < message->fields.count; k++) {
                assert(message->fields.items[k].name.len > 0);
                assert(message->is_enum == (message->fields.items[k].type.len == 0));
            }
        }
        assert(event_compat(&arena, &schema, &schema, &changes, &err) || arena.failed);
    } else {
        assert(err.level == ERROR_REQUEST || arena.failed);
    }
    arena_release(&arena);
    return 0;
}
