/* Reading a file piece by piece. */
#include "adapter/file/file_in.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 64 << 10 };

static bool failed(const char *path, struct error *err)
{
    return error_set(err, ERROR_REQUEST, "file.read", "%s: %s", path, strerror(errno));
}

static bool pour(int fd, const char *path, struct byte_sink *sink, struct error *err)
{
    char piece[PIECE_BYTES];
    ssize_t got;

    for (;;) {
        got = read(fd, piece, sizeof(piece));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        if (!byte_sink_write(sink, (struct str){ piece, (size_t)got }, err))
            return error_wrap(err, "%s", path);
    }
    if (got < 0)
        return failed(path, err);
    return byte_sink_end(sink, err) || error_wrap(err, "%s", path);
}

bool file_in_pour(const char *path, struct byte_sink *sink, struct error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok;

    if (fd < 0)
        return failed(path, err);
    ok = pour(fd, path, sink, err);
    (void)close(fd);
    return ok;
}
