/* webhook: a bus for services that have none: each message is POSTed to a URL.
 *
 *      POST /hooks/patra
 *      content-type: application/json
 *      webhook-id: 0192f1c2-...              the event's id: the same whenever it is sent again
 *      webhook-timestamp: 1790000000         seconds since 1970, of this attempt
 *      webhook-signature: v1,BASE64          HMAC-SHA256 of "id.timestamp.body" (Standard Webhooks)
 *      patra-key: crossref%2Fworks...        what order is kept by, percent-encoded
 *      patra-version: 3
 *      event_type: RecordUpdated             the attributes
 *
 * What an answer means:
 *
 *      2xx                       acknowledged
 *      401 403 407, 410          L4 bus.auth, L4 bus.missing: nobody may publish here
 *      3xx                       L4 bus.missing: redirects are not followed
 *      408 425 429 502 503 504   L1 bus.busy; Retry-After is heard: until then nothing is sent
 *      other 4xx                 this message is refused
 *      other 5xx                 this message may succeed later
 *
 * Messages of one call have different keys, so up to HTTP_TICKETS_MAX of them are under way at a
 * time. The relay sends the next message of a key when the last one is acknowledged.
 */
#ifndef PATRA_ADAPTER_WEBHOOK_WEBHOOK_H
#define PATRA_ADAPTER_WEBHOOK_WEBHOOK_H

#include "port/bus_parts.h"
#include "port/http.h"

/* A new http handle. It is used up when wake_fd ended a call; then another one is opened. */
typedef bool (*webhook_opener)(struct http **http, struct error *err);

bool webhook_open(const struct bus_parts *parts, webhook_opener opener, struct bus **bus,
                  struct error *err) MUST_CHECK;

#endif
