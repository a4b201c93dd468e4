/* mail: sends one mail by SMTP.
 *
 * The connection is TLS from its beginning (smtps://) or by STARTTLS (smtp://), and verified;
 * without TLS only where allow_plain says so, and then without a password. Success: the server has
 * taken the mail for every recipient. Failure: L1 "alert.lost", "alert.timeout", "alert.busy" (a
 * 4xx reply); L4 "alert.auth", "alert.refused" (a 5xx reply), "alert.tls". Texts hold no secret.
 */
#ifndef PATRA_PORT_MAIL_H
#define PATRA_PORT_MAIL_H

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct mail {
    struct str url;  /* smtps://host, smtp://host:587 */
    struct str user; /* empty: none */
    struct str password;
    struct str from;
    const struct str *to;
    size_t to_count;
    struct str text; /* the whole mail, headers and body, lines end with CR LF: data/mail_text.h */
    bool allow_plain;
    struct str ca_file; /* empty: the system's */
    int64_t timeout_us;
};

typedef bool (*mail_send)(const struct mail *mail, struct error *err);

#endif
