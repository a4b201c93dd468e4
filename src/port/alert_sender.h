/* alert_sender: sends one notice to one receiver.
 *
 * Success: the receiver has said that it took it. Failure changes nothing but that the receiver may
 * have it: L1 "alert.lost", "alert.timeout", "alert.busy" (out of reach, 429, 5xx); L4
 * "alert.auth", "alert.refused", "alert.tls" (a person must look; it is tried again all the same),
 * "secret.*". Texts hold neither the URL nor a secret.
 *
 * Threads: one at a time.
 */
#ifndef PATRA_PORT_ALERT_SENDER_H
#define PATRA_PORT_ALERT_SENDER_H

#include "base/attr.h"
#include "base/error.h"
#include "core/alert_receiver.h"

struct alert_message {
    struct str id;    /* the same whenever it is sent again */
    struct str title; /* one line */
    struct str body;  /* in the receiver's form; of an e-mail, its text */
};

struct alert_sender;

struct alert_sender_ops {
    bool (*send)(struct alert_sender *sender, const struct alert_receiver *receiver,
                 const struct alert_message *message, struct error *err);
    void (*close)(struct alert_sender *sender);
};

struct alert_sender {
    const struct alert_sender_ops *ops;
};

static inline bool MUST_CHECK alert_send(struct alert_sender *sender,
                                         const struct alert_receiver *receiver,
                                         const struct alert_message *message, struct error *err)
{
    return sender->ops->send(sender, receiver, message, err);
}

static inline void alert_sender_close(struct alert_sender *sender) /* accepts NULL */
{
    if (sender != NULL)
        sender->ops->close(sender);
}

#endif
