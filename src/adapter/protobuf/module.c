/* The one symbol of patra-protobuf.so. */
#include "adapter/protobuf/protobuf.h"

extern const struct protobuf_library patra_module;

MODULE_EXPORT const struct protobuf_library patra_module = {
    .head = { .version = PATRA_VERSION },
    .event = { .content_type = "application/protobuf",
               .encode = protobuf_event_encode,
               .decode = protobuf_event_decode },
};
