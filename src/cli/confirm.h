/* confirm: a question on the terminal before something that cannot be undone. */
#ifndef PATRA_CLI_CONFIRM_H
#define PATRA_CLI_CONFIRM_H

#include "base/attr.h"
#include "cli/command.h"

/* The command has an option --yes, which skips the question. False with COMMAND_OPTION where there
 * is no terminal, with "confirm.refused" (L2) when the answer is not "yes". */
bool confirm(const struct invocation *invocation, const char *question,
             struct error *err) MUST_CHECK;

#endif
