/* setting_value: one value of a setting, from a file's node to a column and back.
 *
 * Reading checks all that can be seen in the value alone: its type, range, dictionary, form. What
 * depends on other settings is checked later (spec/check.h). Lists and maps become canonical JSON,
 * so equal values have equal bytes whatever way they were written.
 */
#ifndef PATRA_SPEC_SETTING_VALUE_H
#define PATRA_SPEC_SETTING_VALUE_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "core/registry.h"
#include "spec/fault.h"
#include "spec/node.h"
#include "spec/setting.h"

struct value_reader {
    struct arena *arena;
    struct fault_list *faults;
    struct str file;  /* the whole text, for places inside values; may be empty */
    struct str field; /* how the texts call it: "endpoints.works.page.size" */
    const struct setting *setting;
};

/* False when a fault was added, or one was told before about this node. */
bool setting_read(const struct value_reader *reader, const struct node *node,
                  struct registry_value *value);

/* The same for a text from elsewhere: the table's own defaults, a trigger's overrides. Lists and
 * maps are in flow style: "[429, 500]". */
bool setting_read_text(const struct value_reader *reader, struct str text,
                       struct registry_value *value);

/* What is in effect where nothing is said; not set when the table has no built-in. The table's
 * values can be read: a test sees to it, and this asserts it. False when the arena is full. */
bool setting_builtin(struct arena *arena, const struct setting *setting,
                     struct registry_value *value) MUST_CHECK;

/* As a file would have it, on one line. Reading it gives the value back. */
void setting_print(const struct setting *setting, const struct registry_value *value,
                   struct buf *out);

/* A YAML scalar that reads back as this very text: plain where that is safe, else quoted. */
void setting_print_text(struct str text, struct buf *out);

bool setting_is_reference(struct str text); /* env:NAME, file:/PATH */
bool setting_is_name(struct str text);      /* letters, digits, - and _, a letter first */
bool setting_is_header(struct str text);    /* a token of RFC 9110 */

enum { SETTING_NAME_MAX = 64 };

#endif
