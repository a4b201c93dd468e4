/* message: a notice in the form of its receiver. Pure. */
#ifndef PATRA_ENGINE_ALERT_MESSAGE_H
#define PATRA_ENGINE_ALERT_MESSAGE_H

#include "port/alert_sender.h"
#include "port/store_alert.h"

bool alert_message_make(struct arena *arena, const struct alert_receiver *receiver,
                        const struct alert *alert, enum alert_notice_kind kind,
                        struct alert_message *message, struct error *err) MUST_CHECK;

#endif
