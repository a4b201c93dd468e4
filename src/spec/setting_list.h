/* setting_list: settings that are lists, maps and bodies, and what their readers share with those
 * of scalars. Only spec/setting_value.c includes this.
 */
#ifndef PATRA_SPEC_SETTING_LIST_H
#define PATRA_SPEC_SETTING_LIST_H

#include "base/attr.h"
#include "spec/setting_value.h"

/* Adds a fault about the reader's field; the format's text follows the field's name. Returns
 * false. */
bool value_fault(const struct value_reader *reader, const char *code, struct mark at,
                 const char *format, ...) PRINTF_LIKE(4, 5);

/* A word of the setting's dictionary. */
bool value_code(const struct value_reader *reader, const struct node *node, struct str *code);

/* Any of the settings kept as JSON; `json` is canonical. */
bool value_list(const struct value_reader *reader, const struct node *node, struct str *json);

#endif
