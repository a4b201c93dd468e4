/* fetch: one slice, walked from its first request to a verdict. This is the whole of what the part
 * of the executor that keeps books needs to know of the part that talks to sources.
 *
 *      struct fetch *fetch;
 *      struct fetch_batch batch;
 *
 *      if (!fetch_open(&fetch, &parts, &order, &err)) ...
 *      do {
 *          if (!fetch_next(fetch, &batch, &err)) {
 *              ... the batch row is FAILED, with batch.request_digest and the error; the run ends,
 *                  or goes on later (batch.retry_at_us) from the last checkpoint that was stored
 *          }
 *          ... one transaction: records, quarantine, ids, batch row, run.checkpoint
 *      } while (!batch.is_last);
 *      ... batch.verdict
 *      fetch_close(fetch);
 *
 * There is no store behind this header: what is handed out is committed by the caller, wholly or
 * not at all. Nothing here decides what happens to a task, a slice or a cursor; the verdict says
 * what was found, and the caller draws the conclusion.
 *
 * Three kinds of batches. A walk over pages gives FETCH_PAGE. In two phases, pages of ids
 * (FETCH_IDS, no records) and detail requests (FETCH_DETAILS) alternate. An operation by id has
 * only FETCH_DETAILS.
 *
 *      FETCH_PAGE      records, bad records               before/after: page, token or URL
 *      FETCH_IDS       ids: new ones, to be kept durably   likewise
 *      FETCH_DETAILS   records, bad records, lost ids
 *
 * Long answers. What has more than order.batch_records records comes in several batches (is_rest on
 * all but the first), so that no transaction lasts long. Until the last of them is stored, the
 * checkpoint is that of the batch before them all: who dies in between asks for the page again, and
 * finds its first records stored. Counts of requests come with the first of them, what is bad or
 * lost and the place in the walk (page, tokens) with the last.
 *
 * Resuming. batch.checkpoint (JSON, no secrets) is stored with the batch; given back in the order
 * of the next run, the walk goes on behind that batch: nothing is fetched twice. Sources whose
 * pages can not be asked for again (scrolls, history servers) begin their walk anew, and say so in
 * the verdict's numbers. order.ids must then hold, in order, the ids of all FETCH_IDS batches that
 * were stored in this task; for an operation by id, the same list as before.
 *
 * Sweeps. Where a walk ends and its own numbers say that something is missing, came twice, or moved
 * while it was read, the pages are walked again from the beginning, FETCH_SWEEPS_MAX times in all;
 * the records come again, in further batches, and the verdict is that of the last sweep. In two
 * phases only ids that are new are handed out again.
 *
 * Waiting. Every attempt asks the gate first and tells it how it went. Between attempts the walk
 * sleeps on the clock, at most order.wait_max_us at a time: longer waits (a Retry-After of an hour,
 * a quota that is gone) end fetch_next with an error and batch.retry_at_us, so that no lease runs
 * out meanwhile. When wake_fd becomes readable a sleep ends with "fetch.cancelled" (L1).
 *
 * Prefetch. Where the next request is known and the gate allows it at once, it is on its way while
 * the caller stores this batch. So a batch is valid until the next fetch_next or fetch_close, and
 * the http handle is busy in between: it must be used for nothing else.
 *
 * Errors, besides those of answer.h, listing.h, request.h and port/http.h: "fetch.cancelled" (L1),
 * "fetch.rejected" (L1: the gate said REJECT), "fetch.checkpoint" (L4: unreadable),
 * "fetch.restarts" (L1: the walk was lost too often), "fetch.refused" (L2: too many ids were).
 * After a failure only fetch_close is allowed.
 *
 * Threads: one at a time. Memory: two arenas of BATCH_BYTES_MAX, and the walk's own.
 */
#ifndef PATRA_ENGINE_FETCH_FETCH_H
#define PATRA_ENGINE_FETCH_FETCH_H

#include <string.h>

#include "core/codes.h"
#include "core/slice.h"
#include "core/wait.h"
#include "data/http_fault.h"
#include "data/json_write.h"
#include "engine/fetch/page.h"
#include "engine/fetch/record.h"
#include "engine/fetch/response.h"
#include "port/clock.h"
#include "port/gate.h"
#include "port/http.h"
#include "port/random.h"
#include "port/secret.h"
#include "spec/spec.h"

/* Walks over the same pages before the last verdict counts. */
enum { FETCH_SWEEPS_MAX = 3 };
/* Walks begun anew because a page was lost (a scroll) or a token had expired. */
enum { FETCH_RESTARTS_MAX = 8 };
/* Records in one batch, which is one transaction: the time it takes stays short enough for others
 * that wait for the same rows. */
enum { FETCH_RECORDS_MAX = 250 };
/* Pages asked for once more because records on them could not be judged, per walk. (A batch of ids
 * that is answered by nothing at all is always asked for once more.) */
enum { FETCH_REPEATS_MAX = 3 };
/* Ids that the source fails on (5xx) before it is the source that fails. */
enum { FETCH_FAILED_IDS_MAX = 8 };
/* Ids that the source refuses (L2), and of all how many, before it is the request that is wrong. */
enum { FETCH_REFUSED_IDS_MAX = 8, FETCH_REFUSED_IDS_PERMILLE = 100 };
/* A slice in which history expects at least this many records is not believed to be empty at once.
 */
enum { FETCH_EXPECTED_MIN = 10 };
/* Of at least so many requests, more than this part refused as too fast cuts the slice again. */
enum { FETCH_REFUSED_OF_MIN = 20, FETCH_REFUSED_PERMILLE = 50 };

/* ---- what is asked for ---- */

struct fetch_parts {   /* all must outlive the fetch */
    struct http *http; /* with auth in front where the source needs it */
    struct permit_gate *gate;
    struct clock *clock;
    struct random_source *random;
    struct secret_source *secrets;
    const struct xml *xml;        /* NULL: loaded when a source answers in XML */
    struct permit_waiter *waiter; /* NULL: nobody watches */
    struct http_watch *watch;     /* of slow replies; NULL: nobody does */
    int wake_fd;                  /* CLOCK_NO_WAKE: none */
};

struct fetch_order { /* views; all must outlive the fetch */
    const struct spec *spec;
    const struct slice *slice;
    struct str plan_id;
    int64_t run_id;
    int64_t batch_no;      /* of the first batch: 1, or behind the last one of this run */
    struct str checkpoint; /* empty: from the beginning */
    const struct str *ids; /* by id: all of them; resuming two phases: those stored */
    size_t id_count;
    bool can_reslice;     /* the slice is long enough to be cut; see the verdict */
    bool by_ids;          /* it would be cut by ids: they must be within what can be cut */
    int64_t requests_max; /* budget of the slice; 0: none */
    int64_t records_max;
    int64_t duration_max_us;
    int64_t batch_records; /* at most, in one batch; 0: FETCH_RECORDS_MAX */
    int64_t wait_max_us;   /* 0: a minute */
    struct str traceparent;
    struct str tracestate;
};

/* ---- what comes ---- */

enum fetch_kind { FETCH_PAGE, FETCH_IDS, FETCH_DETAILS };

/* An id that was asked for twice and has no record, or that the source refuses to answer for. Kept
 * as a signal, it is looked at again by an UPDATE; what that does not find either is let be. */
enum fetch_lost_reason {
    FETCH_LOST_MISSING,     /* in no answer */
    FETCH_LOST_ANSWERED_AS, /* by a record of another id: the source has merged them */
    FETCH_LOST_REFUSED,     /* L2, asked for alone */
    FETCH_LOST_FAILED,      /* 5xx, asked for alone */
};
const char *fetch_lost_reason_name(enum fetch_lost_reason reason); /* "answered-as" */

/* The source has it no more, and says so; all others may yet come. */
static inline bool fetch_lost_is_gone(enum fetch_lost_reason reason)
{
    return reason == FETCH_LOST_MISSING || reason == FETCH_LOST_ANSWERED_AS;
}

struct fetch_lost_id {
    struct str id;
    enum fetch_lost_reason reason;
    struct str answered_as; /* the id that came instead */
};

struct fetch_counts { /* of this batch */
    int64_t items;    /* in the replies' lists */
    int64_t dropped;  /* outside of the window */
    int64_t requests; /* put on the wire */
    int64_t retries;
    int64_t throttled;  /* 429 and the like */
    int64_t bytes;      /* bodies, as they came over the line */
    int64_t latency_us; /* of the reply that was used */
    int64_t latency_max_us;
    int64_t waited_us;    /* for the gate and between attempts */
    int64_t retry_afters; /* answers with a Retry-After that is to be obeyed */
    int64_t slowed;       /* answers that made the gate lower its rate */
    int64_t quota_gone;   /* answers that told so */
    bool repeated;
    bool page_shrunk;
    int status;
};

enum fetch_verdict_kind {
    FETCH_COMPLETE,  /* all came; is_proven: the source's own total says so */
    FETCH_SHORTFALL, /* sweep after sweep fewer than the source says it has */
    FETCH_DRIFT,     /* sweep after sweep the list moved: narrower slices may stand still */
    FETCH_CUT_SHORT, /* by a limit, a budget or a loop: never to be shown as done */
    FETCH_RESLICE,   /* cut the slice and walk the pieces (only with order.can_reslice) */
};
const char *fetch_verdict_name(enum fetch_verdict_kind kind); /* "complete" */

struct fetch_verdict {
    enum fetch_verdict_kind kind;
    bool is_proven;
    enum page_reason end;
    enum reslice_reason reslice; /* RESLICE */
    struct window finished;      /* RESLICE: what is complete; not valid: nothing */
    bool has_total;
    int64_t total; /* the source's, last told */
    int64_t distinct;
    int64_t missing; /* of the total */
    int64_t lost_ids;
    int sweeps;
    int restarts;
    struct str reason; /* for people and record_remarks: "412 of 415 came, on two sweeps" */
};

struct fetch_batch {
    enum fetch_kind kind;
    int64_t batch_no;
    struct str endpoint; /* whose records these are, and that the digests speak of */

    const struct record *records;
    size_t record_count;
    const struct record *bad;
    size_t bad_count;
    const struct str *ids; /* FETCH_IDS: those not handed out before */
    size_t id_count;
    const struct fetch_lost_id *lost; /* given up with this batch */
    size_t lost_count;

    /* For the batch row. before and after are tokens or URLs, opaque bytes; data NULL: none.
     * before is unique within the run wherever it is told: pages of later sweeps and of scrolls,
     * which have the same token again and again, tell none. */
    bool has_page_no;
    int64_t page_no;
    int64_t page_size;
    struct str before;
    struct str after;
    bool after_is_url;
    bool has_next;
    struct str idempotent_key;  /* lower-case hex: over run, batch number and what was asked for */
    struct str request_digest;  /* JSON, see request.h */
    struct str response_digest; /* JSON, see digest.h */
    struct str checkpoint;
    struct fetch_counts counts;

    bool is_rest; /* of the answer that the batch before was made of */
    bool is_last;
    struct fetch_verdict verdict; /* of the last */
    int64_t retry_at_us;          /* on failure: not before; 0: the caller's own back-off */
    enum wait_why retry_why;      /* of retry_at_us */
};

/* ---- the walk ---- */

struct fetch;

/* Sends nothing yet. */
bool fetch_open(struct fetch **fetch, const struct fetch_parts *parts,
                const struct fetch_order *order, struct error *err) MUST_CHECK;

/* On failure batch has what is known: digests, counts, retry_at_us. */
bool fetch_next(struct fetch *fetch, struct fetch_batch *batch, struct error *err) MUST_CHECK;

void fetch_close(struct fetch *fetch); /* accepts NULL */

/* The kinds of errors that a caller decides by. */
static inline bool fetch_error_is_rejected(const struct error *err) /* by the gate, for now */
{
    return strcmp(err->code, "fetch.rejected") == 0;
}

static inline bool fetch_error_is_cancelled(const struct error *err) /* the program must stop */
{
    return permit_error_is_cancelled(err) || http_error_is_cancelled(err);
}

static inline bool
fetch_error_is_restarts(const struct error *err) /* the walk was lost too often */
{
    return strcmp(err->code, "fetch.restarts") == 0;
}

static inline bool fetch_error_is_refused(const struct error *err) /* too many ids were */
{
    return strcmp(err->code, "fetch.refused") == 0;
}

/* Of a record of the current batch; see record.h for what is hashed. */
bool fetch_record_hash(struct fetch *fetch, const struct record *record, char hex[HASH_HEX_MAX],
                       struct error *err) MUST_CHECK;
bool fetch_record_fields(struct fetch *fetch, const struct record *record, struct arena *arena,
                         struct str *json, struct error *err) MUST_CHECK;

/* The members of a batch's stats that the walk knows (004 section 14.3.2), into an object that is
 * open: itemsCount, latencyMs, retryCount, 429Count, hasNext, nextHint, http, selfHealing. The
 * caller adds inserted, updated, skipped, failed. */
void fetch_stats_write(struct json_writer *writer, const struct fetch_batch *batch);

#endif
