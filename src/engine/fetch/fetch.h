/* fetch: one slice, walked from its first request to a verdict. The part of the executor that
 * writes to the store knows the part that talks to sources by this header only.
 *
 *      struct fetch *fetch;
 *      struct fetch_batch batch;
 *
 *      if (!fetch_open(&fetch, &parts, &order, &err)) ...
 *      do {
 *          if (!fetch_next(fetch, &batch, &err)) {
 *              ... the batch row is FAILED, with batch.request_digest and the error; the run ends,
 *                  or continues later (batch.retry_at_us) from the last checkpoint that was stored
 *          }
 *          ... one transaction: records, quarantine, ids, batch row, run.checkpoint
 *      } while (!batch.is_last);
 *      ... batch.verdict
 *      fetch_close(fetch);
 *
 * A fetch knows no store: the caller commits what is handed out, all of it or nothing. Nor does it
 * decide what happens to a task, a slice or a cursor: the verdict says what was found, and the
 * caller draws the conclusion.
 *
 * Files (role bulk) are read as they come: a batch is made of the next records of the file, and its
 * checkpoint is the place in it. A walk that is resumed continues there, by a Range where the file
 * is not packed and the server says that it is still the same file; otherwise the file is read
 * again from its beginning, and what was handed out is skipped. A running hash shows whether it is
 * the same; another file is read from its beginning. A file that breaks off is never an end.
 *
 * There are three kinds of batches. A walk over pages gives FETCH_PAGE. In two phases, pages of ids
 * (FETCH_IDS, without records) and requests for details (FETCH_DETAILS) alternate. An operation by
 * id gives FETCH_DETAILS only.
 *
 *      FETCH_PAGE      records, bad records                before/after: page, token or URL
 *      FETCH_IDS       ids: new ones, to be kept durably   before/after: the same
 *      FETCH_DETAILS   records, bad records, lost ids
 *
 * Long responses. A response with more than order.batch_records records is handed out in several
 * batches (is_rest on all but the first), so that no transaction lasts long. Until the last of them
 * is stored, the checkpoint is the one before the response: a process that dies in between requests
 * the page again, and finds its first records stored. The first batch has the counts of requests;
 * the last one has the bad records, the lost ids and the place in the walk (page, tokens).
 *
 * Resuming. batch.checkpoint (JSON, no secrets) is stored with the batch. Given back in the order
 * of the next run, the walk continues after that batch, and nothing is fetched twice. Sources whose
 * pages cannot be requested again (scrolls, searches that the source keeps) are walked from the
 * beginning, and the verdict counts that. order.ids must then hold, in order, the ids of all
 * FETCH_IDS batches that were stored in this task; for an operation by id, the same list as before.
 *
 * Refused ids. A batch of ids that the source refuses is halved until one id is left. That id is
 * given up: a batch of its own (FETCH_GIVEN_UP), whose row is FAILED. When more than one in ten ids
 * are refused, the request is wrong, and the walk fails.
 *
 * Deferred ids. When a batch of ids gets no response, the batches after it are requested all the
 * same. At the end fetch_next fails with "fetch.deferred"; the next run, resumed from the
 * checkpoint, requests only the ids that are left.
 *
 * Sweeps. When a walk ends and its own numbers say that something is missing, was received twice,
 * or moved while it was read, the pages are walked again from the beginning, FETCH_SWEEPS_MAX times
 * in all. The records are handed out again, in further batches, and the verdict is that of the last
 * sweep. In two phases only new ids are handed out again.
 *
 * Waiting. Every attempt needs a permit of the gate, which then hears how the attempt went. Between
 * attempts the walk sleeps on the clock, at most order.wait_max_us at a time. For a longer wait (a
 * Retry-After of an hour, a quota that is used up) fetch_next fails and sets batch.retry_at_us, so
 * that no lease expires in the meantime. When wake_fd becomes readable, a sleep ends with
 * "fetch.cancelled" (L1).
 *
 * Prefetch. Where the next request is known and the gate allows it at once, it is sent while the
 * caller stores this batch. So a batch is valid until the next fetch_next or fetch_close, and the
 * http handle is busy in between: it must not be used for anything else.
 *
 * Errors, besides those of response.h, listing.h, request.h, port/gate.h and port/http.h:
 * "fetch.rejected" (L1: the gate has no permit in time), "fetch.checkpoint" (L4: unreadable),
 * "fetch.restarts" (L1: the walk was lost too often), "fetch.refused" (L2: too many ids were
 * refused), "fetch.deferred" (L1: all other ids are done). After a failure only fetch_close is
 * allowed. Of files: "answer.file" (L1: not whole, or not of lines of JSON), "lines.limit" (L2).
 *
 * Threads: one at a time. Memory: two arenas of BATCH_BYTES_MAX, and the walk's own.
 */
#ifndef PATRA_ENGINE_FETCH_FETCH_H
#define PATRA_ENGINE_FETCH_FETCH_H

#include <string.h>

#include "core/codes.h"
#include "core/slice.h"
#include "core/wait.h"
#include "core/walk_budget.h"
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

/* A page with a larger body, and pages that take longer on average, are made smaller where the
 * source allows it (004 sections 8.4 and 12.2). */
#define FETCH_LARGE_BYTES (INT64_C(5) << 20)
#define FETCH_SLOW_US (3 * INT64_C(1000000))
enum { FETCH_SLOW_PAGES_MIN = 3 };

/* A re-slice that reads pages again is worth it while these are at most one in so many. */
enum { FETCH_READ_AGAIN_PART = 4 };

/* Walks over the same pages until the verdict counts. */
enum { FETCH_SWEEPS_MAX = 3 };
/* Walks started again because a page was lost (a scroll) or a token had expired. */
enum { FETCH_RESTARTS_MAX = 8 };
/* Records in one batch, which is one transaction: short enough for others that wait for the same
 * rows. */
enum { FETCH_RECORDS_MAX = 250 };
/* Pages requested again because some of their records are bad, per walk. (A batch of ids that gets
 * an empty response is always requested again.) */
enum { FETCH_REPEATS_MAX = 3 };
/* Ids that the source fails on (5xx) before the source is taken to be failing. */
enum { FETCH_FAILED_IDS_MAX = 8 };
/* Ids that the source refuses: when they are more than this share of all ids, the request is taken
 * to be wrong. A share of the first ids is not believed before there were FETCH_REFUSED_SAMPLE of
 * them, unless more than half were refused. */
enum { FETCH_REFUSED_IDS_PERMILLE = 100, FETCH_REFUSED_SAMPLE = 500 };
/* So many say nothing about the share: one id of a list, or a few of those that an update selected,
 * which may be the very ids that were refused before. */
enum { FETCH_REFUSED_OF_LIST = 1, FETCH_REFUSED_OF_UPDATE = 8 };
/* Ids of a list for which the details have no record. When these are all of at least the first
 * number, or more than half of at least the second, the details are not believed. */
enum { FETCH_MISSING_ALL_MIN = 10, FETCH_MISSING_HALF_MIN = 20 };
/* Batches of ids in a row that got no response before the source is taken to be failing. */
enum { FETCH_DEFERRED_IN_ROW_MAX = 2 };
/* A slice that is expected, by its history, to have this many records is not believed to be empty
 * at once. */
enum { FETCH_EXPECTED_MIN = 10 };
/* When, of at least so many requests, more than this share was refused as too fast, the slice is
 * re-sliced. */
enum { FETCH_REFUSED_OF_MIN = 20, FETCH_REFUSED_PERMILLE = 50 };

/* ---- the order ---- */

struct fetch_parts {   /* all must outlive the fetch */
    struct http *http; /* that adds credentials where the source needs them */
    struct permit_gate *gate;
    struct clock *clock;
    struct random_source *random;
    struct secret_source *secrets;
    const struct xml *xml;        /* NULL: loaded for a source that responds in XML */
    struct permit_waiter *waiter; /* hears of waits; NULL: nobody does */
    struct http_watch *watch;     /* called while a response is waited for; NULL: nobody is */
    int wake_fd;                  /* CLOCK_NO_WAKE: none */
};

struct fetch_order { /* views; all must outlive the fetch */
    const struct spec *spec;
    const struct slice *slice;
    struct str plan_id;
    int64_t run_id;
    int64_t batch_no;      /* of the first batch: 1, or after the last one of this run */
    struct str checkpoint; /* empty: from the beginning */
    const struct str *ids; /* by id: all of them; resuming two phases: those stored */
    size_t id_count;
    bool can_reslice; /* the slice is long enough to be re-sliced; see the verdict */
    bool
        by_ids; /* it would be re-sliced by ids, which must then be within page.id_min and id_max */
    struct walk_budget family; /* what the slice's family has spent before (core/walk_budget.h) */
    int64_t requests_max;      /* budget of the slice; 0: none */
    int64_t records_max;
    int64_t duration_max_us;
    int64_t batch_records; /* at most, in one batch; 0: FETCH_RECORDS_MAX */
    int64_t wait_max_us;   /* 0: a minute */
    struct str traceparent;
    struct str tracestate;
};

/* ---- batches ---- */

enum fetch_kind { FETCH_PAGE, FETCH_IDS, FETCH_DETAILS };

/* An id that was requested twice and has no record, or that the source refuses. It is kept as a
 * signal for an UPDATE, which requests it again, and gives it up if it has no record then either.
 */
enum fetch_lost_reason {
    FETCH_LOST_MISSING,     /* in no response */
    FETCH_LOST_ANSWERED_AS, /* the response is a record of another id: the source has merged them */
    FETCH_LOST_REFUSED,     /* L2 or L3, requested by itself */
    FETCH_LOST_FAILED,      /* 5xx, requested by itself */
};
const char *fetch_lost_reason_name(enum fetch_lost_reason reason); /* "answered-as" */

/* True where the source says that it no longer has the id; all others may have a record later. */
static inline bool fetch_lost_is_gone(enum fetch_lost_reason reason)
{
    return reason == FETCH_LOST_MISSING || reason == FETCH_LOST_ANSWERED_AS;
}

struct fetch_lost_id {
    struct str id;
    enum fetch_lost_reason reason;
    struct str answered_as; /* the id of the record received instead */
    int status;             /* REFUSED, FAILED: of the response; otherwise 0 */
    struct str detail;      /* REFUSED, FAILED: the error, without secrets */
};

struct fetch_counts { /* of this batch */
    int64_t items;    /* in the lists of the responses */
    int64_t dropped;  /* outside of the window */
    int64_t requests; /* sent */
    int64_t retries;
    int64_t throttled;  /* 429 and the like */
    int64_t bytes;      /* of bodies, as received */
    int64_t latency_us; /* of the response that was used */
    int64_t latency_max_us;
    int64_t waited_us;    /* for the gate and between attempts */
    int64_t retry_afters; /* responses with a Retry-After that is to be obeyed */
    int64_t slowed;       /* responses that made the gate lower its rate */
    int64_t quota_gone;   /* responses that said so */
    bool repeated;        /* a request was sent again to confirm its response */
    bool page_shrunk;
    int status;
};

enum fetch_verdict_kind {
    FETCH_COMPLETE,    /* everything was received; is_proven: by the source's own total */
    FETCH_SHORTFALL,   /* sweep after sweep fewer than the source says it has */
    FETCH_DRIFT,       /* sweep after sweep the list moved: narrower slices may be stable */
    FETCH_CUT_SHORT,   /* by a limit, a budget or a loop: must never be shown as done */
    FETCH_RESLICE,     /* re-slice, and walk the pieces (only with order.can_reslice) */
    FETCH_OVER_BUDGET, /* many more requests than the slice's family has pages */
};
const char *fetch_verdict_name(enum fetch_verdict_kind kind); /* "complete" */

/* What is not certain about a walk that is complete by all signs. */
enum fetch_doubt {
    FETCH_DOUBT_NEXT,     /* the last page is full and has no next: it may have lost it */
    FETCH_DOUBT_TOTAL,    /* more came than the source's total says */
    FETCH_DOUBT_REPEATS,  /* ids that are twice on a page make up the total, sweep after sweep */
    FETCH_DOUBT_INSTANT,  /* a page of one instant may be as much as the source gives of it */
    FETCH_DOUBT_ELEMENTS, /* a file of XML has elements that have no record */
    FETCH_DOUBT_CHILDREN, /* none of many parents has children */
    FETCH_DOUBT_LATEST,   /* of a feed by id: the highest id of the source is below one that came */
    FETCH_DOUBT_SAME_TOKEN, /* of a feed by token: changes came with the token that was sent */
};
enum { FETCH_DOUBTS = FETCH_DOUBT_SAME_TOKEN + 1 };
const char *fetch_doubt_name(enum fetch_doubt doubt); /* "lost-next" */

struct fetch_verdict {
    enum fetch_verdict_kind kind;
    bool is_proven;
    bool doubts[FETCH_DOUBTS]; /* COMPLETE */
    enum page_reason end;
    enum reslice_reason reslice; /* RESLICE */
    struct window finished;      /* RESLICE, CUT_SHORT: what is complete; not valid: nothing */
    bool has_total;
    int64_t total; /* the source's last */
    int64_t distinct;
    int64_t missing; /* of the total */
    int64_t lost_ids;
    int64_t refused_ids; /* of the lost ones */
    int64_t failed_ids;  /* SHORTFALL: only these are missing; 0: something else is */
    int64_t dated_us; /* when the list was made, by the source's clock (Date); 0: now, or unknown */
    int sweeps;
    int restarts;
    struct str reason; /* for people and record_remarks: "412 of 415 came; 2 sweeps" */
};

enum fetch_outcome {
    FETCH_RECEIVED,
    FETCH_GIVEN_UP, /* the one id of the request, refused or failed: batch.lost has it */
    FETCH_DEFERRED, /* no response, all attempts used: the ids are requested by the next run. There
                       is nothing to commit but the row of the failure. */
};

/* What the walk has cost so far, in all runs of its task. */
struct fetch_spending {
    int64_t requests; /* for pages: without retries, refusals, and walks that were lost */
    int64_t needed;   /* pages: as many as a sweep saw, or as the total says */
    int64_t seen;     /* pages of a sweep */
};

struct fetch_batch {
    enum fetch_kind kind;
    enum fetch_outcome outcome;
    const struct error *failure; /* not RECEIVED: the reason; the batch row is FAILED */
    int64_t batch_no;
    struct str endpoint; /* that the records and digests are of */

    const struct record *records;
    size_t record_count;
    const struct record *bad;
    size_t bad_count;
    const struct str *ids; /* FETCH_IDS: new ones */
    size_t id_count;
    const struct fetch_lost_id *lost; /* given up with this batch */
    size_t lost_count;
    const struct str *parents; /* of a child endpoint: whose children are all received by now */
    size_t parent_count;

    /* For the batch row. before and after are tokens or URLs, opaque bytes; data NULL: none. A
     * before is unique within the run: pages of later sweeps, and of scrolls, which have the same
     * token again and again, have none. */
    bool has_page_no;
    int64_t page_no;
    int64_t page_size;
    struct str before;
    struct str after;
    bool after_is_url;
    bool has_next;
    struct str idempotent_key;  /* lower-case hex: of run, batch number and request */
    struct str request_digest;  /* JSON, see request.h */
    struct str request_kept;    /* JSON, see request_kept.h; empty: there was no request */
    struct str response_digest; /* JSON, see digest.h */
    struct str checkpoint;
    struct fetch_counts counts;
    int64_t
        sent_us; /* monotonic: when the request was sent that this is the response to; 0: none */

    int64_t made_us; /* of a file: when it was made, by its server; its records were not seen later;
                        0: unknown */

    struct fetch_spending spending;

    bool is_rest; /* of the response that the batch before was made of */
    bool is_last;
    struct fetch_verdict verdict;  /* of the last batch */
    int64_t retry_at_us;           /* on failure: not before; 0: the caller's own back-off */
    enum wait_reason retry_reason; /* of retry_at_us */
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

/* The source refused the request, or its response could not be received. Any other error is of our
 * own making (a token that cannot be sent, a next URL that must not be followed): the same request
 * fails again. */
static inline bool fetch_error_is_of_response(const struct error *err)
{
    return strncmp(err->code, "answer.", 7) == 0 || strncmp(err->code, "http.", 5) == 0;
}

static inline bool fetch_error_is_refused(const struct error *err) /* too many ids were */
{
    return strcmp(err->code, "fetch.refused") == 0;
}

/* Only deferred ids are left; the rows of their failures are stored. */
static inline bool fetch_error_is_deferred(const struct error *err)
{
    return strcmp(err->code, "fetch.deferred") == 0;
}

struct request_form;

/* The response that the current batch is made of, or failed with, and the form of its request.
 * False where there is none: nothing was received, or a file is read. */
struct fetch_response {
    const struct request_form *form;
    const struct http_response *reply;
};
bool fetch_response(const struct fetch *fetch, const struct fetch_batch *batch,
                    struct fetch_response *response);

/* Where the records of the current batch come from: for record_hash() and record_fields(). Its
 * arena is that of the page. */
struct record_origin fetch_origin(struct fetch *fetch);

/* Writes the members of a batch's stats that the walk knows (004 section 14.3.2) into an open
 * object: itemsCount, latencyMs, retryCount, 429Count, hasNext, nextHint, http, selfHealing, and
 * for the last batch doubts. The caller adds inserted, updated, skipped, failed. */
void fetch_stats_write(struct json_writer *writer, const struct fetch_batch *batch);

#endif
