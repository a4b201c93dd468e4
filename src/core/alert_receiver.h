/* alert_receiver: what the file of a receiver says, as values: where alerts are sent, and which.
 *
 * spec/alert_file.h reads it from a file or from its stored form. It contains no secret, only
 * references to them (port/secret.h). Texts that are not given are empty.
 */
#ifndef PATRA_CORE_ALERT_RECEIVER_H
#define PATRA_CORE_ALERT_RECEIVER_H

#include "core/alert.h"

enum alert_form { ALERT_FORM_WEBHOOK, ALERT_FORM_SLACK, ALERT_FORM_DINGTALK, ALERT_FORM_EMAIL };
extern const struct code_table ALERT_FORM_CODES;

struct alert_receiver {
    struct str name;
    enum alert_form form;
    struct str description;
    struct str url;     /* a value or a reference; e-mail: smtps://host, smtp://host:587 */
    struct str token;   /* reference: Authorization: Bearer */
    struct str signing; /* reference: the key of signatures */
    struct str user;    /* e-mail: a value or a reference */
    struct str password;
    struct str from; /* e-mail */
    const struct str *to;
    size_t to_count;
    bool allow_plain;
    struct str ca;
    enum alert_severity severity; /* the least */
    const struct str *rules;      /* empty: all */
    size_t rule_count;
    const struct str *sources; /* empty: all, and what belongs to none */
    size_t source_count;
    struct str runbooks; /* what the link to a page begins with */
    int64_t timeout_us;
};

/* Whether it wants alerts of this rule about this source ('': about none). */
bool alert_receiver_takes(const struct alert_receiver *receiver, enum alert_rule rule,
                          struct str source);

#endif
