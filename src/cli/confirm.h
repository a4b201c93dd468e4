/* confirm: a question on the terminal before something that can not be taken back. */
#ifndef PATRA_CLI_CONFIRM_H
#define PATRA_CLI_CONFIRM_H

#include "base/attr.h"
#include "cli/command.h"

/* The command has an option --yes, which answers it. L2 "confirm.option" where there is no terminal
 * to ask on, "confirm.refused" when the answer is not "yes". */
bool confirm(const struct invocation *invocation, const char *question,
             struct error *err) MUST_CHECK;

#endif
