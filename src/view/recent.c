/* Runs of a period, added up. */
#include "view/recent.h"

#include <stdlib.h>

#include "base/list.h"
#include "data/json.h"
#include "port/store_registry.h"
#include "port/store_run.h"

/* ---- going through the runs ---- */

struct walk {
    const struct view_reader *reader;
    const struct view_recent_filter *filter;
    /* Called for each run; its stats are valid. */
    bool (*see)(struct walk *walk, const struct run *run, const struct json_doc *stats,
                struct error *err);
    void *context;
};

static bool see_runs(struct walk *walk, struct str source, enum operation operation,
                     struct error *err)
{
    const struct view_recent_filter *filter = walk->filter;
    const struct run_period period = { .source = source,
                                       .operation = operation,
                                       .from_us = filter->from_us,
                                       .to_us = filter->to_us,
                                       .limit = VIEW_RECENT_RUNS };
    struct run_list runs;

    if (filter->has_operation && filter->operation != operation)
        return true;
    if (!store_run_started(walk->reader->store, walk->reader->arena, &period, &runs, err))
        return false;
    for (size_t i = 0; i < runs.count; i++) {
        struct json_doc stats;
        struct error ignored; /* a run that has committed nothing has none */

        if (json_parse(&stats, walk->reader->arena, runs.items[i].stats, &ignored) &&
            !walk->see(walk, &runs.items[i], &stats, err))
            return false;
    }
    return !walk->reader->arena->failed || arena_error(walk->reader->arena, err);
}

static bool see_source(struct walk *walk, struct str source, struct error *err)
{
    for (size_t i = 0; i < OPERATION_CODES.count; i++) {
        if (!see_runs(walk, source, (enum operation)i, err))
            return false;
    }
    return true;
}

static bool sources_of(const struct view_reader *reader, struct str wanted,
                       struct registry_entry_list *list, struct error *err)
{
    struct registry_entry *one;

    if (wanted.len == 0)
        return store_registry_list(reader->store, reader->arena, reader->now_us, list, err);
    *list = (struct registry_entry_list){ 0 };
    one = LIST_ADD(reader->arena, list);
    if (one == NULL)
        return arena_error(reader->arena, err);
    one->code = wanted;
    return view_source_check(reader, wanted, err);
}

static int64_t number_of(const struct json_doc *doc, const char *name)
{
    int64_t number = 0;

    return json_i64(doc, json_get(doc, json_root(doc), str_of(name)), &number) ? number : 0;
}

/* ---- the queue ---- */

struct sums {
    int64_t runs[8], requests[8], throttled[8], records[8], latency_ms[8]; /* by operation */
};

static bool add_run(struct walk *walk, const struct run *run, const struct json_doc *stats,
                    struct error *err)
{
    struct sums *sums = walk->context;
    const int at = (int)run->operation;
    const int64_t requests = number_of(stats, "reqCount");

    (void)err;
    sums->runs[at]++;
    sums->requests[at] += requests;
    sums->throttled[at] += number_of(stats, "429Count");
    sums->records[at] += number_of(stats, "retCount");
    sums->latency_ms[at] += number_of(stats, "avgLatencyMs") * requests;
    return true;
}

static bool add_queue(const struct view_reader *reader, const struct view_recent_filter *filter,
                      struct str source, struct view_queue *queue, struct error *err)
{
    struct sums sums = { 0 };
    struct walk walk = { reader, filter, add_run, &sums };
    struct partition_count_list counts;

    if (!store_status_counts(reader->store, reader->arena, source, filter->from_us, &counts, err) ||
        !see_source(&walk, source, err))
        return false;
    for (size_t i = 0; i < counts.count; i++) {
        const int at = (int)counts.items[i].partition.operation;
        struct view_queue_row *row;

        if (filter->has_operation && (int)filter->operation != at)
            continue;
        row = LIST_ADD(reader->arena, queue);
        if (row == NULL)
            return arena_error(reader->arena, err);
        *row = (struct view_queue_row){ .count = counts.items[i],
                                        .runs = sums.runs[at],
                                        .requests = sums.requests[at],
                                        .throttled = sums.throttled[at],
                                        .records = sums.records[at] };
        row->latency_ms = row->requests > 0 ? sums.latency_ms[at] / row->requests : 0;
    }
    return true;
}

bool view_queue(const struct view_reader *reader, const struct view_recent_filter *filter,
                struct view_queue *queue, struct error *err)
{
    struct registry_entry_list sources;

    *queue = (struct view_queue){ .from_us = filter->from_us, .to_us = filter->to_us };
    if (!sources_of(reader, filter->source, &sources, err))
        return false;
    for (size_t i = 0; i < sources.count; i++) {
        if (!add_queue(reader, filter, sources.items[i].code, queue, err))
            return false;
    }
    return true;
}

static void write_queue_row(struct json_writer *w, const struct view_queue_row *row)
{
    const struct partition_count *count = &row->count;

    json_write_object(w);
    json_write_member_str(w, STR("source"), count->partition.source);
    json_write_member_str(w, STR("endpoint"), count->partition.endpoint);
    json_write_member_str(w, STR("operation"),
                          code_of(&OPERATION_CODES, (int)count->partition.operation));
    json_write_member_i64(w, STR("queued"), count->queued);
    if (count->queued > 0)
        json_write_member_instant(w, STR("firstDueAt"), count->first_us);
    json_write_member_i64(w, STR("running"), count->running);
    json_write_name(w, STR("ended"));
    json_write_object(w);
    for (int i = 0; i < TASK_STATUS_COUNT; i++) {
        if (count->ended[i] > 0)
            json_write_member_i64(w, code_of(&TASK_STATUS_CODES, i), count->ended[i]);
    }
    json_write_end(w);
    json_write_member_i64(w, STR("runs"), row->runs);
    json_write_member_i64(w, STR("requests"), row->requests);
    json_write_member_i64(w, STR("throttled"), row->throttled);
    json_write_member_i64(w, STR("records"), row->records);
    json_write_member_i64(w, STR("avgLatencyMs"), row->latency_ms);
    json_write_end(w);
}

void view_queue_write(struct json_writer *w, const struct view_queue *queue)
{
    json_write_object(w);
    json_write_member_instant(w, STR("from"), queue->from_us);
    json_write_member_instant(w, STR("to"), queue->to_us);
    json_write_name(w, STR("partitions"));
    json_write_array(w);
    for (size_t i = 0; i < queue->count; i++)
        write_queue_row(w, &queue->items[i]);
    json_write_end(w);
    json_write_end(w);
}

/* ---- what they did ---- */

static bool add_sums(struct walk *walk, const struct run *run, const struct json_doc *stats,
                     struct error *err)
{
    struct view_recent_sums *sums = walk->context;

    (void)err;
    (void)run;
    sums->runs++;
    sums->requests += number_of(stats, "reqCount");
    sums->failed += number_of(stats, "retryCount") + number_of(stats, "errorCount");
    sums->throttled += number_of(stats, "429Count");
    sums->records += number_of(stats, "retCount");
    sums->quarantined += number_of(stats, "failed");
    return true;
}

bool view_recent_sums(const struct view_reader *reader, const struct view_recent_filter *filter,
                      struct view_recent_sums *sums, struct error *err)
{
    struct walk walk = { reader, filter, add_sums, sums };

    *sums = (struct view_recent_sums){ 0 };
    if (!see_source(&walk, filter->source, err))
        return false;
    sums->is_full = sums->runs >= VIEW_RECENT_RUNS;
    return true;
}

/* ---- late arrivals ---- */

static bool add_late(struct walk *walk, const struct run *run, const struct json_doc *stats,
                     struct error *err)
{
    struct view_late *late = walk->context;

    (void)err;
    (void)run;
    late->runs++;
    late->stored += number_of(stats, "inserted") + number_of(stats, "updated");
    late->late += number_of(stats, "lateArrival");
    return true;
}

bool view_late(const struct view_reader *reader, const struct view_recent_filter *filter,
               struct view_late_list *list, struct error *err)
{
    struct registry_entry_list sources;

    *list = (struct view_late_list){ .from_us = filter->from_us, .to_us = filter->to_us };
    if (!sources_of(reader, filter->source, &sources, err))
        return false;
    for (size_t i = 0; i < sources.count; i++) {
        struct view_late late = { .source = sources.items[i].code };
        struct walk walk = { reader, filter, add_late, &late };
        struct view_late *row;

        if (!see_runs(&walk, late.source, OPERATION_HARVEST, err))
            return false;
        if (late.runs == 0)
            continue;
        row = LIST_ADD(reader->arena, list);
        if (row == NULL)
            return arena_error(reader->arena, err);
        late.is_full = late.runs >= VIEW_RECENT_RUNS;
        *row = late;
    }
    return true;
}

void view_late_write(struct json_writer *w, const struct view_late_list *list)
{
    json_write_object(w);
    json_write_member_instant(w, STR("from"), list->from_us);
    json_write_member_instant(w, STR("to"), list->to_us);
    json_write_name(w, STR("sources"));
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        json_write_object(w);
        json_write_member_str(w, STR("source"), list->items[i].source);
        json_write_member_i64(w, STR("runs"), list->items[i].runs);
        json_write_member_i64(w, STR("stored"), list->items[i].stored);
        json_write_member_i64(w, STR("late"), list->items[i].late);
        json_write_member_bool(w, STR("isFull"), list->items[i].is_full);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}

/* ---- errors ---- */

static struct view_error *error_of(struct walk *walk, const struct run *run, struct str level,
                                   struct str code)
{
    struct view_error_list *list = walk->context;
    struct view_error *found;

    for (size_t i = 0; i < list->count; i++) {
        found = &list->items[i];
        if (str_eq(found->source, run->source) && found->operation == run->operation &&
            str_eq(found->level, level) && str_eq(found->code, code))
            return found;
    }
    found = LIST_ADD(walk->reader->arena, list);
    if (found != NULL)
        *found = (struct view_error){
            .source = run->source, .operation = run->operation, .level = level, .code = code
        };
    return found;
}

static bool text_of(struct walk *walk, const struct json_doc *doc, struct json_node node,
                    struct str *text, struct error *err)
{
    *text = STR("");
    return json_type(doc, node) != JSON_STRING ||
           json_string(doc, node, walk->reader->arena, text, err);
}

/* Runs come newest first: the first of its kind is the latest. */
static bool add_errors(struct walk *walk, const struct run *run, const struct json_doc *stats,
                       struct error *err)
{
    struct json_iter it = json_each(stats, json_get(stats, json_root(stats), STR("errors")));
    struct str level, code, text;

    while (json_next(&it)) {
        struct view_error *error;

        if (!text_of(walk, stats, json_get(stats, it.value, STR("level")), &level, err) ||
            !text_of(walk, stats, json_get(stats, it.value, STR("code")), &code, err) ||
            !text_of(walk, stats, json_get(stats, it.value, STR("text")), &text, err))
            return false;
        if (walk->filter->level.len > 0 && !str_eq_nocase(walk->filter->level, level))
            continue;
        error = error_of(walk, run, level, code);
        if (error == NULL)
            return arena_error(walk->reader->arena, err);
        error->count++;
        if (error->run_id != 0 && error->run_id != run->id)
            continue;
        error->text = text;
        error->at_us = run->started_us;
        error->task_id = run->task_id;
        error->run_id = run->id;
        error->batch_no = 0;
        (void)json_i64(stats, json_get(stats, it.value, STR("batchNo")), &error->batch_no);
    }
    return true;
}

static int more_frequent(const void *a, const void *b)
{
    const struct view_error *one = a, *other = b;

    if (one->count != other->count)
        return one->count < other->count ? 1 : -1;
    return one->at_us < other->at_us ? 1 : one->at_us > other->at_us ? -1 : 0;
}

bool view_errors(const struct view_reader *reader, const struct view_recent_filter *filter,
                 struct view_error_list *list, struct error *err)
{
    struct walk walk = { reader, filter, add_errors, list };
    struct registry_entry_list sources;

    *list = (struct view_error_list){ 0 };
    if (!sources_of(reader, filter->source, &sources, err))
        return false;
    for (size_t i = 0; i < sources.count; i++) {
        if (!see_source(&walk, sources.items[i].code, err))
            return false;
    }
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(*list->items), more_frequent);
    if ((int64_t)list->count > filter->limit)
        list->count = (size_t)filter->limit;
    return true;
}

void view_errors_write(struct json_writer *w, const struct view_error_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        const struct view_error *error = &list->items[i];

        json_write_object(w);
        json_write_member_str(w, STR("source"), error->source);
        json_write_member_str(w, STR("operation"),
                              code_of(&OPERATION_CODES, (int)error->operation));
        json_write_member_str(w, STR("level"), error->level);
        json_write_member_str(w, STR("code"), error->code);
        json_write_member_i64(w, STR("count"), error->count);
        json_write_member_str(w, STR("text"), error->text);
        json_write_member_instant(w, STR("at"), error->at_us);
        json_write_member_i64(w, STR("taskId"), error->task_id);
        json_write_member_i64(w, STR("runId"), error->run_id);
        json_write_member_i64(w, STR("batchNumber"), error->batch_no);
        json_write_end(w);
    }
    json_write_end(w);
}
