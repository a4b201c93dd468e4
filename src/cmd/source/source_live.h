/* source_live: requests of a person who tries an API, sent like those of a worker: with a permit of
 * the rate gate that all processes share, where there is a store, and signed.
 *
 *      source_live_open()
 *      source_live_ask(), the request, source_live_hear()     once per request
 *      source_live_close()
 */
#ifndef PATRA_CMD_SOURCE_SOURCE_LIVE_H
#define PATRA_CMD_SOURCE_SOURCE_LIVE_H

#include "adapter/auth/auth_http.h"
#include "cli/session.h"
#include "core/codes.h"
#include "engine/gate/gate.h"
#include "port/secret.h"
#include "spec/spec.h"

struct source_live_input {
    struct session *session; /* without a store there is no gate */
    struct str source;
    enum operation operation;
    struct str owner; /* who asks, for the gate */
    struct secret_source *secrets;
};

struct source_live {
    struct source_live_input input;
    struct http *http;
    /* private */
    struct auth_http_parts auth;
    struct random_source random;
    struct gate_parts gate_parts;
    struct gate *gate;
    int64_t sent_at_us;
};

/* Close it in any case. */
bool source_live_open(struct source_live *live, const struct source_live_input *input,
                      struct error *err) MUST_CHECK;
void source_live_close(struct source_live *live); /* accepts the zero value */

/* Waits for a permit. "source.rate" (L1) when there is none within half a minute. */
bool source_live_ask(struct source_live *live, const struct spec_endpoint *endpoint,
                     struct error *err) MUST_CHECK;

/* Feeds the response back to the gate, as any other: a Retry-After holds back all processes. */
void source_live_hear(struct source_live *live, const struct spec_endpoint *endpoint,
                      const struct http_response *reply, bool is_answered);

#endif
