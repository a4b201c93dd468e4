/* output: what a command prints for programs, on its stdout. */
#ifndef PATRA_CLI_OUTPUT_H
#define PATRA_CLI_OUTPUT_H

#include <stdio.h>

#include "base/buf.h"
#include "core/id_range.h"
#include "core/window.h"
#include "data/json_write.h"

/* The most that one command prints for programs; lists are far below it. */
#define OUTPUT_BYTES_MAX ((size_t)64 << 20)

bool output_text(FILE *out, const struct buf *text, struct error *err) MUST_CHECK;

/* Ends the value that `w` has written, and the line. */
bool output_json(FILE *out, struct json_writer *w, struct error *err) MUST_CHECK;

/* A list for programs: an array of objects. `write` adds the members of the i-th. */
typedef void output_row(struct json_writer *w, const void *rows, size_t i);
bool output_list(FILE *out, struct arena *arena, const void *rows, size_t count, output_row *write,
                 struct error *err) MUST_CHECK;

/* A member {"from", "to"}; null for a window that is not valid. */
void output_window(struct json_writer *w, struct str name, struct window window);

/* Members "fromId" and "toId", each where the range has that end; none for all ids. */
void output_ids(struct json_writer *w, struct id_range ids);

#endif
