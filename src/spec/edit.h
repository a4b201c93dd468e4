/* edit: changes to the tree of a source file before it is checked. The file itself is not changed.
 *
 *      patra source apply sources/crossref.yaml --set http.base_url=http://127.0.0.1:8080/crossref
 *
 * A path is the keys of the file with dots: "http.base_url", "endpoints.works.page.size". Missing
 * maps on the way are made. The value is a text, or YAML if it starts with a quote or a bracket. An
 * empty value removes the setting. The result is checked as if the file had it; faults in edits
 * have no line.
 *
 * An edit of a parameter, credential, endpoint or operation that the file does not have is a fault:
 * a mistyped name would change nothing. A new one can be given as a whole (endpoints.new={ ... }),
 * and a new parameter when a template uses it.
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

/* The changed tree, which shares unchanged nodes with the old one. NULL, and a fault, when an edit
 * cannot be made. */
const struct node *edit_apply(struct arena *arena, const struct node *root, struct edit_list edits,
                              struct fault_list *faults);

#endif
