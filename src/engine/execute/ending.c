/* Verdicts and failures become endings. */
#include "engine/execute/ending.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "core/clock_jump.h"
#include "core/retry.h"
#include "data/utf8.h"

/* ---- parts ---- */

/* As a store can keep it, even if it quotes a source: a task whose end cannot be stored never
 * ends. Rows, summaries and pauses show it, so it has no personal data. */
static void set_text(struct ending *ending, struct str text)
{
    size_t len = 0;

    for (size_t at = 0; at < text.len;) {
        const size_t count = utf8_sequence(text.data + at, text.data + text.len);
        const bool is_one = count > 0 && text.data[at] != '\0';
        const size_t taken = count > 0 ? count : 1;

        if (len + taken >= sizeof(ending->text))
            break;
        if (is_one)
            memcpy(ending->text + len, text.data + at, taken);
        else
            ending->text[len] = '?';
        len += is_one ? taken : 1;
        at += taken;
    }
    ending->text[mask_personal(ending->text, len)] = '\0';
}

static struct ending final(enum task_status status, const char *text)
{
    struct ending ending = { .kind = ENDING_FINAL, .status = status };

    set_text(&ending, str_of(text));
    return ending;
}

static struct ending later(int64_t retry_at_us, const char *text)
{
    struct ending ending = { .kind = ENDING_LATER,
                             .retry_at_us = retry_at_us,
                             .retry_reason = WAIT_BACKOFF };

    set_text(&ending, str_of(text));
    return ending;
}

static struct ending partial(enum partial_reason reason, struct window covered, struct str text)
{
    struct ending ending = { .kind = ENDING_FINAL,
                             .status = TASK_PARTIAL,
                             .has_reason = true,
                             .reason = reason,
                             .covered = covered };

    set_text(&ending, text);
    return ending;
}

/* With the pieces of the slice, unless its family has spent too much already. */
static struct ending reslice_later(struct ending ending, enum reslice_reason reason,
                                   const struct ending_input *input)
{
    if (input->is_over_budget) {
        ending.reason = PARTIAL_OVER_BUDGET;
        return ending;
    }
    ending.needs_reslice = true;
    ending.reslice = reason;
    return ending;
}

/* A slice by page or by id has no window, and covers none. */
static struct window own_window(const struct slice *slice)
{
    return slice->dimension == SLICE_TIME ? slice->window : (struct window){ 0, 0 };
}

/* ---- what the walk found ---- */

/* Nothing is missing but ids that failed in this run and in an earlier task. Each is a signal; to
 * fetch the slice again for them would never end. */
static bool fails_for_good(const struct fetch_verdict *verdict, const struct ending_input *input)
{
    return verdict->failed_ids > 0 && input->failed_again >= verdict->failed_ids;
}

/* The window ends after the present of the source, by the date of its responses: this host's clock
 * is ahead, or a cache has answered. What comes until then is not in the list. */
static bool ends_in_the_future(const struct fetch_verdict *verdict, const struct slice *slice)
{
    return (slice->dimension == SLICE_TIME || slice->dimension == SLICE_PAGE) &&
           verdict->dated_us != 0 && slice->window.to_us - verdict->dated_us > CLOCK_STEP_MAX_US;
}

/* Covered is what was there when the list was made. */
static struct ending cut_at_present(const struct fetch_verdict *verdict, const struct slice *slice)
{
    struct window covered = own_window(slice);
    char text[ERROR_TEXT_MAX], dated[INSTANT_TEXT_MAX], to[INSTANT_TEXT_MAX];

    if (covered.to_us > verdict->dated_us)
        covered.to_us = verdict->dated_us;
    if (!window_is_valid(covered) || id_range_is_valid(slice->part))
        covered = (struct window){ 0, 0 };
    (void)instant_format(verdict->dated_us, dated);
    (void)instant_format(slice->window.to_us, to);
    snprintf(text, sizeof(text),
             "its window ends at %s, and the source answered at %s by its own clock (Date): only "
             "what is before that counts as fetched. Is this host's clock ahead (patra clock "
             "show)? If the source's is behind, or a cache answers, raise window.lag",
             to, dated);
    return partial(PARTIAL_CUT_SHORT, covered, str_of(text));
}

struct ending ending_of_verdict(const struct fetch_verdict *verdict,
                                const struct ending_input *input)
{
    const struct window nothing = { 0, 0 };
    struct ending ending;

    switch (verdict->kind) {
    case FETCH_COMPLETE:
        if (ends_in_the_future(verdict, input->slice))
            return cut_at_present(verdict, input->slice);
        if (verdict->lost_ids > 0)
            return partial(PARTIAL_HOLES, own_window(input->slice), verdict->reason);
        ending = final(TASK_SUCCEEDED, "");
        set_text(&ending, verdict->reason);
        return ending;
    case FETCH_SHORTFALL:
        if (input->slice->dimension == SLICE_FEED && verdict->failed_ids == 0)
            return partial(PARTIAL_CUT_SHORT, nothing, verdict->reason); /* it has no signals */
        return partial(PARTIAL_HOLES,
                       fails_for_good(verdict, input) ? own_window(input->slice) : nothing,
                       verdict->reason);
    case FETCH_DRIFT:
        ending = partial(PARTIAL_HOLES, nothing, verdict->reason);
        return input->can_reslice ? reslice_later(ending, RESLICE_TOO_DEEP, input) : ending;
    case FETCH_CUT_SHORT:
        if (page_is_dead_end(verdict->end))
            return partial(PARTIAL_DEAD_END, verdict->finished, verdict->reason);
        ending = partial(PARTIAL_CUT_SHORT, verdict->finished, verdict->reason);
        return input->can_reslice ? reslice_later(ending, RESLICE_TOO_DEEP, input) : ending;
    case FETCH_OVER_BUDGET:
        return partial(PARTIAL_OVER_BUDGET, verdict->finished, verdict->reason);
    case FETCH_RESLICE:
        break;
    }
    return reslice_later(partial(PARTIAL_CUT_SHORT, verdict->finished, verdict->reason),
                         verdict->reslice, input);
}

/* ---- what went wrong ---- */

/* Runs wait longer than requests do: from the source's longest delay on, up to 16 of them. */
static int64_t next_run_us(const struct ending_input *input)
{
    struct retry_policy policy = *input->retry;

    policy.delay_min_us = input->retry->delay_max_us;
    policy.delay_max_us = 16 * input->retry->delay_max_us;
    return input->now_us + retry_delay_us(&policy, (int)input->idle_runs + 1, input->random, 0);
}

/* A wait that the source or the gate demands is not a failure of the task. */
static bool must_wait(const struct error *err, const struct ending_input *input)
{
    return input->retry_at_us > input->now_us || fetch_error_is_rejected(err);
}

/* A walk that starts over commits its first pages in every run, so batches do not show progress. A
 * shorter walk may reach its end. */
static struct ending lost_for_good(const struct error *err, const struct ending_input *input)
{
    const struct window nothing = { 0, 0 };

    if (input->batches > 0 && input->can_reslice)
        return reslice_later(partial(PARTIAL_CUT_SHORT, nothing, str_of(err->text)),
                             RESLICE_TOO_DEEP, input);
    return final(TASK_FAILED, err->text);
}

static struct ending transient(const struct error *err, const struct ending_input *input)
{
    const int64_t idle_runs = input->batches > 0 ? 0 : input->idle_runs + 1;
    struct ending ending;

    if (fetch_error_is_cancelled(err))
        return ending_stopped(input);
    if (must_wait(err, input)) {
        ending = later(input->retry_at_us > input->now_us ? input->retry_at_us : next_run_us(input),
                       err->text);
        ending.retry_reason = input->retry_reason;
        return ending;
    }
    if (fetch_error_is_restarts(err) && input->runs >= ENDING_IDLE_RUNS_MAX)
        ending = lost_for_good(err, input);
    else if (idle_runs >= ENDING_IDLE_RUNS_MAX)
        ending = final(TASK_FAILED, err->text);
    else
        ending = later(next_run_us(input), err->text);
    ending.is_outage = true;
    return ending;
}

struct ending ending_of_failure(const struct error *err, const struct ending_input *input)
{
    const struct window nothing = { 0, 0 };
    struct ending ending;

    switch (err->level) {
    case ERROR_NONE:
    case ERROR_TRANSIENT:
        return transient(err, input);
    case ERROR_REQUEST:
    case ERROR_DATA:
        /* After the first page a shorter walk may succeed where a long one is refused. */
        if (input->batches > 0 && input->can_reslice && fetch_error_is_of_response(err))
            return reslice_later(
                partial(PARTIAL_CUT_SHORT, nothing, (struct str){ err->text, strlen(err->text) }),
                RESLICE_TOO_DEEP, input);
        return final(TASK_FAILED, err->text);
    case ERROR_FATAL:
        break;
    }
    ending = final(TASK_FAILED, err->text);
    ending.is_stop = true;
    return ending;
}

struct ending ending_of_store(const struct error *err, const struct ending_input *input)
{
    if (err->level == ERROR_REQUEST || err->level == ERROR_DATA)
        return ending_of_failure(err, input);
    return later(next_run_us(input), err->text);
}

/* ---- before the first request ---- */

/* A window is held back for a person. Anything else is planned again as it comes. */
struct ending ending_crashed(const struct ending_input *input, int64_t crashes)
{
    const struct window nothing = { 0, 0 };
    char text[ERROR_TEXT_MAX];

    snprintf(text, sizeof(text),
             "%" PRId64 " workers in a row died, or stood still for longer than their lease, "
             "before they had stored a batch of it",
             crashes);
    if (input->slice->dimension == SLICE_TIME)
        return partial(PARTIAL_CRASHED, nothing, str_of(text));
    return final(TASK_FAILED, text);
}

/* ---- between batches ---- */

struct ending ending_stopped(const struct ending_input *input)
{
    return later(input->now_us, "its worker stopped");
}

struct ending ending_paused(const struct ending_input *input)
{
    return later(input->now_us, "paused");
}

struct ending ending_plan_cancelled(void)
{
    return final(TASK_CANCELLED, "its plan was cancelled");
}

struct ending ending_task_cancelled(struct str reason)
{
    struct ending ending = { .kind = ENDING_FINAL, .status = TASK_CANCELLED };

    set_text(&ending, reason);
    return ending;
}

struct ending ending_unstorable(const struct error *err)
{
    char text[128];

    snprintf(text, sizeof(text), "its end could not be stored as it was (%s)", err->code);
    return final(TASK_FAILED, text);
}

struct ending ending_overtaken(void)
{
    return (struct ending){ .kind = ENDING_OVERTAKEN, .text = "overtaken: its lease had run out" };
}
