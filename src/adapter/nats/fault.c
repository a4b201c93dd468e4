/* The only place that knows what a status of the library means for a relay. */
#include "adapter/nats/fault.h"

static const struct {
    natsStatus status;
    enum error_level level;
    const char *code;
    const char *text;
} faults[] = {
    { NATS_PROTOCOL_ERROR, ERROR_TRANSIENT, "bus.lost", "it does not speak as a NATS server" },
    { NATS_LINE_TOO_LONG, ERROR_TRANSIENT, "bus.lost", "it does not speak as a NATS server" },
    { NATS_IO_ERROR, ERROR_TRANSIENT, "bus.lost", "the connection broke" },
    { NATS_CONNECTION_CLOSED, ERROR_TRANSIENT, "bus.lost", "the connection is closed" },
    { NATS_CONNECTION_DISCONNECTED, ERROR_TRANSIENT, "bus.lost", "the connection broke" },
    { NATS_STALE_CONNECTION, ERROR_TRANSIENT, "bus.lost", "the server fell silent" },
    { NATS_NO_SERVER, ERROR_TRANSIENT, "bus.lost", "no server listens there" },
    { NATS_NO_RESPONDERS, ERROR_TRANSIENT, "bus.lost",
      "nobody answers for the stream: JetStream is off, or there is no leader yet" },
    { NATS_TIMEOUT, ERROR_TRANSIENT, "bus.timeout", "it does not answer" },
    { NATS_NO_MEMORY, ERROR_TRANSIENT, "bus.busy", "memory is short" },
    { NATS_SYS_ERROR, ERROR_TRANSIENT, "bus.busy", "the system refused something" },
    { NATS_SLOW_CONSUMER, ERROR_TRANSIENT, "bus.busy", "messages came too fast" },
    { NATS_CONNECTION_AUTH_FAILED, ERROR_FATAL, "bus.auth", "the server refuses the credential" },
    { NATS_NOT_PERMITTED, ERROR_FATAL, "bus.auth", "the server forbids it to this user" },
    { NATS_SSL_ERROR, ERROR_FATAL, "bus.tls",
      "the server's certificate is not trusted, or TLS "
      "failed" },
    { NATS_SECURE_CONNECTION_WANTED, ERROR_FATAL, "bus.tls", "the server does not offer TLS" },
    { NATS_SECURE_CONNECTION_REQUIRED, ERROR_FATAL, "bus.tls",
      "the server wants TLS: write tls:// in its address" },
    { NATS_ADDRESS_MISSING, ERROR_FATAL, "bus.spec", "the address is not one" },
    { NATS_INVALID_ARG, ERROR_FATAL, "bus.spec", "a setting is not one that NATS takes" },
    { NATS_INVALID_SUBJECT, ERROR_FATAL, "bus.spec", "the subject is not one" },
};

bool nats_fault(struct error *err, natsStatus status, const char *doing)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (faults[i].status == status)
            return error_set(err, faults[i].level, faults[i].code, "%s: %s", doing, faults[i].text);
    }
    return error_set(err, ERROR_TRANSIENT, "bus.lost", "%s: %s", doing, natsStatus_GetText(status));
}

bool nats_fault_stream(struct error *err, natsStatus status, jsErrCode code, const char *doing)
{
    if (code == 0)
        return nats_fault(err, status, doing);
    switch (code) {
    case JSStreamNotFoundErr:
        return error_set(err, ERROR_FATAL, "bus.missing",
                         "%s: there is no such stream: make it, or let patra bus apply --create",
                         doing);
    case JSNotEnabledErr:
    case JSNotEnabledForAccountErr:
        return error_set(err, ERROR_FATAL, "bus.missing", "%s: JetStream is not enabled", doing);
    case JSClusterNotAvailErr:
    case JSClusterNoPeersErr:
    case JSClusterNotLeaderErr:
    case JSClusterNotActiveErr:
    case JSClusterIncompleteErr:
    case JSInsufficientResourcesErr:
    case JSStorageResourcesExceededErr:
    case JSMemoryResourcesExceededErr:
    case JSAccountResourcesExceededErr:
        return error_set(err, ERROR_TRANSIENT, "bus.busy", "%s: error %d of JetStream", doing,
                         (int)code);
    default:
        return error_set(err, status == NATS_TIMEOUT ? ERROR_TRANSIENT : ERROR_FATAL, "bus.spec",
                         "%s: error %d of JetStream", doing, (int)code);
    }
}
