/* walk: the inside of a fetch. Only fetch.c and walk_*.c include this.
 *
 *      fetch.c           opens, resumes and closes a walk, takes its steps, hands out batches
 *      walk_exchange.c   one request until there is a response: permit, attempts, waits; and the
 *                        request after this batch, sent while the batch is stored
 *      walk_read.c       what a response says, read by whichever thread has it
 *      walk_pages.c      pages: repeated requests, sweeps, restarts, smaller pages
 *      walk_history.c    a search whose result the source keeps, before the pages that list it
 *      walk_ids.c        ids: batches of them, halves of batches, second tries
 *      walk_children.c   parents, each with pages of children
 *      walk_pace.c       pages that are large or slow
 *      walk_verdict.c    the end of a walk and what it amounts to
 *      feed.c            feeds: where they begin, how far they came
 *      walk_bulk.c       a file of records, read as it comes (bulk_parts.h; bulk_file.c: which one)
 *
 * A phase is one endpoint's part of the walk:
 *
 *      WALK_PAGES     phases[0] lists records
 *      WALK_IDS       phases[0] lists ids, phases[1] gets the records of these ids
 *      WALK_HISTORY   phases[0] searches, once; phases[1] lists the records of that search
 *      WALK_BY_ID     phases[0] gets the records of the order's ids
 *      WALK_CHILDREN  phases[0] lists the children of each of the order's ids
 *      WALK_BULK      phases[0] reads a file of records
 */
#ifndef PATRA_ENGINE_FETCH_WALK_H
#define PATRA_ENGINE_FETCH_WALK_H

#include "base/buf.h"
#include "core/limits.h"
#include "engine/fetch/attempts.h"
#include "engine/fetch/bulk_file.h"
#include "engine/fetch/checkpoint.h"
#include "engine/fetch/fetch.h"
#include "engine/fetch/id_set.h"
#include "engine/fetch/lines.h"
#include "engine/fetch/listing.h"
#include "engine/fetch/proof.h"
#include "engine/fetch/request.h"

enum walk_mode { WALK_PAGES, WALK_IDS, WALK_HISTORY, WALK_BY_ID, WALK_CHILDREN, WALK_BULK };

struct phase {
    const struct spec_endpoint *endpoint;
    struct reader reader;
    struct request_form form;
    struct page_rules rules;
    struct page_state state;
    struct proof proof;
    struct id_kinds kinds;    /* of the ids of this sweep */
    struct id_set tokens;     /* hashes of those the source gave in this sweep */
    struct buf token_bufs[2]; /* the state's token is in one, the next one's in the other */
    unsigned token_turn;
    int64_t largest;   /* items on the largest page, of all lists of the walk */
    bool saw_end_once; /* a probe beyond the last page was refused, and is sent again */
    bool is_done;
    enum page_reason end;
};

/* ---- one request and its response ---- */

struct exchange_request {
    struct phase *phase;
    bool ids_only;         /* the items of the response are ids */
    const struct str *ids; /* whose records are requested */
    size_t id_count;
    bool is_child_page; /* of the list of the one parent in `ids` */
    bool is_stream;     /* a success has a stream in place of a response that is read */
    struct http_header extra[2];
    size_t extra_count;
};

struct exchange {
    struct arena *arena; /* of the response, and of all that is read from it */
    struct permit permit;
    struct str request_digest;
    struct str request_kept;
    struct http_title title;
    bool is_sent;
    bool lacks_permit;  /* its permit was used for a token, and it got no other */
    int64_t sent_us;    /* calendar */
    int64_t started_us; /* monotonic */
    int64_t took_us;    /* until the response was there, or the failure */
    struct http_response reply;
    struct http_stream *stream; /* is_stream: of a success; the gate has no feedback yet */
    struct response response;
    struct listing listing;
    bool is_url_too_long; /* not sent: fewer ids make a shorter URL */
    bool is_lost;         /* the page of a scroll, which cannot be requested again */
};

/* Whether it is one of several requests for a list. */
static inline bool exchange_is_page(const struct exchange_request *request)
{
    return request->id_count == 0 || request->is_child_page;
}

/* Sends the request until there is a response that can be read, or no hope of one. On failure
 * exchange->response.kind, is_lost and is_url_too_long say what can be done, fetch->retry when to
 * come back. Close the exchange in any case. */
bool exchange_run(struct fetch *fetch, const struct exchange_request *request,
                  struct exchange *exchange, struct error *err) MUST_CHECK;

void exchange_close(struct exchange *exchange); /* accepts the zero value */

/* Reads the response; exchange->response.kind says what it is. Changes nothing of the walk. */
bool exchange_read(const struct fetch *fetch, const struct exchange_request *request,
                   struct exchange *exchange, struct error *err) MUST_CHECK;

/* The same, unless it was read when it arrived: then the result of that. */
bool exchange_read_once(struct fetch *fetch, const struct exchange_request *request,
                        struct exchange *exchange, struct error *err) MUST_CHECK;

/* What is kept of a failure must not repeat the secrets that the source was shown, nor what it says
 * of people. exchange_run() has done so with its own. */
void exchange_mask_error(const struct fetch *fetch, const struct exchange_request *request,
                         struct error *err);

/* Keeps the failure of a stream, and waits before it is opened again, after so many failures in a
 * row. False: it is not worth another attempt, or the wait is too long (err then stays as it is) or
 * was cancelled. */
bool exchange_wait(struct fetch *fetch, const struct exchange_request *request,
                   const struct exchange *opened, int failures, struct error *err) MUST_CHECK;

/* Keeps a response that is requested again, because what it says is doubtful. */
void exchange_note_doubtful(struct fetch *fetch, const struct exchange_request *request,
                            const struct exchange *exchange);

/* Closes an exchange that no batch is made of, and frees the memory of the page. */
void exchange_discard(struct fetch *fetch, struct exchange *exchange);

/* ---- its permit (walk_permit.c) ---- */

/* A walk that would wait longer than this gives its task back, unless the order says otherwise. */
#define WALK_WAIT_MAX_US US_PER_MINUTE

/* Waits for a permit. "fetch.rejected" (L1): there is none in time, and fetch->retry says when to
 * come back. */
bool exchange_acquire(struct fetch *fetch, const struct spec_endpoint *endpoint,
                      struct permit *permit, struct error *err) MUST_CHECK;

/* Reports to the gate how an exchange ended: once for each permit. failure NULL: it did not fail.
 */
void exchange_feedback(struct fetch *fetch, const struct exchange *exchange,
                       const struct error *failure);

/* Whether the source refused it because there were too many. */
bool exchange_was_too_fast(const struct exchange *exchange);

/* The credential is refused, and there is another one to try. */
bool exchange_credential_refused(const struct exchange *exchange, const struct error *failure);

/* Redirects are requests too. */
int exchange_requests(const struct http_response *reply);

/* ---- its request (walk_render.c) ---- */

/* Renders the request of a batch into fetch->request; the caller wipes memory.scratch. */
bool exchange_render(struct fetch *fetch, const struct exchange_request *request,
                     const struct permit *permit, int64_t batch_no, struct arena *arena,
                     struct error *err) MUST_CHECK;

/* Of the request that was rendered last. */
bool exchange_url_is_too_long(const struct fetch *fetch, const struct exchange_request *request);

/* ---- the request after this batch ---- */

struct prefetch {
    struct http_taker taker;    /* first */
    struct http_ticket *ticket; /* NULL: none is under way */
    struct exchange begun;
    struct fetch *fetch;             /* read_early() reads of it what nobody changes meanwhile */
    struct exchange_request request; /* that it was begun for */
    const char *read_body;           /* of the response that was read early; NULL: none was */
    bool is_good;                    /* its result */
    struct error err;
};

/* What is to take its response, if anything (walk_read.c). */
struct http_taker *prefetch_taker(struct fetch *fetch, const struct exchange_request *request);

/* Sends a request if the gate has a permit at once. What fails here is left for the exchange
 * itself to find. */
void prefetch_start(struct fetch *fetch, const struct exchange_request *request);

/* Gives up the request under way, if there is one. */
void prefetch_drop(struct fetch *fetch);

/* ---- work on ids ---- */

struct id_queue {
    struct str *items;
    size_t count;
    size_t next;
};

struct lost_list {
    struct fetch_lost_id *items;
    size_t count;
};

struct id_work {
    struct phase *phase;     /* that gets their records; NULL: this walk has no ids */
    struct id_set known;     /* all ids that were ever queued */
    struct id_queue queue;   /* as they were listed */
    struct id_queue again;   /* missing in a first response */
    struct id_queue late;    /* without a response: of an earlier run, then of this one */
    size_t late_end;         /* those of an earlier run end here; the rest is for the next run */
    int late_in_row;         /* batches in a row without a response */
    struct error late_error; /* of the last of them */
    size_t split_size;       /* ids per request while a failed batch is halved; 0: none is */
    size_t split_end;        /* where in the queue that batch ends */
    size_t bad_end;          /* before this place in the queue is an id that fails; 0: none known */
    size_t batch_max;        /* below the source's size, because URLs got too long; 0: not */
    int failed;              /* ids that the source failed on, in this run */
    int64_t lost_missing;    /* given up, by reason, in all runs */
    int64_t lost_refused;
    int64_t lost_failed;
    int64_t childless;     /* parents without children, in all runs */
    int64_t doubts;        /* WALK_CHILDREN: what remains uncertain of lists, 1 << fetch_doubt */
    struct lost_list lost; /* given up with this batch */
};

/* Whether the next request is one for ids. is_listed: no further ids will be listed. */
bool id_work_is_due(const struct id_work *ids, bool is_listed);

/* Whether ids are left for the next run. */
bool id_work_has_deferred(const struct id_work *ids);

/* Fails: what was deferred is still missing. */
bool id_work_fail_deferred(const struct id_work *ids, struct error *err) MUST_CHECK;

/* At the end of the walk: fails when more than one in ten ids were refused. */
bool id_work_check_refused(const struct fetch *fetch, struct error *err) MUST_CHECK;

/* At the end of the walk: whether so many listed ids have no record that the details are not
 * believed. An update expects missing ids. */
bool id_work_is_unbelievable(const struct fetch *fetch);

/* At the end of the walk: none of its parents has children, and they are not few. */
bool id_work_has_no_children(const struct id_work *ids);

/* Queues the ids that are new. */
bool id_work_add(struct id_work *ids, struct arena *arena, const struct str *items, size_t count,
                 struct error *err) MUST_CHECK;

/* The next request for ids. */
struct exchange_request id_work_request(struct id_work *ids);

/* The queue that its ids are from. */
struct id_queue *id_work_queue(struct id_work *ids);

/* After a request for ids that failed. True: either batch->outcome is set and the ids are given up
 * or deferred, or the same ids are to be requested in smaller batches. */
bool id_work_recover(struct fetch *fetch, struct id_queue *queue, size_t id_count,
                     struct fetch_batch *batch, struct error *err) MUST_CHECK;

/* Gives up an id. */
bool id_work_lose(struct id_work *ids, struct arena *arena, struct fetch_lost_id lost,
                  struct error *err) MUST_CHECK;

/* Takes that request. */
bool walk_id_batch(struct fetch *fetch, struct fetch_batch *batch, struct error *err) MUST_CHECK;

/* ---- pages of children ---- */

/* The next page of a parent's list, or the first one of the next parent. */
bool walk_child_page(struct fetch *fetch, struct fetch_batch *batch, struct error *err) MUST_CHECK;

/* The request for it. */
struct exchange_request walk_child_request(struct fetch *fetch);

/* ---- a search before the pages ---- */

struct search_history {
    const struct listing_value *values; /* captured from the search, for requests of pages */
    size_t count;
    bool has_total;
    int64_t total;
};

/* Searches; twice where it finds nothing although records are expected. */
bool history_search(struct fetch *fetch, struct exchange **found, struct error *err) MUST_CHECK;

/* Goes on to the pages of the search. */
bool history_enter(struct fetch *fetch, const struct exchange *search,
                   struct error *err) MUST_CHECK;

/* ---- pages ---- */

bool walk_pages_init(struct fetch *fetch, struct phase *phase, struct error *err) MUST_CHECK;

/* One page, with everything that has to be done until it can be handed out. */
bool walk_page(struct fetch *fetch, struct fetch_batch *batch, struct error *err) MUST_CHECK;

/* Forgets everything about the pages of a phase: the next one is the first of another list. */
bool walk_pages_reset(struct fetch *fetch, struct phase *phase, struct error *err) MUST_CHECK;

/* The records of a page become those of the batch. */
void walk_take_records(struct fetch *fetch, const struct listing *listing,
                       struct fetch_batch *batch);

/* What a page adds to the proof. */
struct proof_page walk_proof_page(const struct listing *listing);

/* Keeps a token beyond the page that gave it. */
bool phase_set_token(struct phase *phase, struct str token, struct error *err) MUST_CHECK;

/* The request of the next page. */
struct exchange_request walk_page_request(struct fetch *fetch);

/* exchange_run, and once more where records of the page could not be judged. *result is the better
 * response, one of fetch->exchanges. */
bool walk_run_checked(struct fetch *fetch, const struct exchange_request *request,
                      struct exchange **result, struct error *err) MUST_CHECK;

/* The same request again, beside its first response. On failure *found is the second exchange. */
bool walk_repeat(struct fetch *fetch, const struct exchange_request *request,
                 struct exchange **found, struct exchange **second, struct error *err) MUST_CHECK;

/* Whether history says that the slice has records. */
bool walk_expects_records(const struct fetch *fetch);

/* Records outside of this window are dropped. Not valid: none are. */
struct window walk_keep(const struct fetch *fetch);

/* ---- the end ---- */

/* Ends the walk. An empty reason is replaced by one made of the numbers. */
void walk_end(struct fetch *fetch, enum fetch_verdict_kind kind, struct str reason);
void walk_reslice(struct fetch *fetch, enum reslice_reason reason, struct str text);

/* True: the walk cannot continue by tokens and has ended, and what it has not read is re-sliced
 * (page.bridge_to_time). */
bool walk_bridges(struct fetch *fetch);

/* Ends the walk that has no further step by what its numbers say. */
void walk_judge(struct fetch *fetch);

/* Ends the walk where a budget is used up, or where so many requests were refused that the rest is
 * better done in pieces at another time. The latter only where what was read is finished and need
 * not be read again. */
bool walk_check_limits(struct fetch *fetch, struct error *err) MUST_CHECK;

/* What the walk has cost so far. */
struct fetch_spending walk_spending(const struct fetch *fetch);

/* *ended: the walk has ended, because its slice's family has sent many more requests than it has
 * pages. */
bool walk_check_budget(struct fetch *fetch, bool *ended, struct error *err) MUST_CHECK;

/* Whether pieces of the slice would begin where the walk is now: what was read is finished, or is a
 * small part of the whole. */
bool walk_keeps_what_it_read(const struct fetch *fetch);

/* Makes pages smaller that are large or slow, or ends the walk with a re-slice. */
void walk_mind_pace(struct fetch *fetch, const struct fetch_batch *batch);

/* True: the walk has ended, because slices by id would not hold the ids they claim. */
bool walk_ends_by_stray_ids(struct fetch *fetch, const struct listing *listing);

/* True: the walk has ended, because the source has more than it hands out; with a re-slice, where
 * one would help. */
bool walk_ends_over_cap(struct fetch *fetch, const struct listing *listing);

/* ---- feeds ---- */

struct feed_text {
    bool is_set;
    size_t len;
    char bytes[CURSOR_VALUE_MAX];
};

struct walk_feed {
    struct feed_text seen;   /* ID: the highest id received; TOKEN: the token that ends the sync */
    struct feed_text behind; /* ID: how far a page without forward motion came */
    struct feed_text latest; /* ID: the highest id that the source has */
    bool is_latest_wrong;    /* ID: ... by its own word, but it was below one that came, or fell */
    bool is_token_sent; /* TOKEN: changes came with the token that their page was requested with */
    bool is_full;       /* TOKEN: the token had expired or was removed; everything is read
                           again */
    bool is_bridged;    /* TOKEN: not everything, but what changed since slice.feed.bridge_us */
    int64_t full_us;    /* TOKEN: since then */
};

void feed_begin(struct fetch *fetch);

/* What the pages of a phase are pages of; TIME: not of a feed. */
enum cursor_type feed_type(const struct fetch *fetch, const struct phase *phase);

/* The id or token that a request continues from. */
struct str feed_after(const struct fetch *fetch, const struct phase *phase);

/* The token of a first page, where the feed gives it. */
void feed_first(const struct fetch *fetch, const struct phase *phase, struct str *token);

/* What a page of a feed shows, beside what all pages do. */
void feed_see(const struct fetch *fetch, const struct phase *phase, const struct listing *listing,
              struct page_seen *seen);

/* The page was accepted. */
void feed_note(struct fetch *fetch, const struct phase *phase, const struct listing *listing);

/* The walk begins again. */
void feed_restart(struct fetch *fetch);

/* True: the source no longer accepts the sync token. From here on the walk is a full one. */
bool feed_expires(struct fetch *fetch, const struct exchange *exchange);

/* True: the walk has ended, because its pages were complete and the feed is not. */
bool feed_ends_unproven(struct fetch *fetch);

/* What is not certain about a feed that is complete. */
void feed_doubt(const struct fetch *fetch, bool doubts[FETCH_DOUBTS]);

struct checkpoint_feed feed_checkpoint(const struct fetch *fetch);
bool feed_resume(struct fetch *fetch, const struct checkpoint_feed *checkpoint,
                 struct error *err) MUST_CHECK;

/* ---- a file of records ---- */

struct walk_bulk {
    struct bulk_place place;     /* after the last batch that was handed out */
    struct bulk_file file;       /* that the place is in */
    struct http_stream *stream;  /* NULL: the file is not open */
    struct exchange opened;      /* its request */
    struct arena head;           /* of that: as long as the stream */
    struct bulk_place at;        /* in the stream */
    bool is_skipping;            /* until it is at the place */
    bool is_bounded;             /* a plain file whose length is known in some way */
    int64_t rest_from, rest_end; /* a 206: these bytes of the file; 0: it is whole */
    bool is_joining;             /* the first of them, which ends a line, was not seen yet */
    bool has_no_rest;            /* what the server gave as the rest was not that */
    int64_t others;              /* XML: elements without a record, before the place */
    struct lines lines;
    struct hash hash;
    struct error
        broken;      /* of the stream, after lines that were handed out; level NONE: it is not */
    int failures;    /* in a row, without a batch between them */
    int64_t told_us; /* monotonic: when the last batch was handed out */
};

void bulk_init(struct fetch *fetch);
void bulk_close(struct fetch *fetch);

/* The next records of the file. */
bool walk_bulk_batch(struct fetch *fetch, struct fetch_batch *batch, struct error *err) MUST_CHECK;

/* The end of a file that was read whole. */
void walk_bulk_end(struct fetch *fetch);

/* ---- the whole ---- */

struct walk_memory {
    struct arena own;      /* as long as the walk */
    struct arena pages[2]; /* this batch, and the next one, whose request may be under way */
    unsigned turn;
    struct arena scratch; /* requests, with their secrets */
    bool keeps_first;     /* a first response is kept: the page's arena must not be reset */
};

struct handout {
    struct fetch_batch whole; /* the response, handed out as one batch or as several */
    size_t record_count;      /* of its records, how many were handed out */
    int64_t part_count;       /* into so many batches it is divided */
    int64_t batch_no;         /* of the next one */
    struct buf checkpoint;    /* before the response */
};

struct walk_totals { /* of all batches */
    int sweeps;      /* that were judged and not believed */
    int restarts;
    int repeats; /* pages requested again because of records that could not be judged */
    int64_t requests;
    int64_t throttled; /* of these, refused as too fast */
    int64_t spent;     /* requests for pages; see fetch_spending */
    int64_t seen;      /* pages of the longest sweep; see proof.h */
    int64_t records;
    int64_t started_us; /* monotonic */
    int64_t dated_us;   /* the earliest Date of a list's pages that is before our time; 0: none */
};

/* Of a walk that was lost and begins again, one request counts. */
static inline void walk_forget_pages(struct walk_totals *totals, const struct proof *lost)
{
    if (lost->pages < totals->spent)
        totals->spent -= lost->pages;
}

struct walk_pace { /* since the size of pages was changed */
    int64_t pages;
    int64_t latency_us; /* of all of them */
    int halvings;       /* of the size, because they were slow */
};

struct walk_retry { /* of a failure: when to come back */
    int64_t at_us;  /* 0: unknown */
    enum wait_reason reason;
};

struct fetch {
    struct fetch_parts parts;
    struct fetch_order order;
    const struct spec *spec;
    enum walk_mode mode;
    struct phase phases[2];
    struct phase *list; /* whose pages are walked; NULL: WALK_BY_ID, and between two parents */
    struct id_work ids;
    struct search_history history;
    struct walk_feed feed;
    struct walk_bulk bulk;

    struct walk_memory memory;
    struct request request;       /* as rendered last */
    struct str request_kept;      /* what it was made of (request_kept.h) */
    struct exchange exchanges[2]; /* a page, and the same page requested again */
    struct exchange *current;     /* that this batch is made of; NULL: none */
    struct prefetch prefetch;

    struct handout handout;
    struct fetch_counts counts; /* of this batch */
    struct attempts attempts;   /* of this batch */
    struct error failure;       /* of this batch, when it is not FETCH_RECEIVED */
    struct walk_totals totals;
    struct walk_pace pace;
    struct walk_retry retry;
    bool has_verdict;
    struct fetch_verdict verdict;
    bool has_failed;
};

static inline struct arena *walk_arena(struct fetch *fetch)
{
    return &fetch->memory.pages[fetch->memory.turn];
}

#endif
