/* fault: a status of libnats or an error of JetStream as an error of ours. */
#ifndef PATRA_ADAPTER_NATS_FAULT_H
#define PATRA_ADAPTER_NATS_FAULT_H

#include <nats/nats.h>

#include "base/error.h"

/* Sets the error; returns false. `doing` is what failed: "connect to nats://host:4222". The
 * library's own text is left out: it may quote what the server said. */
bool nats_fault(struct error *err, natsStatus status, const char *doing);

/* For calls of JetStream, which have a code of their own. 0: none. */
bool nats_fault_stream(struct error *err, natsStatus status, jsErrCode code, const char *doing);

#endif
