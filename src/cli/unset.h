/* unset: variables and secret files that a source needs and this machine does not have. */
#ifndef PATRA_CLI_UNSET_H
#define PATRA_CLI_UNSET_H

#include "base/arena.h"
#include "base/attr.h"
#include "spec/spec.h"

struct unset_list {
    struct unset {
        struct str reference; /* "env:NAME", "file:PATH"; the spec's */
        bool is_required;     /* no request can be sent without it */
    } * items;
    size_t count;
};

/* References of params without a default, and of credentials that are not optional. Only whether
 * they exist is looked at. */
bool unset_find(struct arena *arena, const struct spec *spec, struct unset_list *list,
                struct error *err) MUST_CHECK;

#endif
