/* json_out: the little JSON that the simulator's own pages are written in. */
#ifndef PATRA_SIM_UTIL_JSON_OUT_H
#define PATRA_SIM_UTIL_JSON_OUT_H

#include "base/buf.h"

/* With its quotes; bytes that are not UTF-8 are written as U+FFFD. */
void json_add_string(struct buf *json, struct str text);

#endif
