/* file_in: a file, from its beginning to its end, into a sink; a piece of it is in memory. */
#ifndef PATRA_ADAPTER_FILE_FILE_IN_H
#define PATRA_ADAPTER_FILE_FILE_IN_H

#include "port/byte_sink.h"

/* Writes all of it and ends the sink, which stays the caller's to close. "file.read" (L2) names the
 * path. */
bool file_in_pour(const char *path, struct byte_sink *sink, struct error *err) MUST_CHECK;

#endif
