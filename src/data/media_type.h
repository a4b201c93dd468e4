/* media_type: the value of a Content-Type header, and whether a body is what it should be.
 *
 * The type a server declares does not follow the request: HTML and plain text come for JSON and XML
 * when something in between is in trouble. So both are looked at, the declared type and the body's
 * first bytes, before a parser is.
 */
#ifndef PATRA_DATA_MEDIA_TYPE_H
#define PATRA_DATA_MEDIA_TYPE_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct media_type { /* views of the header's value; compare without regard to case */
    struct str type;
    struct str subtype;
    struct str charset; /* without its quotes; empty when there is none */
};

/* False when it is no media type (the empty value included); *media is then zero. */
bool media_type_parse(struct str value, struct media_type *media);

enum body_kind { BODY_EMPTY, BODY_JSON, BODY_XML, BODY_HTML, BODY_TEXT, BODY_BINARY };

/* What the declared type stands for: application/json and ...+json are JSON, and so on. Types that
 * tell nothing (none at all, application/octet-stream) are BODY_BINARY. */
enum body_kind media_type_kind(const struct media_type *media);

/* What the bytes look like: nothing but white space, an object or array, markup whose first element
 * or document type is html or another one, text, or none of these. */
enum body_kind body_kind(struct str body);

/* Whether a body is fit for the parser of `wanted`, BODY_JSON or BODY_XML. The bytes decide: the
 * declared type is only told. "body.empty", "body.html", "body.kind" or "body.charset" (UTF-16 or
 * UTF-32 where JSON must be UTF-8), all L1: symptoms of a server in trouble, worth another try. */
bool body_check(struct str content_type, struct str body, enum body_kind wanted,
                struct error *err) MUST_CHECK;

/* Whether the body is well-formed in the charset that was declared for it, or UTF-8 when none was:
 * for bodies that a parser refused, to tell why, and for formats whose parser does not look. Knows
 * UTF-8 and US-ASCII; other charsets are accepted unseen. "body.charset" (L1). */
bool body_charset_check(struct str content_type, struct str body, struct error *err) MUST_CHECK;

#endif
