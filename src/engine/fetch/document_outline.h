/* document_outline: what a response has instead of what was expected, for an error text.
 *
 *      it has "error", "status"
 *      it is a list of 3
 *      its root is "feed" of the namespace "http://www.w3.org/2005/Atom", with "title", "entry"
 */
#ifndef PATRA_ENGINE_FETCH_DOCUMENT_OUTLINE_H
#define PATRA_ENGINE_FETCH_DOCUMENT_OUTLINE_H

#include "engine/fetch/document.h"

/* In the arena. The document must be open. */
struct str document_outline(const struct document *document, struct arena *arena);

/* The first elements that an XPath finds, a name that is repeated once; empty where there are none:
 *
 *      "title", "link" of the namespace "http://www.w3.org/2005/Atom", "note" of no namespace
 */
struct str document_outline_elements(const struct document *document,
                                     const struct document_path *path, struct arena *arena);

/* How a path leads to nothing: "there is no $.items", or "$.items is null". */
struct str document_outline_lack(const struct document *document, const struct document_path *path,
                                 struct str text, struct arena *arena);

#endif
