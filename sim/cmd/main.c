/* patra-sim: simulated literature APIs that fail on purpose and know what they served. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "sim/cmd/serve.h"
#include "sim/cmd/verify.h"

static int help(int argc, char **argv);
static int version(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    { "serve", serve_main, "serve literature APIs on a local port" },
    { "verify", verify_main, "compare a patra store with what was served" },
    { "--help", help, "print this help" },
    { "--version", version, "print the version" },
};

static int help(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    (void)printf("usage: patra-sim COMMAND [OPTION]...\n\n");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        (void)printf("  %-12s %s\n", commands[i].name, commands[i].help);
    (void)printf("\nSee patra-sim COMMAND --help, and docs/simulator.md for the manual.\n");
    return 0;
}

static int version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    (void)puts("patra-sim " PATRA_VERSION);
    return 0;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < ARRAY_LEN(commands); i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 2, argv + 2);
    }
    if (argc > 1)
        (void)fprintf(stderr, "patra-sim: unknown command '%s' (try --help)\n", argv[1]);
    else
        (void)fprintf(stderr, "patra-sim: a command is missing (try --help)\n");
    return 2;
}
