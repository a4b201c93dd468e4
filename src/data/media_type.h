/* media_type: the value of a Content-Type header, and whether a body is what it should be.
 *
 * Servers and proxies in trouble send HTML or plain text instead of JSON and XML. So the declared
 * type and the first bytes of the body are checked before a parser reads it.
 */
#ifndef PATRA_DATA_MEDIA_TYPE_H
#define PATRA_DATA_MEDIA_TYPE_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct media_type { /* views of the header's value; compare ignoring case */
    struct str type;
    struct str subtype;
    struct str charset; /* without its quotes; empty when there is none */
};

/* False when it is not a media type (or empty); *media is then zero. */
bool media_type_parse(struct str value, struct media_type *media);

enum body_kind { BODY_EMPTY, BODY_JSON, BODY_XML, BODY_HTML, BODY_TEXT, BODY_BINARY };

/* The kind of the declared type: application/json and ...+json are JSON, and so on. Types without
 * information (none, application/octet-stream) are BODY_BINARY. */
enum body_kind media_type_kind(const struct media_type *media);

/* What the bytes look like: only white space, an object or array, markup whose first element or
 * document type is html or another one, text, or none of these. */
enum body_kind body_kind(struct str body);

/* Whether a body can be given to the parser of `wanted`, BODY_JSON or BODY_XML. The bytes decide;
 * the declared type only appears in the error.
 * "body.empty", "body.html", "body.kind" or "body.charset" (UTF-16 or
 * UTF-32 where JSON must be UTF-8), all L1: symptoms of a server in trouble, worth a retry. */
bool body_check(struct str content_type, struct str body, enum body_kind wanted,
                struct error *err) MUST_CHECK;

/* Whether the body is well-formed in its declared charset, or in UTF-8 when none is declared: to
 * explain why a parser rejected a body, and for formats whose parser does not check. Knows UTF-8
 * and US-ASCII; other charsets are accepted unchecked. "body.charset" (L1). */
bool body_charset_check(struct str content_type, struct str body, struct error *err) MUST_CHECK;

#endif
