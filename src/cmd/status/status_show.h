/* status_show: status for people. */
#ifndef PATRA_CMD_STATUS_STATUS_SHOW_H
#define PATRA_CMD_STATUS_STATUS_SHOW_H

#include <stdio.h>

#include "view/status.h"

bool status_print(const struct view_status *status, struct arena *arena, FILE *out,
                  struct error *err) MUST_CHECK;

#endif
