/* hide: passwords taken out of the command line that others see (ps, /proc/PID/cmdline). */
#ifndef PATRA_CLI_HIDE_H
#define PATRA_CLI_HIDE_H

/* Puts stars over the passwords in one argument, in place: scheme://user:PASSWORD@host, and
 * password=PASSWORD of a query or of key words. */
void hide_passwords(char *argument);

/* A copy of argv for the program, and stars in argv itself. NULL: no memory. The caller frees it,
 * the strings with it. */
char **hide_arguments(int argc, char **argv);

#endif
