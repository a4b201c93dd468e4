/* A question on the terminal. */
#include "cli/confirm.h"

#include <string.h>
#include <unistd.h>

bool confirm(const struct invocation *invocation, const char *question, struct error *err)
{
    char answer[16];

    if (invocation_flag(invocation, "yes"))
        return true;
    if (!isatty(STDIN_FILENO))
        return command_misused(err, "there is no terminal to ask for confirmation on; give --yes");
    fprintf(invocation->talk, "%s Type yes: ", question);
    (void)fflush(invocation->talk);
    if (fgets(answer, sizeof(answer), stdin) != NULL && strcmp(answer, "yes\n") == 0)
        return true;
    return error_set(err, ERROR_REQUEST, "confirm.refused", "not confirmed; nothing was done");
}
