/* mail: port/mail.h over libcurl. */
#ifndef PATRA_ADAPTER_CURL_MAIL_H
#define PATRA_ADAPTER_CURL_MAIL_H

#include "port/mail.h"

bool curl_mail(const struct mail *mail, struct error *err) MUST_CHECK;

#endif
