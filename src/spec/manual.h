/* manual: the reference part of docs/source-format.md, made from the tables that the program runs
 * on.
 *
 * A test compares it with the file, so the manual can not be wrong alone; with PATRA_WRITE_DOCS=1
 * in its environment the test writes the file anew.
 */
#ifndef PATRA_SPEC_MANUAL_H
#define PATRA_SPEC_MANUAL_H

#include "base/buf.h"

/* Markdown: settings by group, the words of their dictionaries, template variables and functions,
 * forms of dates. */
void manual_write(struct buf *out);

#endif
