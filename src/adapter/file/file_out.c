/* Files that get their name at the end. */
#include "adapter/file/file_out.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 64 << 10, LINK_TRIES = 100 };

struct file_out {
    struct byte_sink sink; /* first */
    int fd;
    bool owns_fd;
    bool is_named;    /* it gets its name at the end */
    const char *name; /* for errors */
    char *path;       /* NULL: none of its own */
    char *folder;
    char *beside; /* its name until then; NULL: none */
    size_t used;
    char buffer[BUFFER_BYTES];
};

static struct file_out *file_of(struct byte_sink *sink)
{
    return (struct file_out *)sink;
}

/* By errno. */
static bool failed(const struct file_out *file, const char *doing, struct error *err)
{
    const bool may_pass = errno == ENOSPC || errno == EDQUOT || errno == EPIPE || errno == EINTR;

    if (errno == EPIPE)
        return error_set(err, ERROR_TRANSIENT, "file.write",
                         "%s: whoever read it has closed it; not all was written", file->name);
    return error_set(err, may_pass ? ERROR_TRANSIENT : ERROR_REQUEST, "file.write", "%s %s: %s",
                     doing, file->name, strerror(errno));
}

static bool write_all(struct file_out *file, struct str bytes, struct error *err)
{
    while (bytes.len > 0) {
        const ssize_t count = write(file->fd, bytes.data, bytes.len);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return failed(file, "write", err);
        bytes = str_slice(bytes, (size_t)count, bytes.len);
    }
    return true;
}

static bool flush(struct file_out *file, struct error *err)
{
    const struct str held = { file->buffer, file->used };

    file->used = 0;
    return write_all(file, held, err);
}

static bool file_write(struct byte_sink *sink, struct str bytes, struct error *err)
{
    struct file_out *file = file_of(sink);

    if (bytes.len > BUFFER_BYTES - file->used && !flush(file, err))
        return false;
    if (bytes.len >= BUFFER_BYTES)
        return write_all(file, bytes, err);
    if (bytes.len > 0)
        memcpy(file->buffer + file->used, bytes.data, bytes.len);
    file->used += bytes.len;
    return true;
}

/* ---- the end ---- */

/* A file without a name gets one beside its path: a link cannot replace a file, a rename can. */
static bool name_beside(struct file_out *file, struct error *err)
{
    char self[64];

    if (file->beside != NULL)
        return true;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
    for (int i = 0; i < LINK_TRIES; i++) {
        char *name;

        if (asprintf(&name, "%s.%d.%d", file->path, (int)getpid(), i) < 0) {
            errno = ENOMEM;
            break;
        }
        if (linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            file->beside = name;
            return true;
        }
        free(name);
        if (errno != EEXIST)
            break;
    }
    return failed(file, "name", err);
}

static bool sync_folder(struct file_out *file, struct error *err)
{
    const int folder = open(file->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok;

    if (folder < 0)
        return failed(file, "open the folder of", err);
    ok = fsync(folder) == 0 || errno == EINVAL; /* some filesystems have no such thing */
    if (!ok)
        (void)failed(file, "sync the folder of", err);
    (void)close(folder);
    return ok;
}

static bool file_end(struct byte_sink *sink, struct error *err)
{
    struct file_out *file = file_of(sink);

    if (!flush(file, err))
        return false;
    if (!file->is_named)
        return true;
    if (fsync(file->fd) != 0)
        return failed(file, "sync", err);
    if (!name_beside(file, err))
        return false;
    if (rename(file->beside, file->path) != 0)
        return failed(file, "rename", err);
    free(file->beside);
    file->beside = NULL;
    return sync_folder(file, err);
}

static void file_close(struct byte_sink *sink)
{
    struct file_out *file = file_of(sink);

    if (file->beside != NULL)
        (void)unlink(file->beside);
    if (file->owns_fd && file->fd >= 0)
        (void)close(file->fd);
    free(file->beside);
    free(file->folder);
    free(file->path);
    free(file);
}

/* ---- the beginning ---- */

static struct file_out *made(const char *name, struct error *err)
{
    struct file_out *file = calloc(1, sizeof(*file));

    if (file == NULL) {
        (void)error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a file");
        return NULL;
    }
    file->sink = (struct byte_sink){ file_write, file_end, file_close };
    file->fd = -1;
    file->name = name;
    return file;
}

static bool open_beside(struct file_out *file, struct error *err)
{
    const mode_t mask = umask(0);

    (void)umask(mask);
    if (asprintf(&file->beside, "%s.XXXXXX", file->path) < 0) {
        file->beside = NULL;
        errno = ENOMEM;
        return failed(file, "create", err);
    }
    file->fd = mkostemp(file->beside, O_CLOEXEC);
    if (file->fd < 0) {
        free(file->beside);
        file->beside = NULL;
        return failed(file, "create", err);
    }
    return fchmod(file->fd, 0666 & ~mask) == 0 || failed(file, "create", err);
}

static bool open_file(struct file_out *file, struct error *err)
{
    struct stat status;

    if (stat(file->path, &status) == 0 && !S_ISREG(status.st_mode)) {
        file->fd = open(file->path, O_WRONLY | O_CLOEXEC);
        return file->fd >= 0 || failed(file, "open", err);
    }
    file->is_named = true;
    file->fd = open(file->folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (file->fd >= 0)
        return true;
    if (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == EROFS)
        return failed(file, "create", err);
    return open_beside(file, err);
}

bool file_out_open(const char *path, struct byte_sink **sink, struct error *err)
{
    struct file_out *file = made(path, err);
    char *copy;

    *sink = NULL;
    if (file == NULL)
        return false;
    file->owns_fd = true;
    file->path = strdup(path);
    copy = strdup(path);
    file->folder = copy != NULL ? strdup(dirname(copy)) : NULL;
    free(copy);
    file->name = file->path;
    if (file->path != NULL && file->folder != NULL && open_file(file, err)) {
        *sink = &file->sink;
        return true;
    }
    if (file->path == NULL || file->folder == NULL)
        (void)error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a file");
    file_close(&file->sink);
    return false;
}

bool file_out_fd(int fd, const char *name, struct byte_sink **sink, struct error *err)
{
    struct file_out *file = made(name, err);

    *sink = file != NULL ? &file->sink : NULL;
    if (file != NULL)
        file->fd = fd;
    return file != NULL;
}

bool file_out_text(const char *path, struct str text, struct error *err)
{
    struct byte_sink *sink;
    bool ok;

    if (!file_out_open(path, &sink, err))
        return false;
    ok = byte_sink_write(sink, text, err) && byte_sink_end(sink, err);
    byte_sink_close(sink);
    return ok;
}
