/* The arithmetic of progress. */
#include "worker/progress.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "data/json.h"

/* Trouble is shown for this long after it last occurred. */
#define TROUBLE_SHOWN_US (10 * US_PER_SECOND)

/* An estimate is shown after this long, and while its two speeds differ by less than this factor.
 */
#define ETA_AFTER_US (5 * US_PER_SECOND)
enum { ETA_TIMES_MAX = 3 };

/* Room for the digest of one response as an indexed document. */
#define DIGEST_BYTES_MAX ((size_t)256 << 10)

void progress_init(struct progress *progress, int64_t worker_count, int64_t now_us)
{
    assert(worker_count > 0 && worker_count <= PROGRESS_WORKERS_MAX);
    *progress = (struct progress){ .started_us = now_us, .worker_count = worker_count };
    progress_tick(progress, now_us);
}

static int64_t records_of(const struct progress_sums *sums)
{
    return sums->created + sums->updated + sums->unchanged + sums->deleted + sums->quarantined;
}

/* ---- events ---- */

/* The source's count for the slice, from the digest of the response. */
static bool total_of(const struct fetch_batch *batch, int64_t *total)
{
    struct json_doc doc;
    struct arena arena;
    struct error err;
    bool has;

    arena_init(&arena, DIGEST_BYTES_MAX);
    has = json_parse(&doc, &arena, batch->response_digest, &err) &&
          json_i64(&doc, json_get(&doc, json_root(&doc), STR("total")), total) && *total >= 0;
    arena_release(&arena);
    return has;
}

static void add_batch(struct progress *progress, struct progress_worker *worker,
                      const struct executor_event *event)
{
    struct progress_sums *sums = &progress->sums;
    const struct commit_result *commit = event->commit;
    const struct fetch_batch *batch = event->batch;

    if (commit != NULL) {
        sums->batches++;
        sums->created += commit->created;
        sums->updated += commit->updated;
        sums->same_date += commit->same_date;
        sums->future += commit->future;
        sums->unchanged += commit->unchanged + commit->older;
        sums->deleted += commit->deleted;
        sums->quarantined += commit->quarantined;
        worker->received += commit->created + commit->updated + commit->unchanged + commit->older +
                            commit->deleted + commit->quarantined;
    }
    if (batch == NULL)
        return;
    sums->lost_ids += (int64_t)batch->lost_count;
    for (size_t i = 0; i < batch->lost_count; i++)
        sums->refused_ids += batch->lost[i].reason == FETCH_LOST_REFUSED;
    for (int i = 0; i < FETCH_DOUBTS; i++)
        sums->doubts[i] += batch->is_last && batch->verdict.doubts[i];
    sums->requests += batch->counts.requests;
    sums->retries += batch->counts.retries;
    sums->throttled += batch->counts.throttled;
    sums->bytes += batch->counts.bytes;
    sums->waited_us += batch->counts.waited_us;
    if (batch->kind != FETCH_DETAILS && total_of(batch, &worker->total))
        worker->has_total = true;
}

static void note_trouble(struct progress *progress, const struct executor_event *event)
{
    progress->trouble_us = event->now_us;
    (void)snprintf(progress->trouble, sizeof(progress->trouble), "%.255s",
                   event->err != NULL ? event->err->text : "");
}

static void note_put_off(struct progress *progress, const struct ending *ending)
{
    if (ending == NULL || ending->kind != ENDING_LATER)
        return;
    progress->put_off_us = ending->retry_at_us;
    progress->put_off_reason = ending->retry_reason;
}

void progress_see(struct progress *progress, int64_t index, const struct executor_event *event)
{
    struct progress_worker *worker;

    assert(index >= 0 && index < progress->worker_count);
    worker = &progress->workers[index];
    switch (event->kind) {
    case EXECUTOR_STARTED:
        *worker = (struct progress_worker){ .state = WORKER_WORKING, .has_worked = true };
        break;
    case EXECUTOR_WAITING:
        worker->state = WORKER_WAITING;
        worker->until_us = event->until_us;
        worker->reason = event->reason;
        break;
    case EXECUTOR_BATCH:
        worker->state = WORKER_WORKING;
        add_batch(progress, worker, event);
        break;
    case EXECUTOR_ENDED:
        if (event->ending != NULL && event->ending->kind == ENDING_FINAL)
            progress->sums.tasks++;
        else
            progress->sums.given_back++;
        *worker = (struct progress_worker){ .state = WORKER_IDLE, .has_worked = true };
        note_put_off(progress, event->ending);
        break;
    case EXECUTOR_IDLE:
        *worker = (struct progress_worker){ .state = WORKER_IDLE,
                                            .has_worked = worker->has_worked,
                                            .until_us = event->until_us,
                                            .reason = event->reason };
        break;
    case EXECUTOR_CURSOR:
        break;
    case EXECUTOR_TROUBLE:
        note_trouble(progress, event);
        break;
    }
}

void progress_slices(struct progress *progress, int64_t total, int64_t ended)
{
    progress->slices = total;
    progress->slices_ended = ended;
    progress->tasks_counted = progress->sums.tasks;
}

void progress_allowed(struct progress *progress, int64_t per_1000s)
{
    progress->allowed_per_1000s = per_1000s;
}

/* ---- how far and how fast ---- */

/* The store counts ended slices now and then; those that workers have ended since are added. An old
 * number divided by a new time would make every estimate swing between two counts. */
static int64_t ended_of(const struct progress *progress)
{
    const int64_t ended = progress->slices_ended + progress->sums.tasks - progress->tasks_counted;

    return ended < progress->slices ? ended : progress->slices;
}

static int64_t units_of(const struct progress *progress)
{
    const int64_t ended = ended_of(progress);
    int64_t units = ended * 1000;
    int64_t live = progress->slices - ended;

    for (int64_t i = 0; i < progress->worker_count && live > 0; i++) {
        const struct progress_worker *worker = &progress->workers[i];

        if (worker->state == WORKER_IDLE || !worker->has_total || worker->total == 0)
            continue;
        units += worker->received >= worker->total ? 1000 : worker->received * 1000 / worker->total;
        live--; /* the store's count may be older than the workers' events */
    }
    return units;
}

static const struct progress_sample *sample_at(const struct progress *progress, size_t age)
{
    return &progress
                ->samples[(progress->sample_next + PROGRESS_SAMPLES - 1 - age) % PROGRESS_SAMPLES];
}

void progress_tick(struct progress *progress, int64_t now_us)
{
    if (progress->sample_count > 0 && now_us - sample_at(progress, 0)->at_us < US_PER_SECOND)
        return;
    progress->samples[progress->sample_next] =
        (struct progress_sample){ now_us, units_of(progress), records_of(&progress->sums),
                                  progress->sums.requests };
    progress->sample_next = (progress->sample_next + 1) % PROGRESS_SAMPLES;
    if (progress->sample_count < PROGRESS_SAMPLES)
        progress->sample_count++;
}

static int64_t per_1000s(int64_t count, int64_t span_us)
{
    if (span_us <= 0 || count <= 0)
        return 0;
    return (int64_t)((double)count * 1000 * (double)US_PER_SECOND / (double)span_us);
}

/* The oldest sample that is not too old. */
static const struct progress_sample *oldest_of(const struct progress *progress, int64_t now_us)
{
    size_t age = progress->sample_count - 1;

    while (age > 0 && now_us - sample_at(progress, age)->at_us > PROGRESS_SPAN_US)
        age--;
    return sample_at(progress, age);
}

/* How long the rest takes at a speed; -1: nothing moves. */
static int64_t time_of(int64_t left, int64_t units, int64_t span_us)
{
    if (units <= 0 || span_us <= 0)
        return -1;
    return (int64_t)((double)left * (double)span_us / (double)units);
}

/* By the speed of late and by that since the start. */
static struct progress_eta eta_of(const struct progress *progress,
                                  const struct progress_sample *from, int64_t now_us)
{
    const int64_t units = units_of(progress), left = progress->slices * 1000 - units;
    const int64_t late_us = time_of(left, units - from->units, now_us - from->at_us);
    const int64_t whole_us = time_of(left, units, now_us - progress->started_us);
    struct progress_eta eta = { .least_us = late_us < whole_us ? late_us : whole_us,
                                .most_us = late_us < whole_us ? whole_us : late_us };

    if (left <= 0)
        return (struct progress_eta){ .is_known = true };
    eta.is_known = eta.least_us >= 0 && now_us - progress->started_us >= ETA_AFTER_US &&
                   eta.most_us / ETA_TIMES_MAX <= eta.least_us;
    return eta;
}

/* The average over the workers that had a task: a harvest of a minute does not wait for four. */
static int64_t waited_of(const struct progress *progress)
{
    int64_t count = 0;

    for (int64_t i = 0; i < progress->worker_count; i++)
        count += progress->workers[i].has_worked;
    return count > 0 ? progress->sums.waited_us / count : progress->sums.waited_us;
}

static void take_earlier(struct progress_wait *wait, const struct progress_worker *worker,
                         bool is_first)
{
    if (is_first ||
        (worker->until_us > 0 && (wait->until_us == 0 || worker->until_us < wait->until_us)))
        *wait = (struct progress_wait){ .until_us = worker->until_us, .reason = worker->reason };
}

/* A worker whose wait is over is working. */
static bool is_waiting(const struct progress_worker *worker, int64_t now_us)
{
    return worker->state == WORKER_WAITING && (worker->until_us == 0 || worker->until_us > now_us);
}

static void count_workers(const struct progress *progress, int64_t now_us,
                          struct progress_view *view)
{
    for (int64_t i = 0; i < progress->worker_count; i++) {
        const struct progress_worker *worker = &progress->workers[i];

        if (is_waiting(worker, now_us))
            take_earlier(&view->wait, worker, view->waiting++ == 0);
        else if (worker->state != WORKER_IDLE)
            view->working++;
        else if (worker->until_us > now_us) {
            take_earlier(&view->rest, worker, !view->is_resting);
            view->is_resting = true;
        }
    }
    view->is_resting = view->is_resting && view->working + view->waiting == 0;
    view->wait.left_us = view->wait.until_us - now_us;
    view->rest.left_us = view->rest.until_us - now_us;
    /* The queue only knows that a task is not due yet; the worker that put it off knows why. */
    if (view->rest.reason == WAIT_DUE && progress->put_off_us > now_us)
        view->rest.reason = progress->put_off_reason;
}

struct progress_view progress_view(const struct progress *progress, int64_t now_us)
{
    const struct progress_sample *from = oldest_of(progress, now_us);
    const int64_t units = units_of(progress), span_us = now_us - from->at_us;
    struct progress_view view = {
        .elapsed_us = now_us - progress->started_us,
        .slices = progress->slices,
        .slices_ended = progress->slices_ended,
        .permille = progress->slices > 0 ? units / progress->slices : 0,
        .records = records_of(&progress->sums),
        .sums = progress->sums,
        .requests_per_1000s = per_1000s(progress->sums.requests - from->requests, span_us),
        .allowed_per_1000s = progress->allowed_per_1000s,
        .eta = eta_of(progress, from, now_us),
        .waited_us = waited_of(progress),
        .trouble = now_us - progress->trouble_us < TROUBLE_SHOWN_US ? progress->trouble : "",
    };

    view.records_per_1000s = per_1000s(view.records - from->records, span_us);
    count_workers(progress, now_us, &view);
    return view;
}
