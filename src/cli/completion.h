/* completion: the command table as a completion script for a shell.
 *
 * Every script finds the command in the words before the cursor, and offers its subcommands and
 * options, the sources of the store where a command takes one, and files for other operands and
 * for the values of options.
 */
#ifndef PATRA_CLI_COMPLETION_H
#define PATRA_CLI_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/error.h"
#include "cli/command.h"

/* `shell` is "bash", "zsh" or "fish"; false (COMMAND_OPTION) for any other. */
bool completion_print(const struct command *root, const char *shell, FILE *out,
                      struct error *err) MUST_CHECK;

#endif
