/* edit: a source file changed in a few places before it is read, the file itself untouched.
 *
 *      patra source apply sources/crossref.yaml --set http.base_url=http://127.0.0.1:8080/crossref
 *
 * A path is what the file would nest: "http.base_url", "endpoints.works.page.size". Maps on the way
 * are made where they are missing. The value is a text, or YAML where it begins with a quote or a
 * bracket. An empty value takes the setting out of the file. What comes of it is checked as
 * if it had been written so; only that faults in it have no line.
 */
#ifndef PATRA_SPEC_EDIT_H
#define PATRA_SPEC_EDIT_H

#include "spec/node.h"

struct edit {
    struct str path;
    struct str value;
};

struct edit_list {
    const struct edit *items;
    size_t count;
};

/* The changed tree, which shares what is unchanged with the old one. NULL when an edit can not be
 * made; a fault then says why. */
const struct node *edit_apply(struct arena *arena, const struct node *root, struct edit_list edits,
                              struct fault_list *faults);

#endif
