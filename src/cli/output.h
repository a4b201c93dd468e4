/* output: what a command prints for programs, on its stdout.
 *
 *      struct output output;
 *
 *      view_task_write(output_begin(&output, arena), &task);
 *      return output_end(&output, invocation->out, err);
 */
#ifndef PATRA_CLI_OUTPUT_H
#define PATRA_CLI_OUTPUT_H

#include <stdio.h>

#include "base/buf.h"
#include "data/json_write.h"

/* The most that one command prints for programs. Lists are far below it; a quarantined record may
 * be as large as a page. */
#define OUTPUT_BYTES_MAX ((size_t)256 << 20)

struct output {
    struct buf text;
    struct json_writer w;
};

/* A JSON value to be written, in the arena. */
struct json_writer *output_begin(struct output *output, struct arena *arena);

/* Prints it on a line of its own. */
bool output_end(struct output *output, FILE *out, struct error *err) MUST_CHECK;

bool output_text(FILE *out, const struct buf *text, struct error *err) MUST_CHECK;

/* The bytes as they are; there may be none. */
bool output_bytes(FILE *out, struct str bytes, struct error *err) MUST_CHECK;

#endif
