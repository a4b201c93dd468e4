/* xml_container: the place where an XPath searches its elements.
 *
 *      /feed/entry                 /feed
 *      /Set/Article | /Set/Book    /Set | /Set
 *      /record                     /record: the element is the document
 *      //record, /a//record        unknown; also where the step before the last is a wildcard
 *
 * A path that finds nothing in a document that has the container found an empty list. In one that
 * does not have it, there is no list: the document is another one, or in another namespace.
 *
 * A container may have other elements beside the items. Some show that it is not an empty list, but
 * something else: elements that have the name of the items in another namespace, two or more
 * elements that all have one name, which is not that of the items, one that is called error, fault
 * or exception, and a text of its own.
 */
#ifndef PATRA_DATA_XML_CONTAINER_H
#define PATRA_DATA_XML_CONTAINER_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

/* XPaths, in the arena. All are empty where the text does not show a container: a path in
 * parentheses, a function, a last step that is searched at any depth. */
struct xml_container {
    struct str path;      /* finds the container */
    struct str elements;  /* the elements in it */
    struct str strangers; /* something, where it is not an empty list; empty: cannot be seen,
                           * because the last step is not a name */
};

/* The path must be valid. */
bool xml_container(struct arena *arena, struct str path, struct xml_container *container,
                   struct error *err) MUST_CHECK;

#endif
