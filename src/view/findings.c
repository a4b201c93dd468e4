/* What the rules find: status has judged most of it; rates, quotas and sums of runs are judged
 * here. */
#include <inttypes.h>

#include "base/instant.h"
#include "base/list.h"
#include "base/text.h"
#include "view/alert.h"
#include "view/recent.h"
#include "view/status.h"

/* The period of rates. Fewer requests in it say nothing. */
#define RATE_US (10 * US_PER_MINUTE)
#define GROWTH_US US_PER_HOUR
#define QUIET_US US_PER_DAY
enum { RATE_REQUESTS_MIN = 20, QUIET_DAYS = 7, QUIET_RECORDS_MIN = 100, PERCENT = 100 };

struct search {
    const struct view_reader *reader;
    struct view_findings *findings;
    struct error *err;
};

static bool add(struct search *search, struct alert_finding finding)
{
    struct alert_finding *slot = LIST_ADD(search->reader->arena, &search->findings->list);

    if (slot == NULL || finding.text.data == NULL || finding.subject.data == NULL)
        return arena_error(search->reader->arena, search->err);
    *slot = finding;
    return true;
}

static int64_t limit_of(const struct search *search, enum alert_rule rule)
{
    return search->findings->limits.of[rule].limit;
}

/* ---- the queue ---- */

static bool find_long_queues(struct search *search, const struct view_source_status *source)
{
    struct arena *arena = search->reader->arena;

    for (size_t i = 0; i < source->counts.count; i++) {
        const struct partition_count *count = &source->counts.items[i];
        const struct str operation = code_of(&OPERATION_CODES, (int)count->partition.operation);
        const struct str subject =
            arena_printf(arena, "%.*s/%.*s %.*s", STR_ARG(source->code),
                         STR_ARG(count->partition.endpoint), STR_ARG(operation));

        if (count->queued >= limit_of(search, ALERT_QUEUE_LONG) &&
            !add(search,
                 (struct alert_finding){ ALERT_QUEUE_LONG, source->code, subject,
                                         arena_printf(arena,
                                                      "%" PRId64 " tasks of %.*s wait. See: patra "
                                                      "status %.*s",
                                                      count->queued, STR_ARG(subject),
                                                      STR_ARG(source->code)) }))
            return false;
    }
    return true;
}

/* ---- runs ---- */

static bool sum(struct search *search, struct str source, struct window period,
                const enum operation *operation, struct view_recent_sums *sums)
{
    const struct view_recent_filter filter = { .source = source,
                                               .has_operation = operation != NULL,
                                               .operation = operation != NULL ? *operation : 0,
                                               .from_us = period.from_us,
                                               .to_us = period.to_us };

    return view_recent_sums(search->reader, &filter, sums, search->err);
}

static bool find_rates(struct search *search, struct str source)
{
    const int64_t now_us = search->findings->now_us;
    struct arena *arena = search->reader->arena;
    struct view_recent_sums sums;
    int64_t failed;

    if (!sum(search, source, (struct window){ now_us - RATE_US, now_us }, NULL, &sums))
        return false;
    if (sums.requests < RATE_REQUESTS_MIN)
        return true;
    failed = sums.failed > sums.throttled ? sums.failed - sums.throttled : 0;
    if (failed * PERCENT > sums.requests * limit_of(search, ALERT_ERROR_RATE) &&
        !add(search,
             (struct alert_finding){
                 ALERT_ERROR_RATE, source, source,
                 arena_printf(arena,
                              "%.*s: %" PRId64 " of %" PRId64
                              " requests of the last ten minutes failed. See which: patra status "
                              "%.*s",
                              STR_ARG(source), failed, sums.requests, STR_ARG(source)) }))
        return false;
    return sums.throttled * PERCENT <= sums.requests * limit_of(search, ALERT_THROTTLED_RATE) ||
           add(search,
               (struct alert_finding){
                   ALERT_THROTTLED_RATE, source, source,
                   arena_printf(arena,
                                "%.*s: %" PRId64 " of %" PRId64
                                " requests of the last ten minutes were answered with 429. Its "
                                "rate is lowered by itself; lower rate.per_second in its file",
                                STR_ARG(source), sums.throttled, sums.requests) });
}

static bool find_growth(struct search *search, struct str source)
{
    const int64_t now_us = search->findings->now_us;
    struct view_recent_sums sums;

    return sum(search, source, (struct window){ now_us - GROWTH_US, now_us }, NULL, &sums) &&
           (sums.quarantined < limit_of(search, ALERT_QUARANTINE_GROWS) ||
            add(search,
                (struct alert_finding){
                    ALERT_QUARANTINE_GROWS, source, source,
                    arena_printf(search->reader->arena,
                                 "%.*s: the runs of the last hour put %" PRId64 " of %" PRId64
                                 " records into quarantine. See why: patra quarantine list %.*s",
                                 STR_ARG(source), sums.quarantined, sums.records,
                                 STR_ARG(source)) }));
}

/* Less than usual: of a source that is harvested by a schedule and not paused. */
static bool find_quiet(struct search *search, const struct view_source_status *source)
{
    static const enum operation harvest = OPERATION_HARVEST;
    const int64_t now_us = search->findings->now_us;
    struct view_recent_sums now, before;
    int64_t mean;

    if (source->schedules.count == 0 || source->pauses.count > 0 || source->is_disabled)
        return true;
    if (!sum(search, source->code, (struct window){ now_us - QUIET_US, now_us }, &harvest, &now) ||
        !sum(search, source->code,
             (struct window){ now_us - (QUIET_DAYS + 1) * QUIET_US, now_us - QUIET_US }, &harvest,
             &before))
        return false;
    mean = before.records / QUIET_DAYS;
    return now.is_full || now.runs == 0 || mean < QUIET_RECORDS_MIN ||
           now.records * PERCENT >= mean * limit_of(search, ALERT_SOURCE_QUIET) ||
           add(search, (struct alert_finding){
                           ALERT_SOURCE_QUIET, source->code, source->code,
                           arena_printf(
                               search->reader->arena,
                               "%.*s brought %" PRId64 " records in the last 24 hours, and %" PRId64
                               " a day in the week before. See what a page holds: patra source "
                               "test %.*s --live",
                               STR_ARG(source->code), now.records, mean, STR_ARG(source->code)) });
}

/* ---- gates and events ---- */

static bool find_quota(struct search *search, const struct view_gate *gate, const char *window,
                       const struct gate_view_quota *quota)
{
    const int64_t left = quota->limit - quota->used - quota->booked;
    struct arena *arena = search->reader->arena;

    return quota->limit == 0 ||
           left * PERCENT >= quota->limit * limit_of(search, ALERT_QUOTA_LOW) ||
           add(search, (struct alert_finding){
                           ALERT_QUOTA_LOW, gate->source,
                           arena_printf(arena, "%.*s %s", STR_ARG(gate->key), window),
                           arena_printf(arena,
                                        "%.*s: %" PRId64 " of %" PRId64
                                        " requests of this %s are left. Tasks wait when none is",
                                        STR_ARG(gate->source), left > 0 ? left : 0, quota->limit,
                                        window) });
}

static bool find_publisher(struct search *search)
{
    struct view_outbox outbox;

    if (!view_outbox(search->reader, &outbox, search->err))
        return false;
    return outbox.is_leased || !outbox.stream.has_oldest ||
           outbox.lag_us <= limit_of(search, ALERT_PUBLISHER_DOWN) ||
           add(search,
               (struct alert_finding){
                   ALERT_PUBLISHER_DOWN, STR(""), STR("publisher"),
                   arena_printf(search->reader->arena,
                                "events have waited for %.*s and nobody publishes. Start patra "
                                "serve, or patra publish",
                                STR_ARG(text_span_in(search->reader->arena, outbox.lag_us))) });
}

static bool find_all(struct search *search, const struct view_status *status)
{
    for (size_t i = 0; i < status->sources.count; i++) {
        const struct view_source_status *source = &status->sources.items[i];

        if (!find_long_queues(search, source) || !find_rates(search, source->code) ||
            !find_growth(search, source->code) || !find_quiet(search, source))
            return false;
    }
    for (size_t i = 0; i < status->gates.count; i++) {
        const struct view_gate *gate = &status->gates.items[i];

        if (!find_quota(search, gate, "hour", &gate->view.hour) ||
            !find_quota(search, gate, "day", &gate->view.day))
            return false;
    }
    return find_publisher(search);
}

bool view_findings(const struct view_reader *reader, struct view_findings *findings,
                   struct error *err)
{
    struct search search = { reader, findings, err };
    const struct view_status_filter all = { 0 };
    struct view_status status;

    *findings = (struct view_findings){ 0 };
    if (!view_status(reader, &all, &status, err))
        return false;
    findings->now_us = status.now_us;
    findings->limits = status.limits;
    findings->list = status.needs;
    return find_all(&search, &status);
}
