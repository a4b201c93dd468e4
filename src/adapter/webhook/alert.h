/* alert: sends notices of alerts (port/alert_sender.h): a POST in the receiver's form, or a mail.
 *
 *      webhook   as a message of a bus is signed (webhook.h): webhook-id, -timestamp, -signature
 *      slack     2xx is taken
 *      dingtalk  timestamp and sign in the query, where the robot has a key; it answers 200 to
 *                everything, and errcode 0 to what it took
 *      email     port/mail.h
 */
#ifndef PATRA_ADAPTER_WEBHOOK_ALERT_H
#define PATRA_ADAPTER_WEBHOOK_ALERT_H

#include "port/alert_sender.h"
#include "port/clock.h"
#include "port/http.h"
#include "port/mail.h"
#include "port/secret.h"

struct alert_sender_parts { /* all must outlive it */
    struct secret_source *secrets;
    struct clock *clock;
    bool (*open_http)(struct http **http, struct error *err);
    mail_send mail;
};

bool webhook_alert_open(const struct alert_sender_parts *parts, struct alert_sender **sender,
                        struct error *err) MUST_CHECK;

#endif
