/* Lines of a file, one after the other, until it is found. */
#include "engine/retain/find.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/codes.h"
#include "data/date.h"
#include "data/json.h"

#define LINE_BYTES_MAX ((size_t)16 << 20) /* as history is read (adapter/sql/history.c) */

static struct retain_find *find_of(struct byte_sink *sink)
{
    return (struct retain_find *)sink;
}

/* ---- a row ---- */

struct row { /* being read */
    struct json_doc doc;
    bool is_good; /* so far */
};

static struct json_node member(const struct row *row, const char *name)
{
    return json_get(&row->doc, json_root(&row->doc), str_of(name));
}

static int64_t number_of(struct row *row, const char *name)
{
    int64_t number = 0;

    row->is_good &= json_i64(&row->doc, member(row, name), &number);
    return number;
}

/* A text without escapes: a code, a hash, an instant. */
static struct str word_of(struct row *row, const char *name)
{
    const struct json_node node = member(row, name);

    return json_type(&row->doc, node) == JSON_STRING ? json_string_raw(&row->doc, node) : STR("");
}

static struct str json_of(struct row *row, struct arena *arena, const char *name)
{
    const struct json_node node = member(row, name);
    struct str json = STR("");

    row->is_good &= json_exists(node);
    if (json_exists(node))
        json = arena_copy(arena, json_raw(&row->doc, node));
    return json;
}

static bool read_row(struct retain_find *find, struct row *row, struct batch *batch)
{
    struct arena *arena = find->arena;
    const int status = code_find(&BATCH_STATUS_CODES, word_of(row, "status"));
    struct error ignored;
    struct date at;

    *batch = (struct batch){ .id = number_of(row, "id"),
                             .run_id = number_of(row, "runId"),
                             .task_id = number_of(row, "taskId"),
                             .slice_id = number_of(row, "sliceId"),
                             .plan_id = number_of(row, "planId"),
                             .number = number_of(row, "batchNumber"),
                             .expr_hash = arena_copy(arena, word_of(row, "exprHash")),
                             .request_digest = json_of(row, arena, "request"),
                             .response_digest = json_of(row, arena, "response"),
                             .stats = json_of(row, arena, "stats") };
    batch->evidence.body_hash = arena_copy(arena, word_of(row, "bodyHash"));
    batch->status = status >= 0 ? (enum batch_status)status : BATCH_SUCCEEDED;
    if (!date_parse(date_format_find(STR("rfc3339")), word_of(row, "createdAt"), &at, &ignored))
        return false;
    batch->created_us = at.at_us;
    return row->is_good && status >= 0;
}

/* ---- lines ---- */

static bool is_wanted(const struct retain_find *find, struct row *row)
{
    const bool is_failed = str_eq(word_of(row, "status"), STR("FAILED"));

    if (number_of(row, "runId") != find->run_id)
        return false;
    if (find->number > 0)
        return number_of(row, "batchNumber") == find->number;
    return is_failed || !find->has_batch || find->batch.status != BATCH_FAILED;
}

/* Whether it may be a batch of the run: most lines are not, and need not be parsed. */
static bool may_be(const struct retain_find *find, struct str line)
{
    char name[48];

    (void)snprintf(name, sizeof(name), "\"runId\":%" PRId64 ",", find->run_id);
    return str_find(line, str_of(name)) < line.len;
}

static bool see_line(struct retain_find *find, struct str line, struct error *err)
{
    struct row row = { .is_good = true };

    hash_add(&find->hash, line);
    hash_add(&find->hash, STR("\n"));
    if (!may_be(find, line))
        return true;
    arena_reset(&find->scratch);
    if (!json_parse(&row.doc, &find->scratch, line, err))
        return error_wrap(err, "%.*s", STR_ARG(find->path));
    if (!is_wanted(find, &row))
        return true;
    find->has_batch = read_row(find, &row, &find->batch);
    if (find->arena->failed)
        return arena_error(find->arena, err);
    return find->has_batch ||
           error_set(err, ERROR_REQUEST, "retain.changed", "%.*s: a line is not the row of a batch",
                     STR_ARG(find->path));
}

static bool find_write(struct byte_sink *sink, struct str bytes, struct error *err)
{
    struct retain_find *find = find_of(sink);

    while (bytes.len > 0) {
        const char *end = memchr(bytes.data, '\n', bytes.len);
        const size_t len = end != NULL ? (size_t)(end - bytes.data) : bytes.len;

        buf_add(&find->line, str_slice(bytes, 0, len));
        if (!buf_ok(&find->line, err))
            return error_wrap(err, "%.*s", STR_ARG(find->path));
        if (end == NULL)
            return true;
        if (!see_line(find, buf_str(&find->line), err))
            return false;
        buf_clear(&find->line);
        bytes = str_slice(bytes, len + 1, bytes.len);
    }
    return true;
}

static bool find_end(struct byte_sink *sink, struct error *err)
{
    struct retain_find *find = find_of(sink);
    char hex[HASH_HEX_MAX];
    struct hash_sum sum;

    if (!hash_end(&find->hash, &sum, err))
        return false;
    hash_hex(&sum, hex);
    return (find->line.len == 0 && str_eq(str_of(hex), find->sha256)) ||
           error_set(err, ERROR_REQUEST, "retain.changed",
                     "%.*s is not as it was written: its lines have another SHA-256",
                     STR_ARG(find->path));
}

static void find_close(struct byte_sink *sink)
{
    struct retain_find *find = find_of(sink);

    hash_release(&find->hash);
    arena_release(&find->lines);
    arena_release(&find->scratch);
}

void retain_find_init(struct retain_find *find, struct arena *arena,
                      const struct retained_file *file, int64_t run_id, int64_t number)
{
    *find = (struct retain_find){ .sink = { find_write, find_end, find_close },
                                  .arena = arena,
                                  .path = file->path,
                                  .sha256 = file->sha256,
                                  .run_id = run_id,
                                  .number = number };
    arena_init(&find->lines, 2 * LINE_BYTES_MAX);
    arena_init(&find->scratch, 8 * LINE_BYTES_MAX);
    buf_init(&find->line, &find->lines, LINE_BYTES_MAX);
    hash_init(&find->hash);
}
