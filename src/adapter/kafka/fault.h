/* fault: maps librdkafka's results to the errors of the port. The only place that knows both. */
#ifndef PATRA_ADAPTER_KAFKA_FAULT_H
#define PATRA_ADAPTER_KAFKA_FAULT_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

#include "base/error.h"

struct kafka_fault {
    enum error_level level;
    const char *code;
    bool is_of_message; /* only this message is refused; the bus is well */
};

/* Never without a code: results that later versions may add are L1 "bus.lost". */
struct kafka_fault kafka_fault(rd_kafka_resp_err_t result);

/* Of two faults of one call, the one to report: the higher level, else the first. */
struct kafka_fault kafka_fault_worse(struct kafka_fault a, struct kafka_fault b);

#endif
