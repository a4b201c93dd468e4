/* help: the command table as text: --help, the manual page, the reference.
 */
#ifndef PATRA_CLI_HELP_H
#define PATRA_CLI_HELP_H

#include <stdio.h>

#include "cli/command.h"

enum { HELP_DEPTH_MAX = 4 };

struct help_path { /* from the root to a command */
    const struct command *commands[HELP_DEPTH_MAX];
    int depth;
};

const struct command *help_last(const struct help_path *path);
void help_name(const struct help_path *path, FILE *out); /* "patra source lint" */
void help_print(const struct help_path *path, FILE *out);

void help_manual(const struct command *root, FILE *out);    /* troff, section 1 */
void help_reference(const struct command *root, FILE *out); /* Markdown: docs/commands.md */

#endif
