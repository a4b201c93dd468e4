/* saved_response: a response that was saved to a file, head and body, as curl -i writes it.
 *
 *      HTTP/1.1 100 Continue           curl writes every head that it receives: informational ones,
 *                                      those of a proxy, and with -L those of redirects. The last
 *      HTTP/2 302                      one counts, and the body follows it.
 *      location: /v2/items
 *
 *      HTTP/2 200
 *      content-type: application/json
 *
 *      {"items": ...
 *
 * A head may also begin with "status: 200" or ":status: 200", as browsers show it. After a status
 * line, `status:` is a header like any other. A text without a head is a body with status 200.
 */
#ifndef PATRA_DATA_SAVED_RESPONSE_H
#define PATRA_DATA_SAVED_RESPONSE_H

#include "data/http_message.h"

struct saved_response {
    struct str head; /* saved by itself (curl -D); ignored where the text begins with one */
    struct str text;
};

/* reply views the texts. "response.head" (L2) names the line that cannot be read. */
bool saved_response_read(const struct saved_response *saved, struct arena *arena,
                         struct http_response *reply, struct error *err) MUST_CHECK;

#endif
