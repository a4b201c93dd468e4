/* alert: what is wrong, who is notified, and what people set about it. */
#ifndef PATRA_CMD_ALERT_ALERT_H
#define PATRA_CMD_ALERT_ALERT_H

#include "cli/command.h"

extern const struct command COMMAND_ALERT;

extern const struct command COMMAND_ALERT_APPLY; /* alert_receiver.c */
extern const struct command COMMAND_ALERT_RECEIVERS;
extern const struct command COMMAND_ALERT_REMOVE;
extern const struct command COMMAND_ALERT_TEST;
extern const struct command COMMAND_ALERT_RULES; /* alert_rules.c */
extern const struct command COMMAND_ALERT_SET;
extern const struct command COMMAND_ALERT_SILENCE; /* alert_silence.c */

#endif
