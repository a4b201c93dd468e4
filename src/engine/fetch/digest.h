/* digest: what a batch row keeps of a response and of its request's permit. It has no secrets and
 * no personal data: of a success, hashes and numbers; of a failure also the beginning of the body,
 * without secrets, e-mail addresses and phone numbers (request.h).
 *
 *      {"status":200,"bytes":43198,"items":20,"total":1217,"hasNext":true,
 *       "headerHints":{"retryAfterMs":null,"rateLimitRemaining":12},
 *       "itemsPath":"$.message.items","nextTokenPath":"$.message['next-cursor']",
 *       "sample":"sha256:...","address":"192.0.2.1:443","httpVersion":20,
 *       "rate":{"limitKey":"crossref","permitCost":1,"waitMs":0,"decision":"ALLOW"}}
 *
 * Requests that failed before, or because of which the batch failed, follow as "attempts"
 * (attempts.h).
 *
 * `sample` is the SHA-256 of the body's first 64 KiB: enough to distinguish responses, and cheap
 * compared with reading the page.
 */
#ifndef PATRA_ENGINE_FETCH_DIGEST_H
#define PATRA_ENGINE_FETCH_DIGEST_H

#include "engine/fetch/attempts.h"
#include "engine/fetch/fetch.h"
#include "engine/fetch/listing.h"

enum { DIGEST_SAMPLE_BYTES = 64 << 10, DIGEST_TEXT_BYTES = 1024 };

struct digest_input {
    const struct spec_endpoint *endpoint;
    const struct http_response *reply;
    const struct response *response;
    const struct listing *listing; /* NULL: the response was not read */
    const struct permit *permit;
    const struct attempts *attempts; /* that failed */
    const struct error *error;       /* NULL: it did not fail */
    bool has_next;
};

bool digest_response(const struct digest_input *input, struct arena *arena, struct str *json,
                     struct error *err) MUST_CHECK;

#endif
