/* access: whether a request may be answered.
 *
 *      who        a bearer token (engine/token); a browser that has shown one (session.h); or, for
 *                 reading, whoever is on this machine
 *      whence     without a token, a page of another site could make a browser on this machine ask:
 *                 by a name that leads to 127.0.0.1 (the Host header shows it), or from its own
 *                 origin (Origin, Sec-Fetch-Site). It may link to a page of the dashboard. What a
 *                 browser sends by itself changes nothing: a change is a form with a key.
 *      what       a token of scope read changes nothing; nor does anybody without one
 *      how often  a bucket for each token, and one for each address without one
 *
 * A proxy on this machine is not the client: what it forwards needs a token.
 */
#ifndef PATRA_SERVE_ACCESS_H
#define PATRA_SERVE_ACCESS_H

#include <pthread.h>

#include "engine/token/token.h"
#include "port/web.h"
#include "serve/route.h"
#include "serve/session.h"
#include "serve/throttle.h"

struct access_rules {
    bool needs_token; /* for reading on this machine, too */
    double rate;      /* requests per second of one token or address; 0: no limit */
    double burst;
};

struct access_guard {
    struct access_rules rules;
    struct session_key key; /* set by its owner, by chance */
    pthread_mutex_t lock;   /* of the buckets */
    struct throttle calls;
    struct throttle failures; /* by address: tokens that were wrong */
};

void access_guard_init(struct access_guard *guard, const struct access_rules *rules);
void access_guard_release(struct access_guard *guard);

struct access {
    bool has_token;
    struct token_row token; /* where there is one */
    struct str who;         /* for what is written down: "token NAME"; '' without one */
    struct str form_key;    /* of a session: for its forms; '' without one */
};

struct access_question {
    const struct web_request *request;
    const struct route *route;
    bool is_form;        /* the route's change was asked for by a page */
    struct str form_key; /* that the form has */
    struct store *store;
    struct arena *arena;
    int64_t now_us;
    int64_t monotonic_us;
};

/* "access.token", "access.scope", "access.host", "access.origin", "access.rate", "request.type"
 * (L2), or the store's own failure. */
bool access_check(struct access_guard *guard, const struct access_question *question,
                  struct access *access, struct error *err) MUST_CHECK;

/* A person shows a token, on a page of this server: *cookie is the session. The same errors. */
bool access_sign_in(struct access_guard *guard, const struct access_question *question,
                    struct str token, struct str *cookie, struct error *err) MUST_CHECK;

/* Whether a Host header names this machine: localhost, 127.0.0.1 or [::1], with any port. */
bool access_host_is_local(struct str host);

#endif
