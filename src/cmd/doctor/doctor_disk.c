/* The disk below a SQLite file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/instant.h"
#include "base/text.h"
#include "cmd/doctor/doctor.h"

enum { WRITES = 9, BLOCK_BYTES = 4096 };
/* A log that is not written back in time makes every read slower. */
#define LOG_BYTES_MAX (INT64_C(1) << 30)

static int ascending(const void *a, const void *b)
{
    const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;

    return one < other ? -1 : one > other;
}

/* The median of some blocks that are written and kept. */
static bool time_writes(struct doctor *d, const char *path, int64_t *median_us, struct error *err)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    char block[BLOCK_BYTES] = { 0 };
    int64_t took_us[WRITES];
    bool ok = fd >= 0;

    for (int i = 0; ok && i < WRITES; i++) {
        const int64_t from_us = clock_monotonic_us(&d->session->clock);

        ok = pwrite(fd, block, sizeof(block), (off_t)i * BLOCK_BYTES) == BLOCK_BYTES &&
             fdatasync(fd) == 0;
        took_us[i] = clock_monotonic_us(&d->session->clock) - from_us;
    }
    if (!ok)
        (void)error_set(err, ERROR_TRANSIENT, "doctor.disk", "write beside the store: %s",
                        strerror(errno));
    if (fd >= 0) {
        (void)close(fd);
        (void)unlink(path);
    }
    if (!ok)
        return false;
    qsort(took_us, WRITES, sizeof(took_us[0]), ascending);
    *median_us = took_us[WRITES / 2];
    return true;
}

static void check_log(struct doctor *d, struct str place)
{
    struct arena *arena = &d->session->arena;
    const struct str path = arena_printf(arena, "%.*s-wal", STR_ARG(place));
    struct buf text;
    struct stat st;

    d->checks++;
    if (path.data == NULL || stat(path.data, &st) != 0 || st.st_size < LOG_BYTES_MAX)
        return;
    buf_init(&text, arena, 128);
    text_bytes(&text, st.st_size);
    doctor_add(d, "store.log",
               arena_printf(arena, "the write-ahead log has %.*s", STR_ARG(buf_str(&text))),
               STR("A process has had a read open for long: end it (fuser names those that have "
                   "the file open). The log is written back when nobody reads"));
}

bool doctor_disk(struct doctor *d, struct error *err)
{
    struct arena *arena = &d->session->arena;
    struct str place, path;
    int64_t median_us;

    if (!store_place(d->session->store, arena, &place, err))
        return false;
    if (place.len == 0 || place.data[0] != '/')
        return true; /* a server's: its disk is not here */
    check_log(d, place);
    d->checks++;
    path = arena_printf(arena, "%.*s-doctor-%d", STR_ARG(place), (int)getpid());
    if (path.data == NULL)
        return arena_error(arena, err);
    if (!time_writes(d, path.data, &median_us, err))
        return false;
    if (median_us > d->slow_us)
        doctor_add(d, "disk.slow",
                   arena_printf(arena, "the disk of the store takes %.*s to keep a block",
                                STR_ARG(text_span_in(arena, median_us))),
                   STR("Every batch waits for that: put the store on a local disk, not on a "
                       "network's"));
    return true;
}
