/* A whole file in memory. */
#include "cli/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

static bool read_all(FILE *file, const char *path, struct buf *text, struct error *err)
{
    char piece[65536];
    size_t count;

    while ((count = fread(piece, 1, sizeof(piece), file)) > 0)
        buf_add(text, (struct str){ piece, count });
    if (ferror(file))
        return error_set(err, ERROR_REQUEST, "file.read", "read %s: %s", path, strerror(errno));
    if (text->failed && text->len + sizeof(piece) > text->limit)
        return error_set(err, ERROR_REQUEST, "file.limit", "%s is longer than %zu bytes", path,
                         text->limit);
    return buf_ok(text, err);
}

bool file_read(struct arena *arena, const char *path, size_t bytes_max, struct str *text,
               struct error *err)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    struct buf buf;
    bool ok;

    if (file == NULL)
        return error_set(err, ERROR_REQUEST, "file.read", "open %s: %s", path, strerror(errno));
    buf_init(&buf, arena, bytes_max);
    ok = read_all(file, path, &buf, err);
    if (!is_stdin)
        (void)fclose(file);
    *text = buf_str(&buf);
    return ok;
}
