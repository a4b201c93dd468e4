/* mail_text: a mail as SMTP sends it (RFC 5322, MIME): headers, an empty line, and the text in
 * base64, so that no line is too long and no byte is changed on the way. Pure. */
#ifndef PATRA_DATA_MAIL_TEXT_H
#define PATRA_DATA_MAIL_TEXT_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"

struct mail_parts {
    struct str id; /* of Message-ID, without the host */
    struct str from;
    const struct str *to;
    size_t to_count;
    struct str subject; /* any UTF-8; controls are left out */
    struct str body;
    int64_t at_us;
};

bool mail_text(struct arena *arena, const struct mail_parts *parts, struct str *text,
               struct error *err) MUST_CHECK;

#endif
