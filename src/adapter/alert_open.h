/* alert_open: opens what sends alerts, over libcurl (patra-curl.so). */
#ifndef PATRA_ADAPTER_ALERT_OPEN_H
#define PATRA_ADAPTER_ALERT_OPEN_H

#include "port/alert_sender.h"
#include "port/clock.h"
#include "port/secret.h"

/* Both must outlive it. The module is loaded with the first notice. */
bool alert_sender_open(struct secret_source *secrets, struct clock *clock,
                       struct alert_sender **sender, struct error *err) MUST_CHECK;

#endif
