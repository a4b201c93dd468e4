/* url: URLs parsed, built, compared and redacted.
 *
 * Parts are views into the text, as written: nothing is decoded. A text with spaces, controls,
 * backslashes or bytes beyond ASCII is not a URL here: browsers repair them silently, and then a
 * next link that looks like one host can lead to another.
 */
#ifndef PATRA_DATA_URL_H
#define PATRA_DATA_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

struct url { /* an absent part has data == NULL, an empty one does not */
    struct str scheme;
    struct str userinfo;
    struct str host; /* an IPv6 address with its brackets */
    int port;        /* as written, or the scheme's (http 80, https 443), or 0 */
    struct str path; /* empty, or starts with a slash */
    struct str query;
    struct str fragment;
};

/* An absolute URL with a host, any scheme. "url.syntax" (L2). */
bool url_parse(struct str text, struct url *url, struct error *err) MUST_CHECK;

/* Same scheme, host and port: the URL may be followed and receives the credential. */
bool url_same_origin(const struct url *a, const struct url *b);

/* What `reference` means in a response from `base`: RFC 3986 section 5.2. The fragment of a
 * reference is kept. */
bool url_resolve(struct arena *arena, struct str base, struct str reference, struct str *url,
                 struct error *err) MUST_CHECK;

/* Percent-encoding. All but the unreserved characters (letters, digits, - . _ ~) are encoded. */
enum url_place {
    URL_QUERY, /* a space is %20 */
    URL_PATH,  /* one segment: its slashes are encoded too */
    URL_FORM,  /* application/x-www-form-urlencoded: a space is +, ~ is encoded, * is not */
};
void url_encode(struct buf *out, struct str bytes, enum url_place place);

/* Whether a byte is encoded here: a percent sign with two digits behind it. */
bool url_is_escape(struct str text, size_t at);

/* Undoes it: an escape becomes its byte, and a + becomes a space, but not in URL_PATH. Anything
 * else stands for itself, a percent sign without its digits too: who refuses that asks
 * url_is_escape first. A NUL follows; data is NULL when the arena is full. */
struct str url_decode(struct arena *arena, struct str text, enum url_place place);

/* The value of the first parameter of this name in a query, decoded (+ is a space). False when
 * there is none; value->data is NULL when there is one but the arena is full. */
bool url_query_find(struct arena *arena, struct str query, struct str name,
                    struct str *value) MUST_CHECK;

/* Builds a URL:
 *
 *      url_begin(&out, base_url, path);                  one slash between them
 *      url_add(&out, STR("rows"), STR("100"));           both are encoded
 *      url_add_encoded(&out, STR("cursor"), value);      the value is encoded already
 *
 * A query that base_url or path already has is continued. */
void url_begin(struct buf *out, struct str base_url, struct str path);
void url_add(struct buf *out, struct str name, struct str value);
void url_add_encoded(struct buf *out, struct str name, struct str value);

/* The text with *** for its userinfo and for the values of the parameters named (compared decoded,
 * ignoring case). For everything that is logged, stored or shown. Never fails on a text that is
 * not a URL. */
void url_redact(struct buf *out, struct str text, const struct str *names, size_t count);

/* The password before the host of a URL, decoded, into `room`: to look for it in texts. Returns its
 * length; 0 when there is none, or it is longer than the room. */
size_t url_password(struct str text, char *room, size_t room_len);

#endif
