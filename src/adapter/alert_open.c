/* Webhooks and mails, over libcurl. */
#include "adapter/alert_open.h"

#include "adapter/curl/curl_http.h"
#include "adapter/webhook/alert.h"

static bool open_http(struct http **http, struct error *err)
{
    return curl_http_open(NULL, http, err);
}

bool alert_sender_open(struct secret_source *secrets, struct clock *clock,
                       struct alert_sender **sender, struct error *err)
{
    const struct alert_sender_parts parts = { secrets, clock, open_http, curl_http_mail };

    return webhook_alert_open(&parts, sender, err);
}
