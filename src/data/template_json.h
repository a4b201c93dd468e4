/* template_json: the function jsonPath(text, "path"). Internal to template*.c.
 *
 * A path of names and indexes gives what it finds: a text, an integer, null; an array becomes a
 * list of its elements, any other value its JSON text. Every other path gives the list of all it
 * finds, or null when that is nothing. */
#ifndef PATRA_DATA_TEMPLATE_JSON_H
#define PATRA_DATA_TEMPLATE_JSON_H

#include "data/template_eval.h"

bool template_json_path_check(struct str literal, struct error *err);
bool template_json_path(const struct template_call *call, struct template_value *value,
                        struct error *err);

#endif
