/* The one symbol of patra-pubsub.so. */
#include "adapter/pubsub/pubsub.h"

extern const struct bus_module patra_module;

MODULE_EXPORT const struct bus_module patra_module = {
    .head = { .version = PATRA_VERSION },
    .open_with_http = pubsub_open,
};
