/* One file after the other. */
#include "engine/retain/retain.h"

#include <inttypes.h>

#include "base/list.h"
#include "data/hash.h"

#define ARENA_BYTES_MAX ((size_t)1 << 30)
enum { TIDY_STEP = 500 };

struct file { /* being written */
    struct retained_file row;
    struct retained_row *items; /* that are in it */
    size_t count;
    struct byte_sink *sink;
    struct hash hash;
};

static bool write_row(struct file *file, const struct retained_row *row, struct arena *arena,
                      struct error *err)
{
    struct retained_row *kept = LIST_ADD(arena, file);

    if (kept == NULL)
        return arena_error(arena, err);
    *kept = (struct retained_row){ .id = row->id, .may_go = true };
    if (file->count == 1) {
        file->row.first_id = row->id;
        file->row.first_run = row->run_id;
    }
    file->row.last_id = row->id;
    if (row->run_id < file->row.first_run)
        file->row.first_run = row->run_id;
    if (row->run_id > file->row.last_run)
        file->row.last_run = row->run_id;
    hash_add(&file->hash, row->json);
    hash_add(&file->hash, STR("\n"));
    return byte_sink_write(file->sink, row->json, err) &&
           byte_sink_write(file->sink, STR("\n"), err);
}

/* After a step, with a pause; false: the rest is left for another time. */
static bool goes_on(const struct retain_parts *parts)
{
    return parts->clock == NULL || clock_sleep_us(parts->clock, RETAIN_PAUSE_US, parts->stop_fd);
}

/* *rows: removed. */
static bool finish(const struct retain_parts *parts, struct file *file, int64_t *rows,
                   bool *is_stopped, struct error *err)
{
    char hex[HASH_HEX_MAX];
    struct hash_sum sum;

    if (!byte_sink_end(file->sink, err) || !hash_end(&file->hash, &sum, err))
        return false;
    hash_hex(&sum, hex);
    file->row.rows = (int64_t)file->count;
    file->row.sha256 = str_of(hex);
    file->row.made_us = parts->now_us;
    if (!store_prune_file_add(parts->store, &file->row, err))
        return false;
    for (size_t at = 0; at < file->count && !*is_stopped; at += RETAIN_STEP) {
        const size_t left = file->count - at;
        const size_t step = left < RETAIN_STEP ? left : RETAIN_STEP;

        if (!store_prune_history_remove(parts->store, file->row.kind, file->items + at, step, err))
            return false;
        *rows += (int64_t)step;
        *is_stopped = !goes_on(parts);
    }
    return true;
}

/* The first row that may go gives the file its name. */
static bool begin(const struct retain_parts *parts, struct file *file, int64_t first_id,
                  struct arena *arena, struct error *err)
{
    if (file->sink != NULL)
        return true;
    file->row.path =
        arena_printf(arena, "%.*s/%s-%012" PRId64 ".jsonl.zst", STR_ARG(parts->folder),
                     file->row.kind == RETAINED_BATCH ? "batches" : "cursor-events", first_id);
    if (file->row.path.data == NULL)
        return arena_error(arena, err);
    hash_init(&file->hash);
    return parts->open(arena, file->row.path, &file->sink, err);
}

/* *more: the file is full, and there may be another. `arena` holds the page, `kept` the rest. */
static bool fill(const struct retain_parts *parts, struct file *file, struct retained_query *query,
                 struct arena *kept, bool *more, struct error *err)
{
    struct retained_page page = { 0 };
    struct arena arena;
    bool ok = true;

    arena_init(&arena, ARENA_BYTES_MAX);
    while (ok && !page.is_last && file->count < RETAIN_FILE_ROWS) {
        arena_reset(&arena);
        ok = store_prune_history(parts->store, &arena, query, &page, err);
        for (size_t i = 0; ok && i < page.count; i++) {
            query->after_id = page.items[i].id;
            if (page.items[i].may_go)
                ok = begin(parts, file, page.items[i].id, kept, err) &&
                     write_row(file, &page.items[i], kept, err);
        }
    }
    arena_release(&arena);
    *more = ok && !page.is_last;
    return ok;
}

static bool retain_kind(const struct retain_parts *parts, struct retained_query query,
                        int64_t *rows, struct retained_count *count, struct error *err)
{
    bool more = true, ok = true;

    while (ok && more && !count->is_stopped) {
        struct file file = { .row = { .kind = query.kind } };
        struct arena kept;

        arena_init(&kept, ARENA_BYTES_MAX);
        ok = fill(parts, &file, &query, &kept, &more, err) &&
             (file.sink == NULL || finish(parts, &file, rows, &count->is_stopped, err));
        count->files += ok && file.sink != NULL;
        byte_sink_close(file.sink);
        hash_release(&file.hash);
        arena_release(&kept);
    }
    return ok;
}

bool retain_run(const struct retain_parts *parts, struct retained_count *count, struct error *err)
{
    struct retained_query batches = { .kind = RETAINED_BATCH, .limit = RETAIN_PAGE };
    const struct retained_query moves = { .kind = RETAINED_CURSOR_EVENT,
                                          .before_us = parts->now_us - parts->keep_us,
                                          .limit = RETAIN_PAGE };

    *count = (struct retained_count){ 0 };
    if (!store_prune_oldest_event(parts->store, &batches.before_us, err))
        return error_wrap(err, "retention");
    if (batches.before_us > moves.before_us)
        batches.before_us = moves.before_us;
    if (!retain_kind(parts, batches, &count->batches, count, err) ||
        !retain_kind(parts, moves, &count->cursor_events, count, err))
        return error_wrap(err, "retention");
    for (int64_t removed = 1; removed > 0 && !count->is_stopped;) {
        if (!store_prune_tidy(parts->store, moves.before_us, TIDY_STEP, &removed, err))
            return error_wrap(err, "retention");
        count->tidied += removed;
        count->is_stopped = removed > 0 && !goes_on(parts);
    }
    return true;
}
