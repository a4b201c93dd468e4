/* The numbers of a run as JSON. */
#include "engine/execute/stats.h"

#include <stdio.h>

#include "base/instant.h"

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
    json_write_member_i64(writer, STR("unchanged"), stats->unchanged);
    json_write_member_i64(writer, STR("older"), stats->older);
    json_write_member_i64(writer, STR("deleted"), stats->deleted);
    json_write_member_i64(writer, STR("signals"), stats->signals);
    json_write_member_i64(writer, STR("bytes"), stats->bytes);
    json_write_member_i64(writer, STR("errorCount"), stats->error_count);
    write_errors(stats, writer);
    json_write_end(writer);
}
