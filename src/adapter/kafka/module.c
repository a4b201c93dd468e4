/* The one symbol of patra-kafka.so. */
#include "adapter/kafka/kafka.h"

extern const struct bus_module patra_module;

MODULE_EXPORT const struct bus_module patra_module = {
    .head = { .version = PATRA_VERSION },
    .open = kafka_open,
};
