/* The one symbol of patra-nats.so. */
#include "adapter/nats/nats_bus.h"

extern const struct bus_module patra_module;

MODULE_EXPORT const struct bus_module patra_module = {
    .head = { .version = PATRA_VERSION },
    .open = nats_bus_open,
};
