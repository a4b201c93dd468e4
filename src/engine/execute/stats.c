/* The numbers of a batch and of its run: as JSON, back, and summed. */
#include "engine/execute/stats.h"

#include <stdio.h>

#include "base/instant.h"
#include "core/limits.h"
#include "data/json.h"
#include "engine/execute/commit.h"

/* ---- a run ---- */

void run_stats_error(struct run_stats *stats, int64_t batch_no, const struct error *error)
{
    const int64_t place =
        stats->error_count < RUN_STATS_ERRORS_MAX ? stats->error_count : RUN_STATS_ERRORS_MAX - 1;
    struct run_stats_error *kept = &stats->errors[place];

    stats->error_count++;
    kept->batch_no = batch_no;
    kept->level = error->level;
    kept->code = error->code;
    (void)snprintf(kept->text, sizeof(kept->text), "%.*s", RUN_STATS_TEXT_MAX - 1, error->text);
}

static void write_errors(const struct run_stats *stats, struct json_writer *w)
{
    json_write_name(w, STR("errors"));
    json_write_array(w);
    for (int64_t i = 0; i < stats->error_count && i < RUN_STATS_ERRORS_MAX; i++) {
        const struct run_stats_error *error = &stats->errors[i];

        json_write_object(w);
        json_write_member_i64(w, STR("batchNo"), error->batch_no);
        json_write_member_str(w, STR("level"), str_of(error_level_name(error->level)));
        json_write_member_str(w, STR("code"), str_of(error->code));
        json_write_member_str(w, STR("text"), str_of(error->text));
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_doubts(const struct run_stats *stats, struct json_writer *w)
{
    json_write_name(w, STR("doubts"));
    json_write_array(w);
    for (int i = 0; i < FETCH_DOUBTS; i++) {
        if (stats->doubts[i])
            json_write_str(w, str_of(fetch_doubt_name((enum fetch_doubt)i)));
    }
    json_write_end(w);
}

void run_stats_write(const struct run_stats *stats, struct json_writer *writer)
{
    const int64_t average_us =
        stats->latency_count > 0 ? stats->latency_us / stats->latency_count : 0;

    json_write_object(writer);
    json_write_member_i64(writer, STR("reqCount"), stats->requests);
    json_write_member_i64(writer, STR("retCount"), stats->returned);
    json_write_member_i64(writer, STR("inserted"), stats->created);
    json_write_member_i64(writer, STR("updated"), stats->updated + stats->deleted);
    json_write_member_i64(writer, STR("skipped"), stats->unchanged + stats->older);
    json_write_member_i64(writer, STR("failed"), stats->quarantined);
    json_write_member_i64(writer, STR("retryCount"), stats->retries);
    json_write_member_i64(writer, STR("429Count"), stats->throttled);
    json_write_member_i64(writer, STR("avgLatencyMs"), average_us / US_PER_MS);
    json_write_member_i64(writer, STR("maxLatencyMs"), stats->latency_max_us / US_PER_MS);
    json_write_member_i64(writer, STR("pagesVisited"), stats->pages);
    json_write_member_bool(writer, STR("hasNextLast"), stats->has_next);
    json_write_member_bool(writer, STR("rateAdjusted"), stats->slowed > 0);
    json_write_member_str(writer, STR("remarks"),
                          stats->needs_reslice ? STR("online-reslice-suggested:true")
                                               : STR("online-reslice-suggested:false"));
    json_write_member_i64(writer, STR("permitsTotal"), stats->requests);
    json_write_member_i64(writer, STR("waitTotalMs"), stats->waited_us / US_PER_MS);
    json_write_member_i64(writer, STR("retryAfterHits"), stats->waits_told);
    json_write_member_i64(writer, STR("demoteEvents"), stats->slowed);
    json_write_member_i64(writer, STR("quotaHardHits"), stats->quota_gone);
    json_write_member_bool(writer, STR("circuitOpen"), stats->is_circuit_open);
    json_write_member_i64(writer, STR("changedSameDate"), stats->same_date);
    json_write_member_i64(writer, STR("futureDates"), stats->future);
    json_write_member_i64(writer, STR("lateArrival"), stats->late);
    json_write_member_i64(writer, STR("unchanged"), stats->unchanged);
    json_write_member_i64(writer, STR("older"), stats->older);
    json_write_member_i64(writer, STR("deleted"), stats->deleted);
    json_write_member_i64(writer, STR("signals"), stats->signals);
    json_write_member_i64(writer, STR("bytes"), stats->bytes);
    write_doubts(stats, writer);
    json_write_member_i64(writer, STR("errorCount"), stats->error_count);
    write_errors(stats, writer);
    json_write_end(writer);
}

/* ---- a batch ---- */

static void write_cause(struct json_writer *w, const struct error *error)
{
    json_write_name(w, STR("error"));
    json_write_object(w);
    json_write_member_str(w, STR("level"), str_of(error_level_name(error->level)));
    json_write_member_str(w, STR("code"), str_of(error->code));
    json_write_member_str(w, STR("text"), str_of(error->text));
    json_write_end(w);
}

bool batch_stats_write(struct arena *arena, const struct fetch_batch *batch,
                       const struct commit_result *result, const struct error *cause,
                       struct str *json, struct error *err)
{
    struct json_writer writer;
    struct buf out;

    buf_init(&out, arena, PAGE_BYTES_MAX);
    json_writer_init(&writer, &out);
    json_write_object(&writer);
    fetch_stats_write(&writer, batch);
    json_write_member_i64(&writer, STR("inserted"), result->created);
    json_write_member_i64(&writer, STR("updated"), result->updated + result->deleted);
    json_write_member_i64(&writer, STR("skipped"), result->unchanged + result->older);
    json_write_member_i64(&writer, STR("failed"), result->quarantined);
    json_write_member_i64(&writer, STR("changedSameDate"), result->same_date);
    json_write_member_i64(&writer, STR("futureDates"), result->future);
    if (result->late > 0)
        json_write_member_i64(&writer, STR("lateArrival"), result->late);
    json_write_member_i64(&writer, STR("unchanged"), result->unchanged);
    json_write_member_i64(&writer, STR("older"), result->older);
    json_write_member_i64(&writer, STR("deleted"), result->deleted);
    json_write_member_i64(&writer, STR("signals"), result->signals);
    if (result->has_latest)
        json_write_member_i64(&writer, STR("latestUs"), result->latest_us);
    if (result->observed_us > 0)
        json_write_member_i64(&writer, STR("observedUs"), result->observed_us);
    if (cause != NULL)
        write_cause(&writer, cause);
    json_write_end(&writer);
    json_writer_finish(&writer);
    *json = buf_str(&out);
    return buf_ok(&out, err);
}

/* A count: no batch has INT32_MAX records. */
static bool read_count(const struct json_doc *doc, struct str name, int64_t *count,
                       struct error *err)
{
    return (json_i64(doc, json_get(doc, json_root(doc), name), count) && *count >= 0 &&
            *count <= INT32_MAX) ||
           error_set(err, ERROR_FATAL, "store.corrupt", "no count '%.*s'", STR_ARG(name));
}

bool batch_stats_read(struct arena *arena, struct str json, struct commit_result *result,
                      struct error *err)
{
    struct json_doc doc;

    if (!json_parse(&doc, arena, json, err) ||
        !read_count(&doc, STR("inserted"), &result->created, err) ||
        !read_count(&doc, STR("deleted"), &result->deleted, err) ||
        !read_count(&doc, STR("updated"), &result->updated, err) ||
        !read_count(&doc, STR("changedSameDate"), &result->same_date, err) ||
        !read_count(&doc, STR("futureDates"), &result->future, err) ||
        !read_count(&doc, STR("unchanged"), &result->unchanged, err) ||
        !read_count(&doc, STR("older"), &result->older, err) ||
        !read_count(&doc, STR("failed"), &result->quarantined, err) ||
        !read_count(&doc, STR("signals"), &result->signals, err))
        return false;
    if (result->updated < result->deleted)
        return error_set(err, ERROR_FATAL, "store.corrupt", "more deleted than changed");
    result->updated -= result->deleted;
    if (json_exists(json_get(&doc, json_root(&doc), STR("lateArrival"))) &&
        !read_count(&doc, STR("lateArrival"), &result->late, err))
        return false;
    result->has_latest =
        json_i64(&doc, json_get(&doc, json_root(&doc), STR("latestUs")), &result->latest_us);
    if (!json_i64(&doc, json_get(&doc, json_root(&doc), STR("observedUs")), &result->observed_us))
        result->observed_us = 0;
    return true;
}

void batch_stats_sum(struct run_stats *stats, const struct fetch_batch *batch,
                     const struct commit_result *result, const struct error *cause)
{
    const struct fetch_counts *counts = &batch->counts;

    stats->requests += counts->requests;
    stats->returned += counts->items;
    stats->created += result->created;
    stats->updated += result->updated;
    stats->same_date += result->same_date;
    stats->future += result->future;
    stats->late += result->late;
    stats->unchanged += result->unchanged;
    stats->older += result->older;
    stats->deleted += result->deleted;
    stats->quarantined += result->quarantined;
    stats->signals += result->signals;
    stats->retries += counts->retries;
    stats->throttled += counts->throttled;
    stats->bytes += counts->bytes;
    stats->waited_us += counts->waited_us;
    stats->waits_told += counts->retry_afters;
    stats->slowed += counts->slowed;
    stats->quota_gone += counts->quota_gone;
    for (int i = 0; i < FETCH_DOUBTS; i++)
        stats->doubts[i] |= batch->is_last && batch->verdict.doubts[i];
    if (counts->latency_max_us > stats->latency_max_us)
        stats->latency_max_us = counts->latency_max_us;
    if (cause != NULL) {
        run_stats_error(stats, batch->batch_no, cause);
        return;
    }
    stats->latency_us += counts->latency_us;
    stats->latency_count += counts->requests > 0;
    stats->pages += !batch->is_rest;
    stats->has_next = batch->has_next;
}
