/* row_choice: the rows that a command works on, given by their numbers or as one source.
 *
 *      patra signal drop 4 7        patra signal drop crossref --reason ...
 *
 * A source's code begins with a letter.
 */
#ifndef PATRA_CLI_ROW_CHOICE_H
#define PATRA_CLI_ROW_CHOICE_H

#include "cli/session.h"

struct row_choice {
    int64_t *items;
    size_t count;
};

/* False when the arena is full. */
bool row_choice_add(struct row_choice *choice, struct arena *arena, int64_t id,
                    struct error *err) MUST_CHECK;

struct row_chooser {
    const char *what; /* of what the numbers are: "signal" */
    /* Adds the rows of the source that the first operand names. */
    bool (*add_source)(const struct invocation *invocation, struct session *session,
                       struct row_choice *choice, struct error *err);
};

/* COMMAND_OPTION for a source with further operands. */
bool row_choice_read(const struct row_chooser *chooser, const struct invocation *invocation,
                     struct session *session, struct row_choice *choice,
                     struct error *err) MUST_CHECK;

#endif
