/* reshape: changes one member of a JSON or XML body, or the whole body, and leaves the rest.
 *
 *      member=total as=nothing      {"items":[...],"total":95}   ->   {"items":[...]}
 *
 * A member of JSON is found by its key, an element of XML by its name without a prefix, an
 * attribute by "@name". Of several the least deep is taken, and of these the first. It works on
 * bytes that a protocol has just written, so it trusts them to be well-formed.
 */
#ifndef PATRA_SIM_FAULT_RESHAPE_H
#define PATRA_SIM_FAULT_RESHAPE_H

#include "base/arena.h"
#include "base/str.h"

enum reshape_as {
    RESHAPE_OBJECT,  /* an object that describes an error */
    RESHAPE_NULL,    /* XML: an element without content */
    RESHAPE_NOTHING, /* neither member nor value */
    RESHAPE_TEXT,
    RESHAPE_WRAPPED, /* {"value": the value} */
    RESHAPE_ALTERED, /* the same with another text in it */
};

struct reshape {
    struct str member; /* empty: the whole body */
    enum reshape_as as;
};

/* The changed body, in the arena; the same body where it has no such member. */
struct str reshape_body(struct arena *arena, struct str body, const struct reshape *reshape);

#endif
