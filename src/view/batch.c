/* One batch: gathered, marked, masked, and written as JSON. */
#include "view/batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "base/list.h"
#include "base/mask.h"
#include "data/json.h"
#include "port/store_prune.h"

/* Batches of a run that are looked through for the one to show. */
enum { LOOKED_THROUGH = 500 };

struct str batch_mark_name(enum batch_mark mark)
{
    static const struct str names[] = { [BATCH_MARK_NONE] = STR_INIT("none"),
                                        [BATCH_MARK_RETRIED] = STR_INIT("retried"),
                                        [BATCH_MARK_QUARANTINED] = STR_INIT("quarantined"),
                                        [BATCH_MARK_FAILED] = STR_INIT("failed") };

    return names[mark];
}

/* ---- numbers ---- */

static int64_t number_of(const struct json_doc *doc, struct json_node node, const char *name)
{
    int64_t number;

    return json_i64(doc, json_get(doc, node, str_of(name)), &number) ? number : 0;
}

static struct str text_of(const struct json_doc *doc, struct json_node node, const char *name,
                          struct arena *arena)
{
    const struct json_node member = json_get(doc, node, str_of(name));
    struct str text = STR("");
    struct error ignored;

    if (json_type(doc, member) == JSON_STRING && json_string(doc, member, arena, &text, &ignored))
        text = mask_personal_copy(arena, text);
    return text.data != NULL ? text : STR("");
}

bool view_batch_numbers(struct arena *arena, const struct batch *batch,
                        struct batch_numbers *numbers, struct error *err)
{
    struct json_node root, http, error;
    struct json_doc doc;

    if (!json_parse(&doc, arena, batch->stats, err))
        return error_wrap(err, "stats of batch %" PRId64, batch->id);
    root = json_root(&doc);
    http = json_get(&doc, root, STR("http"));
    error = json_get(&doc, root, STR("error"));
    *numbers = (struct batch_numbers){ .items = number_of(&doc, root, "itemsCount"),
                                       .inserted = number_of(&doc, root, "inserted"),
                                       .updated = number_of(&doc, root, "updated"),
                                       .skipped = number_of(&doc, root, "skipped"),
                                       .quarantined = number_of(&doc, root, "failed"),
                                       .requests = number_of(&doc, root, "reqCount"),
                                       .retries = number_of(&doc, root, "retryCount"),
                                       .latency_ms = number_of(&doc, root, "latencyMs"),
                                       .status = number_of(&doc, http, "status"),
                                       .bytes = number_of(&doc, http, "bytes"),
                                       .level = text_of(&doc, error, "level", arena),
                                       .code = text_of(&doc, error, "code", arena),
                                       .text = text_of(&doc, error, "text", arena) };
    return true;
}

enum batch_mark view_batch_mark(const struct batch *batch, const struct batch_numbers *numbers)
{
    if (batch->status == BATCH_FAILED)
        return BATCH_MARK_FAILED;
    if (numbers->quarantined > 0)
        return BATCH_MARK_QUARANTINED;
    return numbers->retries > 0 ? BATCH_MARK_RETRIED : BATCH_MARK_NONE;
}

/* ---- gathering ---- */

bool view_masked_json(struct arena *arena, struct str json, struct str *masked, struct error *err)
{
    struct buf quoted;

    *masked = mask_personal_copy(arena, json);
    if (masked->data == NULL)
        return json.len == 0 || arena_error(arena, err);
    if (json_is_valid(*masked))
        return true;
    /* An escape before an address became part of what was masked: shown as a text. */
    buf_init(&quoted, arena, 6 * masked->len + 16);
    json_quote(&quoted, *masked);
    *masked = buf_str(&quoted);
    return buf_ok(&quoted, err);
}

static bool gather_items(const struct view_reader *reader, struct view_batch *view,
                         struct error *err)
{
    struct batch_item_reader items = batch_items_read(reader->arena, view->evidence.items);
    struct view_batch_items *list = &view->items;
    struct batch_item item;

    list->is_kept = view->evidence.items.len > 0;
    while (batch_items_next(&items, &item)) {
        struct batch_item *slot = LIST_ADD(reader->arena, list);

        if (slot == NULL)
            return arena_error(reader->arena, err);
        *slot = item;
        list->counts[item.kind]++;
    }
    if (reader->arena->failed)
        return arena_error(reader->arena, err);
    if (items.is_broken)
        return error_set(err, ERROR_FATAL, "batch.items",
                         "the items of batch %" PRId64 " of run %" PRId64 " cannot be read",
                         view->batch.number, view->batch.run_id);
    return true;
}

/* The last one that is marked among the first batches of the run, or failed; else the last seen. */
static bool find_marked(const struct view_reader *reader, int64_t run_id, struct batch *batch,
                        bool *found, struct error *err)
{
    const struct store_page page = { .limit = LOOKED_THROUGH };
    struct batch_numbers numbers;
    struct batch_list list;
    enum batch_mark worst = BATCH_MARK_NONE;

    if (!store_batch_failed(reader->store, reader->arena, run_id, 1, &list, err))
        return false;
    *found = list.count > 0;
    if (*found) {
        *batch = list.items[0];
        return true;
    }
    if (!store_batch_list(reader->store, reader->arena, run_id, page, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (!view_batch_numbers(reader->arena, &list.items[i], &numbers, err))
            return false;
        if (view_batch_mark(&list.items[i], &numbers) >= worst) {
            worst = view_batch_mark(&list.items[i], &numbers);
            *batch = list.items[i];
            *found = true;
        }
    }
    return true;
}

/* ---- a batch that is not there ---- */

#define ARCHIVED "batch.archived"

bool view_batch_error_is_archived(const struct error *err)
{
    return strcmp(err->code, ARCHIVED) == 0;
}

/* How a program that knows nothing of patra finds it. */
static struct str select_text(struct arena *arena, const struct view_batch_key *key)
{
    return key->number > 0
               ? arena_printf(arena, ".runId == %" PRId64 " and .batchNumber == %" PRId64,
                              key->run_id, key->number)
               : arena_printf(arena, ".runId == %" PRId64, key->run_id);
}

bool view_batch_missing(const struct view_reader *reader, const struct view_batch_key *key,
                        struct error *err)
{
    struct retained_file_list files;
    char made[INSTANT_TEXT_MAX];

    if (!store_prune_files_of(reader->store, reader->arena, key->run_id, &files, err))
        return false;
    if (files.count == 0)
        return key->number > 0
                   ? error_set(err, ERROR_REQUEST, "batch.unknown",
                               "run %" PRId64 " has no batch %" PRId64, key->run_id, key->number)
                   : error_set(err, ERROR_REQUEST, "batch.unknown",
                               "run %" PRId64 " has no batches", key->run_id);
    (void)instant_format(files.items[0].made_us, made);
    return error_set(err, ERROR_REQUEST, ARCHIVED,
                     "run %" PRId64 " has no such batch in the store. Those of runs %" PRId64
                     " to %" PRId64 " were archived at %s, in %.*s%s. Where that file is: patra "
                     "batch show, or zstd -dc FILE | jq 'select(%.*s)'",
                     key->run_id, files.items[0].first_run, files.items[0].last_run, made,
                     STR_ARG(files.items[0].path), files.count > 1 ? " and files before it" : "",
                     STR_ARG(select_text(reader->arena, key)));
}

/* ---- gathering it ---- */

static bool find_run(const struct view_reader *reader, int64_t run_id, struct run *run,
                     struct error *err)
{
    bool found;

    return store_run_get(reader->store, reader->arena, run_id, run, &found, err) &&
           (found ||
            error_set(err, ERROR_REQUEST, "run.unknown", "there is no run %" PRId64, run_id));
}

static bool find_batch(const struct view_reader *reader, const struct view_batch_key *key,
                       struct view_batch *view, struct error *err)
{
    bool found;

    if (!find_run(reader, key->run_id, &view->run, err))
        return false;
    if (key->number > 0 ? !store_batch_get(reader->store, reader->arena, key->run_id, key->number,
                                           &view->batch, &found, err)
                        : !find_marked(reader, key->run_id, &view->batch, &found, err))
        return false;
    return found || view_batch_missing(reader, key, err);
}

/* What follows from its row and its evidence. */
static bool complete(const struct view_reader *reader, struct view_batch *view, struct error *err)
{
    struct arena *arena = reader->arena;
    struct batch *batch = &view->batch;
    bool found;

    if (!store_task_get(reader->store, arena, batch->task_id, &view->task, &found, err) ||
        !view_batch_numbers(arena, batch, &view->numbers, err) ||
        !view_attempt_list(arena, batch->response_digest, &view->attempts, err) ||
        !gather_items(reader, view, err))
        return false;
    view->mark = view_batch_mark(batch, &view->numbers);
    return view_masked_json(arena, batch->request_digest, &batch->request_digest, err) &&
           view_masked_json(arena, batch->response_digest, &batch->response_digest, err) &&
           view_masked_json(arena, batch->stats, &batch->stats, err);
}

bool view_batch(const struct view_reader *reader, const struct view_batch_key *key,
                struct view_batch *view, struct error *err)
{
    *view = (struct view_batch){ 0 };
    return find_batch(reader, key, view, err) &&
           store_batch_evidence(reader->store, reader->arena, view->batch.id, &view->evidence,
                                err) &&
           complete(reader, view, err);
}

bool view_batch_archived(const struct view_reader *reader, const struct batch *row, struct str path,
                         struct view_batch *view, struct error *err)
{
    *view = (struct view_batch){ .batch = *row, .evidence = row->evidence, .archived = path };
    return find_run(reader, row->run_id, &view->run, err) && complete(reader, view, err);
}

/* ---- JSON ---- */

static void write_lineage(struct json_writer *w, const struct view_batch *view)
{
    json_write_name(w, STR("lineage"));
    json_write_object(w);
    json_write_member_i64(w, STR("plan"), view->batch.plan_id);
    json_write_member_i64(w, STR("slice"), view->batch.slice_id);
    json_write_member_i64(w, STR("task"), view->batch.task_id);
    json_write_member_i64(w, STR("run"), view->batch.run_id);
    json_write_member_i64(w, STR("batch"), view->batch.id);
    json_write_end(w);
}

static void write_items(struct json_writer *w, const struct view_batch_items *list)
{
    char hash[17];

    json_write_name(w, STR("items"));
    if (!list->is_kept) {
        json_write_null(w);
        return;
    }
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        const struct batch_item *item = &list->items[i];

        json_write_object(w);
        json_write_member_str(w, STR("id"), item->id);
        json_write_member_str(w, STR("became"), code_of(&BATCH_ITEM_CODES, (int)item->kind));
        if (item->hash != 0) {
            (void)snprintf(hash, sizeof(hash), "%016" PRIx64, item->hash);
            json_write_member_str(w, STR("hash"), str_of(hash));
        }
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_raw(struct json_writer *w, const char *name, struct str json)
{
    json_write_name(w, str_of(name));
    json_write_raw(w, json);
}

void view_batch_write(struct json_writer *w, const struct view_batch *view)
{
    const struct batch *batch = &view->batch;

    json_write_object(w);
    json_write_member_i64(w, STR("runId"), batch->run_id);
    json_write_member_i64(w, STR("number"), batch->number);
    json_write_member_str(w, STR("source"), view->task.source);
    json_write_member_str(w, STR("endpoint"), view->task.endpoint);
    json_write_member_str(w, STR("operation"),
                          code_of(&OPERATION_CODES, (int)view->task.operation));
    json_write_member_str(w, STR("status"), code_of(&BATCH_STATUS_CODES, (int)batch->status));
    json_write_member_str(w, STR("mark"), batch_mark_name(view->mark));
    json_write_member_instant(w, STR("at"), batch->created_us);
    json_write_member_str(w, STR("worker"), view->run.lease_owner);
    write_lineage(w, view);
    write_raw(w, "request", batch->request_digest);
    write_raw(w, "response", batch->response_digest);
    write_raw(w, "stats", batch->stats);
    if (view->evidence.body_hash.len > 0)
        json_write_member_str(w, STR("bodyHash"), view->evidence.body_hash);
    if (view->archived.len > 0)
        json_write_member_str(w, STR("archivedIn"), view->archived);
    write_items(w, &view->items);
    json_write_end(w);
}
