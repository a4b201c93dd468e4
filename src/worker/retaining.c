/* Retention, by hand and once a day. */
#include "worker/retaining.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "adapter/file/file_out.h"
#include "adapter/pack/pack.h"
#include "engine/session/store_retry.h"
#include "port/store_rate.h"
#include "worker/thread.h"

#define PERIOD_US US_PER_DAY
/* After a failure, and before the first time: a process that starts has better things to do. */
#define SOON_US (10 * US_PER_MINUTE)
enum { FOLDER_MODE = 0750 };

static bool open_packed(struct arena *arena, struct str path, struct byte_sink **sink,
                        struct error *err)
{
    struct byte_sink *file;

    (void)arena;
    return file_out_open(path.data, &file, err) && pack_open(PACK_ZSTD, file, sink, err);
}

bool retaining_once(struct store *store, struct clock *clock, int stop_fd, const char *folder,
                    int64_t keep_us, struct retained_count *count, struct error *err)
{
    struct retain_parts parts = {
        .store = store, .open = open_packed, .keep_us = keep_us, .clock = clock, .stop_fd = stop_fd
    };
    char path[PATH_MAX];

    /* Whoever looks for a file does so from another folder. */
    if ((mkdir(folder, FOLDER_MODE) != 0 && errno != EEXIST) || realpath(folder, path) == NULL)
        return error_set(err, ERROR_REQUEST, "file.write", "%s: %s", folder, strerror(errno));
    parts.folder = str_of(path);
    return store_clock(store, clock_now_us(clock), &parts.now_us, err) &&
           retain_run(&parts, count, err);
}

struct retaining {
    struct clock *clock;
    struct store *store;
    struct log *log;
    struct stop *stop;
    const char *folder;
    pthread_t thread;
};

static void *run(void *context)
{
    struct retaining *r = context;
    struct store_retry retry = { .store = r->store };
    int64_t wait_us = SOON_US;

    while (clock_sleep_us(r->clock, wait_us, r->stop->fd)) {
        struct retained_count count = { 0 };
        struct error err;

        if (store_retry_ready(&retry, &err) &&
            retaining_once(r->store, r->clock, r->stop->fd, r->folder, RETAIN_KEEP_US, &count,
                           &err)) {
            log_event(r->log, LOG_INFO, "history archived", LOG_I64("batches", count.batches),
                      LOG_I64("cursor_events", count.cursor_events), LOG_I64("files", count.files));
            wait_us = PERIOD_US;
            continue;
        }
        (void)store_retry_failed(&retry, &err);
        log_event(r->log, LOG_WARN, "history not archived", LOG_STR("code", str_of(err.code)),
                  LOG_STR("error", str_of(err.text)));
        wait_us = SOON_US;
    }
    return NULL;
}

bool retaining_start(struct retaining **out, const struct retaining_parts *parts, struct error *err)
{
    struct retaining *r = calloc(1, sizeof(*r));

    *out = NULL;
    if (r == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for retention");
    r->clock = &parts->session->clock;
    r->log = parts->log;
    r->stop = parts->stop;
    r->folder = parts->folder;
    if (store_another(parts->session->store, &r->store, err) &&
        thread_start(&r->thread, run, r, err)) {
        *out = r;
        return true;
    }
    store_close(r->store);
    free(r);
    return error_wrap(err, "start retention");
}

void retaining_join(struct retaining *r)
{
    if (r == NULL)
        return;
    (void)pthread_join(r->thread, NULL);
    store_close(r->store);
    free(r);
}
