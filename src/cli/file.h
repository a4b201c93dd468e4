/* file: a whole file in memory. */
#ifndef PATRA_CLI_FILE_H
#define PATRA_CLI_FILE_H

#include "base/arena.h"
#include "base/attr.h"

/* "-" is standard input. Fails with "file.read" or "file.limit" (L2), which name the file. */
bool file_read(struct arena *arena, const char *path, size_t bytes_max, struct str *text,
               struct error *err) MUST_CHECK;

#endif
