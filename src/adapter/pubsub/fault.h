/* fault: maps the statuses of gRPC to the errors of the port. The only place that knows both. */
#ifndef PATRA_ADAPTER_PUBSUB_FAULT_H
#define PATRA_ADAPTER_PUBSUB_FAULT_H

#include <grpc/status.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct pubsub_fault {
    enum error_level level; /* ERROR_NONE: there is none */
    const char *code;
    bool is_of_request; /* what was sent is refused; the bus is well */
};

/* `details` is the text beside the status: only there gRPC says that a certificate was bad. */
struct pubsub_fault pubsub_fault(grpc_status_code status, struct str details);

const char *pubsub_status_name(grpc_status_code status); /* "UNAVAILABLE" */

#endif
