/* fault_output: the faults of a file that a person wrote, printed. */
#ifndef PATRA_CLI_FAULT_OUTPUT_H
#define PATRA_CLI_FAULT_OUTPUT_H

#include <stdio.h>

#include "base/attr.h"
#include "spec/fault.h"

/* A line per fault, or with as_json an object per line. */
bool fault_output(FILE *out, const struct fault_list *faults, const char *path, bool as_json,
                  struct error *err) MUST_CHECK;

#endif
