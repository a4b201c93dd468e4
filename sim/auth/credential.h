/* credential: whether a credential is what it must be. No state, no policy. */
#ifndef PATRA_SIM_AUTH_CREDENTIAL_H
#define PATRA_SIM_AUTH_CREDENTIAL_H

#include "sim/http/call.h"

bool credential_is_basic(struct arena *arena, struct str header, struct str user,
                         struct str password);
bool credential_is_bearer(struct str header, struct str token);

enum credential_check { CREDENTIAL_VALID, CREDENTIAL_ABSENT, CREDENTIAL_EXPIRED, CREDENTIAL_WRONG };

/* The signature described in auth.h. */
enum credential_check credential_check_signature(const struct http_call *call, struct str header,
                                                 struct str key_id, struct str secret);

/* The n-th token of a client: the same in every run, and not predictable from another. */
void credential_token(struct str secret, uint64_t n, char *text, size_t size);

#endif
