/* The module's one symbol; see base/module.h. */
#include "data/xml_tree.h"

extern const struct xml patra_module;

MODULE_EXPORT const struct xml patra_module = XML_TABLE;
