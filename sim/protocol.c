#include "sim/protocol.h"

static const struct protocol protocols[] = {
    { STR_INIT("/generic"), "generic", protocol_generic },
};

const struct protocol *protocol_find(struct str path)
{
    for (size_t i = 0; i < ARRAY_LEN(protocols); i++) {
        const struct str prefix = protocols[i].prefix;

        if (str_starts(path, prefix) && (path.len == prefix.len || path.data[prefix.len] == '/'))
            return &protocols[i];
    }
    return NULL;
}
