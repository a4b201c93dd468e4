/* Which error of the port each status of gRPC is. */
#include "adapter/pubsub/fault.h"

#include "base/attr.h"

static const struct row {
    grpc_status_code status;
    const char *name;
    struct pubsub_fault fault;
} rows[] = {
    { GRPC_STATUS_OK, "OK", { ERROR_NONE, "", false } },
    { GRPC_STATUS_CANCELLED, "CANCELLED", { ERROR_TRANSIENT, "bus.timeout", false } },
    { GRPC_STATUS_UNKNOWN, "UNKNOWN", { ERROR_TRANSIENT, "bus.lost", false } },
    { GRPC_STATUS_INVALID_ARGUMENT, "INVALID_ARGUMENT", { ERROR_REQUEST, "bus.refused", true } },
    { GRPC_STATUS_DEADLINE_EXCEEDED,
      "DEADLINE_EXCEEDED",
      { ERROR_TRANSIENT, "bus.timeout", false } },
    { GRPC_STATUS_NOT_FOUND, "NOT_FOUND", { ERROR_FATAL, "bus.missing", false } },
    { GRPC_STATUS_ALREADY_EXISTS, "ALREADY_EXISTS", { ERROR_REQUEST, "bus.refused", true } },
    { GRPC_STATUS_PERMISSION_DENIED, "PERMISSION_DENIED", { ERROR_FATAL, "bus.auth", false } },
    { GRPC_STATUS_UNAUTHENTICATED, "UNAUTHENTICATED", { ERROR_FATAL, "bus.auth", false } },
    { GRPC_STATUS_RESOURCE_EXHAUSTED,
      "RESOURCE_EXHAUSTED",
      { ERROR_TRANSIENT, "bus.busy", false } },
    { GRPC_STATUS_FAILED_PRECONDITION, "FAILED_PRECONDITION", { ERROR_FATAL, "bus.spec", false } },
    { GRPC_STATUS_ABORTED, "ABORTED", { ERROR_TRANSIENT, "bus.busy", false } },
    { GRPC_STATUS_OUT_OF_RANGE, "OUT_OF_RANGE", { ERROR_REQUEST, "bus.refused", true } },
    { GRPC_STATUS_UNIMPLEMENTED, "UNIMPLEMENTED", { ERROR_FATAL, "bus.spec", false } },
    { GRPC_STATUS_INTERNAL, "INTERNAL", { ERROR_TRANSIENT, "bus.lost", false } },
    { GRPC_STATUS_UNAVAILABLE, "UNAVAILABLE", { ERROR_TRANSIENT, "bus.lost", false } },
    { GRPC_STATUS_DATA_LOSS, "DATA_LOSS", { ERROR_TRANSIENT, "bus.lost", false } },
};

/* As OpenSSL and gRPC say it. */
static const struct str CERTIFICATE_TEXTS[] = {
    STR_INIT("certificate verify failed"),
    STR_INIT("CERTIFICATE_VERIFY_FAILED"),
    STR_INIT("Hostname Verification Check failed"),
    STR_INIT("Peer name"),
};

static bool is_of_certificate(struct str details)
{
    for (size_t i = 0; i < ARRAY_LEN(CERTIFICATE_TEXTS); i++) {
        if (str_find(details, CERTIFICATE_TEXTS[i]) < details.len)
            return true;
    }
    return false;
}

static const struct row *find_row(grpc_status_code status)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].status == status)
            return &rows[i];
    }
    return &rows[GRPC_STATUS_UNKNOWN];
}

struct pubsub_fault pubsub_fault(grpc_status_code status, struct str details)
{
    if (status == GRPC_STATUS_UNAVAILABLE && is_of_certificate(details))
        return (struct pubsub_fault){ ERROR_FATAL, "bus.tls", false };
    return find_row(status)->fault;
}

const char *pubsub_status_name(grpc_status_code status)
{
    return find_row(status)->name;
}
