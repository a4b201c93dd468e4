/* unset: what a source needs of this machine and does not find: variables and files of secrets. */
#ifndef PATRA_CLI_UNSET_H
#define PATRA_CLI_UNSET_H

#include "base/arena.h"
#include "base/attr.h"
#include "spec/spec.h"

struct unset_list {
    struct unset {
        struct str reference; /* "env:NAME", "file:PATH"; the spec's */
        bool is_required;     /* without it no request can be sent */
    } * items;
    size_t count;
};

/* References of params without a default, and of credentials that are not optional. Nothing is read
 * but whether they are there. */
bool unset_find(struct arena *arena, const struct spec *spec, struct unset_list *list,
                struct error *err) MUST_CHECK;

#endif
