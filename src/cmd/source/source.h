/* source: patra source lint | test | apply | diff | list | show | export. */
#ifndef PATRA_CMD_SOURCE_SOURCE_H
#define PATRA_CMD_SOURCE_SOURCE_H

#include "cli/command.h"
#include "cli/session.h"
#include "spec/source.h"

extern const struct command COMMAND_SOURCE;

extern const struct command COMMAND_SOURCE_LINT; /* source_lint.c */
extern const struct command COMMAND_SOURCE_SHOW; /* source_show.c */
extern const struct command COMMAND_SOURCE_TEST; /* source_test.c */

/* The row of every command that reads a source file; source_file() does what it says. */
#define SOURCE_SET_OPTION                                                            \
    {                                                                                \
        "set", "PATH=VALUE",                                                         \
            "Read the file as if it said this (http.base_url=URL); may be repeated." \
    }

/* A source file is written by hand; one of this size is not. */
#define SOURCE_FILE_BYTES_MAX ((size_t)1 << 20)

/* What --set says, as often as it was given. */
bool source_edits(const struct invocation *invocation, struct arena *arena, struct edit_list *list,
                  struct error *err) MUST_CHECK;

/* Reads and checks a file, with the changes of --set, and prints its faults. *clean tells whether
 * it has errors; false is for what is not the file's fault, or a file that can't be read. */
bool source_file(const struct invocation *invocation, struct arena *arena, const char *path,
                 struct source *source, bool *clean, struct error *err) MUST_CHECK;

#endif
