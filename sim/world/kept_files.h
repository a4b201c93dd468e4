/* kept_files: files that a server has made, so that it makes each of them once.
 *
 * A file is its name and the time that its content is of. Its bytes live as long as the server:
 * responses are sent from them. Not thread-safe.
 */
#ifndef PATRA_SIM_WORLD_KEPT_FILES_H
#define PATRA_SIM_WORLD_KEPT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { KEPT_FILES_MAX = 64, KEPT_FILE_NAME_MAX = 80 };

struct kept_file {
    char name[KEPT_FILE_NAME_MAX];
    int64_t at_us;
    char *bytes;
    size_t len;
};

struct kept_files {
    struct kept_file items[KEPT_FILES_MAX];
    size_t count;
};

void kept_files_close(struct kept_files *files);

/* NULL: it was not made yet. */
const struct kept_file *kept_files_find(const struct kept_files *files, struct str name,
                                        int64_t at_us);

/* Takes over the bytes, from malloc. False: there are too many files. */
bool kept_files_add(struct kept_files *files, struct str name, int64_t at_us, char *bytes,
                    size_t len);

#endif
