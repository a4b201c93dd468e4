/* file_out: a file that is there as a whole or not at all.
 *
 * It is written without a name, in the folder of its path, and gets its name at the end, when it is
 * on disk: whoever reads the path sees the old file or the new one, also when the process or the
 * machine dies. Where the filesystem cannot keep files without a name, it is called PATH.XXXXXX
 * meanwhile, and a process that is killed leaves that behind.
 *
 * What is not a regular file (a device, a pipe with a name) is written as it is.
 */
#ifndef PATRA_ADAPTER_FILE_FILE_OUT_H
#define PATRA_ADAPTER_FILE_FILE_OUT_H

#include "port/byte_sink.h"

/* Errors, here and later: "file.write" (L2), which names the path; L1 when the disk is full. */
bool file_out_open(const char *path, struct byte_sink **sink, struct error *err) MUST_CHECK;

/* A descriptor that is open already, such as standard output; it stays open. `name` is for errors
 * and must outlive the sink. SIGPIPE should be ignored: a reader that has gone is an error (L1). */
bool file_out_fd(int fd, const char *name, struct byte_sink **sink, struct error *err) MUST_CHECK;

/* A small file, whole: open, write, end. */
bool file_out_text(const char *path, struct str text, struct error *err) MUST_CHECK;

#endif
