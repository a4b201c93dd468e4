/* rate_key: which endpoints share a rate and a quota.
 *
 *      crossref/works                    one endpoint
 *      crossref                          all endpoints of the source
 *      host:api.crossref.org             all sources that make requests to this host
 *      ...#env:NCBI_API_KEY              each credential by itself, where the provider counts so
 *
 *      ...#main                          the same where the source has several: by its name
 *
 * The credential is the reference to the secret, never the secret.
 */
#ifndef PATRA_ENGINE_SOURCE_RATE_KEY_H
#define PATRA_ENGINE_SOURCE_RATE_KEY_H

#include "base/arena.h"
#include "base/attr.h"
#include "spec/spec.h"

/* The reference to the endpoint's credential; empty: it has none. */
struct str credential_of(const struct spec_auth *auth);

bool rate_key(struct arena *arena, struct str source, const struct spec_endpoint *endpoint,
              struct str *key, struct error *err) MUST_CHECK;

#endif
