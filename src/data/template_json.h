/* template_json: the function jsonPath(text, "path"). Internal to template*.c.
 *
 * A path of names and indexes returns what it finds: a text, an integer or null; an array becomes a
 * list of its elements, any other value its JSON text. Other paths return the list of everything
 * they find, or null when that is nothing. */
#ifndef PATRA_DATA_TEMPLATE_JSON_H
#define PATRA_DATA_TEMPLATE_JSON_H

#include "data/template_eval.h"

bool template_json_path_check(struct str literal, struct error *err);
bool template_json_path(const struct template_call *call, struct template_value *value,
                        struct error *err);

#endif
