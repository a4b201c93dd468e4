/* source: patra source new | lint | test | apply | diff | list | show | export | remove. */
#ifndef PATRA_CMD_SOURCE_SOURCE_H
#define PATRA_CMD_SOURCE_SOURCE_H

#include "cli/command.h"
#include "cli/session.h"
#include "data/http_message.h"
#include "spec/source.h"

extern const struct command COMMAND_SOURCE;

extern const struct command COMMAND_SOURCE_LINT;   /* source_lint.c */
extern const struct command COMMAND_SOURCE_NEW;    /* source_new.c */
extern const struct command COMMAND_SOURCE_REMOVE; /* source_remove.c */
extern const struct command COMMAND_SOURCE_SHOW;   /* source_show.c */
extern const struct command COMMAND_SOURCE_TEST;   /* source_test.c */

/* The option of every command that reads a source file; source_file_read() applies it. */
#define SOURCE_SET_OPTION                                                          \
    {                                                                              \
        "set", "PATH=VALUE",                                                       \
            "Override a setting of the file (http.base_url=URL); may be repeated." \
    }

/* Source files are written by hand, and never this large. */
#define SOURCE_FILE_BYTES_MAX ((size_t)1 << 20)

/* All values of --set. */
bool source_edits(const struct invocation *invocation, struct arena *arena, struct edit_list *list,
                  struct error *err) MUST_CHECK;

/* Reads and checks a file, with the changes of --set, and prints its faults. *clean is false when
 * it has errors. Returns false when the file cannot be read, or for failures that are not its
 * fault. */
struct source_file {
    const struct invocation *invocation;
    struct arena *arena;
    const char *path;
};
bool source_file_read(const struct source_file *file, struct source *source, bool *clean,
                      struct error *err) MUST_CHECK;

/* Reads a saved response: a body, with its header in FILE.head or before it, as curl -i writes it.
 */
bool source_saved_read(struct arena *arena, const char *path, struct http_response *reply,
                       struct error *err) MUST_CHECK; /* source_test_response.c */

#endif
