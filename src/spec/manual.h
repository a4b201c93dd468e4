/* manual: the reference part of docs/source-format.md, made from the tables that the program runs
 * on.
 *
 * A test compares it with the file, so the two cannot differ. With PATRA_WRITE_DOCS=1 in its
 * environment, the test rewrites the file.
 */
#ifndef PATRA_SPEC_MANUAL_H
#define PATRA_SPEC_MANUAL_H

#include "base/buf.h"
#include "spec/setting.h"

/* Markdown: settings by group, the words of their dictionaries, template variables and functions,
 * date formats. */
void manual_write(struct buf *out);

/* Parts of it, for the manual of buses: what a setting takes; a dictionary and its words. */
void manual_add_type(struct buf *out, const struct setting *setting);
void manual_add_words(struct buf *out, const struct code_table *codes);

#endif
