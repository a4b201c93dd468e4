/* Runs and batches: gathered with the numbers of their stats, and written as JSON. */
#include "view/run.h"

#include <inttypes.h>

#include "data/json.h"

enum { NOT_SAID = -1 };

static int64_t number_of(const struct json_doc *doc, const char *name)
{
    int64_t number;

    return json_i64(doc, json_get(doc, json_root(doc), str_of(name)), &number) ? number : NOT_SAID;
}

static bool read_stats(const struct view_reader *reader, struct view_run *view, struct error *err)
{
    struct json_doc doc;

    view->numbers = (struct view_run_numbers){ NOT_SAID, NOT_SAID, NOT_SAID, NOT_SAID, NOT_SAID };
    if (view->run.stats.len == 0)
        return true;
    if (!json_parse(&doc, reader->arena, view->run.stats, err))
        return error_wrap(err, "stats of run %" PRId64, view->run.id);
    view->numbers = (struct view_run_numbers){ .requests = number_of(&doc, "reqCount"),
                                               .retries = number_of(&doc, "retryCount"),
                                               .records = number_of(&doc, "retCount"),
                                               .same_date = number_of(&doc, "changedSameDate"),
                                               .future = number_of(&doc, "futureDates") };
    return true;
}

bool view_run_list(const struct view_reader *reader, int64_t task_id, struct view_run_list *list,
                   struct error *err)
{
    struct run_list runs;

    *list = (struct view_run_list){ 0 };
    if (!store_run_list(reader->store, reader->arena, task_id, &runs, err))
        return false;
    list->items = ARENA_ARRAY(reader->arena, struct view_run, runs.count + 1);
    if (list->items == NULL)
        return arena_error(reader->arena, err);
    for (size_t i = 0; i < runs.count; i++) {
        list->items[i].run = runs.items[i];
        if (!read_stats(reader, &list->items[i], err))
            return false;
    }
    list->count = runs.count;
    return true;
}

bool view_batch_list(const struct view_reader *reader, const struct view_batch_filter *filter,
                     struct view_batch_list *list, struct error *err)
{
    struct batch_list batches;

    *list = (struct view_batch_list){ 0 };
    if (!store_batch_list(
            reader->store, reader->arena, filter->run_id,
            (struct store_page){ .after = filter->after_number, .limit = filter->limit }, &batches,
            err))
        return false;
    *list = (struct view_batch_list){ .items = batches.items,
                                      .count = batches.count,
                                      .is_full = (int64_t)batches.count == filter->limit };
    return true;
}

/* ---- JSON ---- */

static void write_run(struct json_writer *w, const struct run *run)
{
    json_write_object(w);
    json_write_member_i64(w, STR("id"), run->id);
    json_write_member_i64(w, STR("attempt"), run->attempt);
    json_write_member_str(w, STR("status"), code_of(&RUN_STATUS_CODES, (int)run->status));
    if (run->has_reason)
        json_write_member_str(w, STR("reason"), code_of(&PARTIAL_REASON_CODES, (int)run->reason));
    json_write_member_str(w, STR("leaseOwner"), run->lease_owner);
    json_write_member_instant(w, STR("startedAt"), run->started_us);
    if (run->finished_us > 0)
        json_write_member_instant(w, STR("finishedAt"), run->finished_us);
    if (run->error.len > 0)
        json_write_member_str(w, STR("error"), run->error);
    json_write_name(w, STR("stats"));
    json_write_raw(w, run->stats.len > 0 ? run->stats : STR("{}"));
    json_write_end(w);
}

void view_run_list_write(struct json_writer *w, const struct view_run_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++)
        write_run(w, &list->items[i].run);
    json_write_end(w);
}

static void write_batch(struct json_writer *w, const struct batch *batch)
{
    json_write_object(w);
    json_write_member_i64(w, STR("runId"), batch->run_id);
    json_write_member_i64(w, STR("number"), batch->number);
    json_write_member_str(w, STR("status"), code_of(&BATCH_STATUS_CODES, (int)batch->status));
    json_write_member_instant(w, STR("at"), batch->created_us);
    json_write_name(w, STR("request"));
    json_write_raw(w, batch->request_digest);
    json_write_name(w, STR("response"));
    json_write_raw(w, batch->response_digest);
    json_write_name(w, STR("stats"));
    json_write_raw(w, batch->stats);
    json_write_end(w);
}

void view_batch_list_write(struct json_writer *w, const struct view_batch_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++)
        write_batch(w, &list->items[i]);
    json_write_end(w);
}
