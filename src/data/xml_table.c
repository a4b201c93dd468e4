#include "data/xml_tree.h"

const struct xml xml_module = XML_TABLE;
