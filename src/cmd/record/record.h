/* patra record: what has been harvested. What its files share. */
#ifndef PATRA_CMD_RECORD_RECORD_H
#define PATRA_CMD_RECORD_RECORD_H

#include "cli/command.h"

extern const struct command COMMAND_RECORD;

extern const struct command RECORD_SHOW;   /* record_show.c */
extern const struct command RECORD_EXPORT; /* record_export.c */

#endif
