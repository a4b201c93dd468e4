/* file: a whole file in memory, for the few that commands read. */
#ifndef PATRA_CLI_FILE_H
#define PATRA_CLI_FILE_H

#include "base/arena.h"
#include "base/attr.h"

/* "-" is standard input. L2 "file.read" or "file.limit" names the file. */
bool file_read(struct arena *arena, const char *path, size_t bytes_max, struct str *text,
               struct error *err) MUST_CHECK;

#endif
