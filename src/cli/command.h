/* command: the command line as a table.
 *
 * A command is a row: its name, what it is for, its options, its children or its function. The same
 * rows parse the arguments, print --help, suggest the command that was meant, and make the manual
 * page and the shell completion, so that these always agree.
 */
#ifndef PATRA_CLI_COMMAND_H
#define PATRA_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "core/codes.h"

/* patra's exit codes; documented in docs/commands.md. */
enum exit_code {
    EXIT_DONE = 0, /* done, and nothing is wrong */
    EXIT_FOUND =
        1, /* done, and something is wrong: faults in a file, a difference, a failed check */
    EXIT_USAGE = 2,   /* the command line was not understood; nothing was done */
    EXIT_LATER = 3,   /* could not be done now; may succeed when tried again: busy, unreachable */
    EXIT_REFUSED = 4, /* cannot be done; trying again would not help */
    EXIT_INTERRUPTED = 130, /* stopped by a signal before the end; nothing is lost */
};

struct option {
    const char *name;  /* without the dashes */
    const char *value; /* what it takes, for the help: "DSN"; NULL for a flag */
    const char *help;  /* one sentence */
};

/* A short name: -o for --output. */
struct option_letter {
    char letter;
    const char *name; /* of the option */
};

enum { COMMAND_OPTIONS_MAX = 16, COMMAND_LETTERS_MAX = 2, COMMAND_REPEATS_MAX = 64 };

struct invocation;

struct command {
    const char *name;
    const char *summary;  /* one line, for lists */
    const char *operands; /* "FILE..."; NULL when it takes none */
    int operands_min;
    int operands_max;                           /* -1: any number */
    const char *description;                    /* paragraphs for --help and the manual */
    struct option options[COMMAND_OPTIONS_MAX]; /* ends at the first without a name */
    struct option_letter letters[COMMAND_LETTERS_MAX];
    const struct command *const *children; /* ends with NULL; NULL when it has none */
    enum exit_code (*run)(const struct invocation *invocation);
};

struct invocation {
    const struct command *command;
    const char *values[COMMAND_OPTIONS_MAX]; /* NULL: not given; flags are ""; the last counts */
    struct {
        int option;
        const char *value;
    } given[COMMAND_REPEATS_MAX]; /* every value, in the order given */
    int given_count;
    char *const *operands;
    int operand_count;
    FILE *out;  /* results */
    FILE *talk; /* everything else */
};

/* The value of an option of this command, or NULL. The name must be in its table. */
const char *invocation_value(const struct invocation *invocation, const char *name);
/* The same for code that several commands share: NULL also where this one has no such option. */
const char *invocation_value_if_any(const struct invocation *invocation, const char *name);
bool invocation_flag(const struct invocation *invocation, const char *name);

/* The values of an option that may be given more than once: begin with *at = 0, NULL at the end. */
const char *invocation_each(const struct invocation *invocation, const char *name, int *at);

/* The code of errors in the command line itself. Every command sets it with command_misused(). */
#define COMMAND_OPTION "command.option"
#define command_misused(err, ...) error_set((err), ERROR_REQUEST, COMMAND_OPTION, __VA_ARGS__)

/* An option KEY=VALUE that may be given more than once. */
struct option_pair {
    struct str key; /* '' after the last one */
    struct str value;
};
struct option_pairs {
    const char *name;
    const char *form; /* for the error: "KEY=VALUE, such as window.max=6h" */
};
/* The next pair; begin with *at = 0. */
bool invocation_pair(const struct invocation *invocation, const struct option_pairs *pairs, int *at,
                     struct option_pair *pair, struct error *err) MUST_CHECK;

struct option_range {
    int64_t least;
    int64_t most;
    int64_t otherwise; /* where the option was not given */
};

/* The value of an option that takes a whole number. False (COMMAND_OPTION) for anything else, or
 * for a number out of the range. */
bool invocation_number(const struct invocation *invocation, const char *name,
                       struct option_range range, int64_t *number, struct error *err) MUST_CHECK;

/* The same for a duration; *length_us is left alone where the option was not given. */
bool invocation_duration(const struct invocation *invocation, const char *name, int64_t *length_us,
                         struct error *err) MUST_CHECK;

/* The same for an instant: a date, or how long before now_us. */
bool invocation_instant(const struct invocation *invocation, const char *name, int64_t now_us,
                        int64_t *at_us, struct error *err) MUST_CHECK;

/* An option whose value is one of a table's codes, in any case. */
struct option_code {
    bool is_given;
    int value; /* 0 where it is not given */
};
bool invocation_code(const struct invocation *invocation, const char *name,
                     const struct code_table *codes, struct option_code *code,
                     struct error *err) MUST_CHECK;

/* An operand that is the number of a row, from 1. `what` says of which: "plan". */
bool invocation_row(const struct invocation *invocation, int operand, const char *what, int64_t *id,
                    struct error *err) MUST_CHECK;

/* The short name of an option, or '\0'. */
char command_letter(const struct command *command, const struct option *option);

/* Finds the command, parses its options, runs it. argv[0] is the program. */
enum exit_code command_main(const struct command *root, int argc, char **argv);

/* Prints an error for people, and returns the exit code for it: EXIT_USAGE for COMMAND_OPTION, else
 * by its level. */
enum exit_code command_failed(const struct invocation *invocation, const struct error *err);

#endif
