/* session: a browser that has shown a token once.
 *
 *      patra_session=SELECTOR.EXPIRES.MAC
 *
 * The cookie names the token, says until when, and has a code that only this process can make. It
 * is not the token: a browser sends cookies of one port to all ports of a host, and whoever sees
 * this one can use it for hours, on this process, until the token is revoked. Sessions end with the
 * process; nothing of them is stored.
 *
 * Forms have a key that is made of the cookie. A page of another site can make a browser send a
 * form, but it cannot know the key.
 */
#ifndef PATRA_SERVE_SESSION_H
#define PATRA_SERVE_SESSION_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"
#include "data/hash.h"

#define SESSION_US (12 * INT64_C(3600000000))

struct session_key { /* of one process */
    unsigned char bytes[HASH_BYTES];
};

/* The value of the cookie, in the arena. */
bool session_make(const struct session_key *key, struct arena *arena, struct str selector,
                  int64_t now_us, struct str *value, struct error *err) MUST_CHECK;

/* The selector of the session that a Cookie header names; '' where it has none, or one that is over
 * or that this process did not make. `value` is that of the cookie. */
bool session_read(const struct session_key *key, struct arena *arena, struct str cookie,
                  int64_t now_us, struct str *selector, struct str *value,
                  struct error *err) MUST_CHECK;

/* The key of the forms of a session. */
bool session_form_key(const struct session_key *key, struct arena *arena, struct str value,
                      struct str *form_key, struct error *err) MUST_CHECK;

/* In constant time. */
bool session_same(struct str a, struct str b);

/* Set-Cookie; an empty value ends the session. */
struct str session_cookie(struct arena *arena, struct str value, bool is_tls);

#endif
