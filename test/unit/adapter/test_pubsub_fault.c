/* The statuses of gRPC as errors of the port. */
#include "adapter/pubsub/fault.h"

#include <string.h>

#include "test.h"

static const struct {
    grpc_status_code status;
    const char *details;
    const char *code;
    enum error_level level;
    bool is_of_request;
} cases[] = {
    { GRPC_STATUS_CANCELLED, "", "bus.timeout", ERROR_TRANSIENT, false },
    { GRPC_STATUS_UNKNOWN, "", "bus.lost", ERROR_TRANSIENT, false },
    { GRPC_STATUS_INVALID_ARGUMENT, "", "bus.refused", ERROR_REQUEST, true },
    { GRPC_STATUS_DEADLINE_EXCEEDED, "", "bus.timeout", ERROR_TRANSIENT, false },
    { GRPC_STATUS_NOT_FOUND, "", "bus.missing", ERROR_FATAL, false },
    { GRPC_STATUS_ALREADY_EXISTS, "", "bus.refused", ERROR_REQUEST, true },
    { GRPC_STATUS_PERMISSION_DENIED, "", "bus.auth", ERROR_FATAL, false },
    { GRPC_STATUS_UNAUTHENTICATED, "", "bus.auth", ERROR_FATAL, false },
    { GRPC_STATUS_RESOURCE_EXHAUSTED, "", "bus.busy", ERROR_TRANSIENT, false },
    { GRPC_STATUS_FAILED_PRECONDITION, "", "bus.spec", ERROR_FATAL, false },
    { GRPC_STATUS_ABORTED, "", "bus.busy", ERROR_TRANSIENT, false },
    { GRPC_STATUS_OUT_OF_RANGE, "", "bus.refused", ERROR_REQUEST, true },
    { GRPC_STATUS_UNIMPLEMENTED, "", "bus.spec", ERROR_FATAL, false },
    { GRPC_STATUS_INTERNAL, "", "bus.lost", ERROR_TRANSIENT, false },
    { GRPC_STATUS_UNAVAILABLE, "Connection refused", "bus.lost", ERROR_TRANSIENT, false },
    { GRPC_STATUS_UNAVAILABLE, "SSL routines::certificate verify failed", "bus.tls", ERROR_FATAL,
      false },
    { GRPC_STATUS_INTERNAL, "certificate verify failed", "bus.lost", ERROR_TRANSIENT, false },
    { GRPC_STATUS_DATA_LOSS, "", "bus.lost", ERROR_TRANSIENT, false },
    { (grpc_status_code)99, "", "bus.lost", ERROR_TRANSIENT, false },
};

TEST(each_status_is_one_error)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct pubsub_fault fault = pubsub_fault(cases[i].status, str_of(cases[i].details));
        const char *label = pubsub_status_name(cases[i].status);

        CHECK_STR(str_of(fault.code), str_of(cases[i].code), label);
        CHECK_EQ(fault.level, cases[i].level, label);
        CHECK_EQ(fault.is_of_request, cases[i].is_of_request, label);
    }
    CHECK_EQ(pubsub_fault(GRPC_STATUS_OK, STR("")).level, ERROR_NONE, "none");
}

TEST(every_status_has_its_name)
{
    for (int status = 0; status <= GRPC_STATUS_UNAUTHENTICATED; status++) {
        const char *name = pubsub_status_name((grpc_status_code)status);

        CHECK((strcmp(name, "UNKNOWN") == 0) == (status == GRPC_STATUS_UNKNOWN), name);
    }
}
