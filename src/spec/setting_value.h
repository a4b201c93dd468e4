/* setting_value: one value of a setting, from a file's node to a column and back.
 *
 * Reading checks what the value itself shows: its type, range, dictionary, form. What depends on
 * other settings is checked later (spec/check.h). Lists and maps become canonical JSON, so equal
 * values have equal bytes however they were written.
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
    struct str field; /* its name in messages: "endpoints.works.page.size" */
    const struct setting *setting;
};

/* False when a fault was added, now or earlier, about this node. */
bool setting_read(const struct value_reader *reader, const struct node *node,
                  struct registry_value *value);

/* The same for a text that is not from the file: a default of the table, an override of a trigger.
 * Lists and maps are in flow style: "[429, 500]". */
bool setting_read_text(const struct value_reader *reader, struct str text,
                       struct registry_value *value);

/* The table's default; not set when there is none. The table's defaults are valid: a test checks
 * it, and this asserts it. False when the arena is full. */
bool setting_builtin(struct arena *arena, const struct setting *setting,
                     struct registry_value *value) MUST_CHECK;

/* As a file would write it, on one line. Reading it returns the same value. */
void setting_print(const struct setting *setting, const struct registry_value *value,
                   struct buf *out);

/* A YAML scalar that reads back as this text: plain where that is safe, else quoted. */
void setting_print_text(struct str text, struct buf *out);

bool setting_is_reference(struct str text); /* env:NAME, file:/PATH */
bool setting_is_name(struct str text);      /* letters, digits, - and _, starting with a letter */
bool setting_is_header(struct str text);    /* a token of RFC 9110 */

enum { SETTING_NAME_MAX = 64 };

#endif
