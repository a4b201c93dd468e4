/* walk: the inside of a fetch. Only engine/fetch/walk*.c, fetch.c and probe.c include this.
 *
 *      fetch.c           opening, resuming, closing; batches as the caller sees them
 *      walk_exchange.c   one request until it is answered: permit, attempts, waits, prefetch
 *      walk_pages.c      pages: doubts, sweeps, restarts, smaller pages
 *      walk_astray.c     ids where they should not be
 *      walk_details.c    ids: batches, halves, second tries
 *      walk_verdict.c    the end
 *
 * A leg is one endpoint's part of the walk. What a walk is made of:
 *
 *      WALK_PAGES     legs[0] lists records
 *      WALK_IDS       legs[0] lists ids, legs[1] is asked for them
 *      WALK_HISTORY   legs[0] is asked once and its answer captured, legs[1] lists records
 *      WALK_BY_ID     legs[0] is asked for the ids of the order
 */
#ifndef PATRA_ENGINE_FETCH_WALK_H
#define PATRA_ENGINE_FETCH_WALK_H

#include "base/buf.h"
#include "core/retry.h"
#include "engine/fetch/checkpoint.h"
#include "engine/fetch/fetch.h"
#include "engine/fetch/id_set.h"
#include "engine/fetch/listing.h"
#include "engine/fetch/proof.h"
#include "engine/fetch/request.h"

enum walk_mode { WALK_PAGES, WALK_IDS, WALK_HISTORY, WALK_BY_ID };

struct leg {
    const struct spec_endpoint *endpoint;
    struct reader reader;
    struct request_form form;
    struct page_rules rules;
    struct page_state state;
    struct proof proof;
    struct id_set tokens;     /* given in this sweep: hashes */
    struct buf token_bufs[2]; /* the state's token lives in one, the next one's in the other */
    unsigned token_turn;
    bool is_doubted; /* an end was met once, and is asked for again */
    bool is_done;
    enum page_why end;
};

struct id_queue {
    struct str *items;
    size_t count;
    size_t next;
};

/* One request and what became of it. */
struct exchange {
    struct http_reply reply;
    struct answer answer;
    struct listing listing;
    struct str request_digest;
    struct permit permit;
    bool is_lost; /* a page of a scroll that can not be asked for again */
};

struct exchange_ask {
    struct leg *leg;
    bool ids_only;         /* items are ids */
    const struct str *ids; /* to be asked for */
    size_t id_count;
};

struct lost_list {
    struct fetch_lost_id *items;
    size_t count;
};

struct fetch {
    struct fetch_parts parts;
    struct fetch_order order;
    const struct spec *spec;
    enum walk_mode mode;
    struct leg legs[2];
    struct leg *list;    /* whose pages are walked; NULL: WALK_BY_ID */
    struct leg *details; /* that is asked for ids; NULL: none */

    struct arena own;      /* as long as the walk */
    struct arena pages[2]; /* this batch, and the next one under way */
    unsigned turn;
    struct arena scratch;         /* requests, with their secrets */
    struct exchange exchanges[2]; /* a page, and a second look at it */
    struct exchange *current;     /* that this batch was made of; NULL: none */
    struct fetch_batch whole;     /* the answer, handed out as one batch or as several */
    size_t handed;                /* of its records */
    int64_t part_count;           /* so many batches it is */
    struct buf checkpoint;        /* of the answer before it, or of the beginning */
    bool has_kept;                /* a first look is kept: the page's arena must not be reset */

    /* A request that is on its way already. */
    struct request request;
    struct http_ticket *ticket;
    struct leg *ticket_leg;
    struct http_title ticket_title;
    struct str ticket_digest;
    struct permit ticket_permit;
    int64_t ticket_sent_us;    /* calendar */
    int64_t ticket_started_us; /* monotonic */

    struct id_set known_ids; /* handed out */
    struct id_queue queue;   /* listed */
    struct id_queue again;   /* missing once */
    size_t split_size;       /* ids per request while a failed batch is halved; 0: not */
    size_t split_end;
    size_t id_batch_max; /* smaller than the source's where URLs got too long; 0: not */
    struct lost_list lost;
    int64_t lost_missing;
    int64_t lost_failed;
    int failed_ids;  /* that the source failed on */
    int refused_ids; /* that it refuses to answer for */

    const struct listing_value *history;
    size_t history_count;
    bool has_history_total;
    int64_t history_total;

    int sweeps; /* judged and not believed */
    int restarts;
    int second_looks;
    int64_t requests;
    int64_t throttled; /* of which were refused as too fast */
    int64_t records;
    int64_t batch_no;
    int64_t started_us; /* monotonic */
    int64_t retry_at_us;
    enum wait_why retry_why;
    struct fetch_counts counts; /* of this batch */
    bool has_verdict;
    struct fetch_verdict verdict;
    bool failed;
};

static inline struct arena *walk_arena(struct fetch *fetch)
{
    return &fetch->pages[fetch->turn];
}

/* ---- walk_exchange.c ---- */

/* Asks until there is an answer that can be read or no hope of one. On failure
 * exchange->answer.kind and is_lost tell what can be done; fetch->retry_at_us when to come back.
 * The exchange is closed by exchange_close() only, also after a failure. */
bool walk_exchange(struct fetch *fetch, const struct exchange_ask *ask, struct exchange *exchange,
                   struct error *err) MUST_CHECK;
void exchange_close(struct exchange *exchange); /* accepts the zero value */

/* The same, and once more where records on the page could not be judged; the better answer is in
 * *result, one of fetch->exchanges. */
bool walk_look(struct fetch *fetch, const struct exchange_ask *ask, struct exchange **result,
               struct error *err) MUST_CHECK;

/* Puts a request on its way, if the gate has a permit at once. What fails here is left for the
 * exchange itself to find. */
void walk_prefetch(struct fetch *fetch, const struct exchange_ask *ask);
void walk_drop_prefetch(struct fetch *fetch);

/* ---- walk_pages.c ---- */

/* The window of requests, and that outside of which records are dropped (not valid: none are). */
struct window walk_window(const struct fetch *fetch);
struct window walk_keep(const struct fetch *fetch);

struct page_rules walk_rules(const struct spec *spec, const struct spec_endpoint *endpoint);

bool walk_pages_init(struct fetch *fetch, struct leg *leg, struct error *err) MUST_CHECK;

/* One page, with all that has to be done until it can be handed out. */
bool walk_page(struct fetch *fetch, struct fetch_batch *batch, struct error *err) MUST_CHECK;

/* Remembers a token beyond the page that gave it. */
bool leg_set_token(struct leg *leg, struct str token, struct error *err) MUST_CHECK;

/* ---- walk_astray.c ---- */

/* True: the walk is at its end, for parts by id would not be what they claim to be. is_over: there
 * is more than the source hands out, and the slice is about to be cut. */
bool walk_ends_astray(struct fetch *fetch, const struct listing *listing, bool is_over);

/* ---- walk_details.c ---- */

bool walk_ids_pending(const struct fetch *fetch); /* enough to ask for */
bool walk_again_pending(const struct fetch *fetch);
bool walk_add_ids(struct fetch *fetch, const struct str *ids, size_t count,
                  struct error *err) MUST_CHECK;

/* One detail request. */
bool walk_details(struct fetch *fetch, struct fetch_batch *batch, struct error *err) MUST_CHECK;
/* What the next one would ask for. */
struct exchange_ask walk_details_ask(const struct fetch *fetch);

/* ---- walk_verdict.c ---- */

/* Ends the walk. reason may be empty: it is then made of the numbers. */
void walk_end(struct fetch *fetch, enum fetch_verdict_kind kind, struct str reason);
void walk_reslice(struct fetch *fetch, enum reslice_reason reason, struct str text);
/* All pages and ids are through: what does it amount to? */
void walk_judge(struct fetch *fetch);
/* NULL: there is budget left. */
const char *walk_budget_used(const struct fetch *fetch);

/* So many requests were refused that the rest goes better in pieces, at another time: told only
 * where what has been read is finished and need not be read again. */
bool walk_is_refused_much(const struct fetch *fetch);

#endif
