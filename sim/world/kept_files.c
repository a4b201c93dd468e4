/* A table of files; none is ever removed. */
#include "sim/world/kept_files.h"

#include <stdlib.h>
#include <string.h>

void kept_files_close(struct kept_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->items[i].bytes);
    files->count = 0;
}

const struct kept_file *kept_files_find(const struct kept_files *files, struct str name,
                                        int64_t at_us)
{
    for (size_t i = 0; i < files->count; i++) {
        if (files->items[i].at_us == at_us && str_eq(str_of(files->items[i].name), name))
            return &files->items[i];
    }
    return NULL;
}

bool kept_files_add(struct kept_files *files, struct str name, int64_t at_us, char *bytes,
                    size_t len)
{
    struct kept_file *file;

    if (files->count == KEPT_FILES_MAX || name.len >= KEPT_FILE_NAME_MAX)
        return false;
    file = &files->items[files->count++];
    *file = (struct kept_file){ .at_us = at_us, .bytes = bytes, .len = len };
    memcpy(file->name, name.data, name.len);
    return true;
}
