/* link_header: the value of an HTTP Link header (RFC 8288).
 *
 *      Link: <https://api.example.org/works?page=2>; rel="next", </works?page=9>; rel="last up"
 *
 * A malformed header is an error, not a header without a next link: the latter would end a walk
 * before its last page.
 */
#ifndef PATRA_DATA_LINK_HEADER_H
#define PATRA_DATA_LINK_HEADER_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

/* The target of the first link that has the relation `rel` (one of those in its first rel
 * parameter, ignoring case), as written: it may be relative, see url_resolve.
 * target->data is NULL when there is none. Links with an anchor concern another resource and are
 * skipped. Several Link headers of one response are passed one after the other, or joined by
 * commas. "link.syntax" (L2) when the value is not well-formed. */
bool link_header_find(struct str value, struct str rel, struct str *target,
                      struct error *err) MUST_CHECK;

#endif
