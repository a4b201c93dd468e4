/* checkpoint: where a walk is, as JSON, so that another process can continue it.
 *
 *      {"v":1,"sweep":0,"restarts":0,
 *       "page":{"number":3,"offset":300,"pageNo":4,"size":100,"token":"...",...},
 *       "proof":{"pages":3,"items":300,"distinct":300,"total":[415,415],"tail":"9f...",...},
 *       "ids":{"listed":5000,"next":1200,"again":["..."],"late":["..."],"lost":2},
 *       "feed":{"at":"118","seen":"118","latest":"240"},
 *       "bulk":{"records":5000,"bytes":817344,"sum":"9f...","etag":"\"a1\"","length":91344},
 *       "end":"","requests":17,"records":300}
 *
 * A token is opaque: one that is not UTF-8 text is written as "tokenHex". Members may be added;
 * absent ones are zero. A checkpoint of a later version is refused ("fetch.checkpoint", L4): the
 * store is patra's own, so a person must see to it.
 */
#ifndef PATRA_ENGINE_FETCH_CHECKPOINT_H
#define PATRA_ENGINE_FETCH_CHECKPOINT_H

#include "base/buf.h"
#include "engine/fetch/bulk_file.h"
#include "engine/fetch/page.h"
#include "engine/fetch/proof.h"

enum { CHECKPOINT_VERSION = 1 };
/* For the ids that wait for a second try, and the tail of hashes: the rest is a few hundred bytes.
 */
enum { CHECKPOINT_BYTES_MAX = 16 << 20 };

struct id_list {
    struct str *items;
    size_t count;
};

/* Of a walk over a feed. Texts: data NULL where there is none. The cursor is moved by the stored
 * checkpoint (engine/cursor/cursor_feed.h), so "at" and "behind" mean the same there. */
struct checkpoint_feed {
    bool is_on;
    struct str seen;      /* ID: the highest id received; TOKEN: the token that ends the sync */
    struct str at;        /* the part of it that is complete: what a cursor may be moved to */
    struct str behind;    /* the source does not go forward; ID: this is as far as it goes */
    struct str latest;    /* ID: the highest id that the source has */
    bool is_latest_wrong; /* ID: it was below an id that came, or fell */
    bool is_token_sent;   /* TOKEN: changes came with the token that was sent */
    bool is_full;         /* TOKEN: the token had expired, and everything was read again ... */
    int64_t full_us;      /* ... since this instant */
    bool is_bridged;      /* TOKEN: ... not everything, but what changed since the last sync */
};

/* Of a walk over a file. */
struct checkpoint_bulk {
    bool is_on;
    struct bulk_place place;
    struct bulk_file file;
    int64_t others; /* elements of XML without a record */
};

struct checkpoint {
    int sweep;    /* complete walks that were judged and not believed */
    int restarts; /* walks that were given up before their end */
    struct page_state page;
    const struct proof *proof; /* its counts; checkpoint_read gets it by itself */
    bool is_listed;            /* all pages were read */
    enum page_reason end;      /* the reason of that */
    size_t id_count;           /* ids listed so far */
    size_t id_next;            /* of these, requested */
    struct id_list again;      /* to be requested once more */
    struct id_list late;       /* without a response, to be requested by the next run */
    int64_t lost;              /* given up: missing */
    int64_t refused;
    int64_t failed;
    int64_t childless; /* parents without children */
    int64_t doubts;    /* of the lists of parents */
    int64_t requests;
    int64_t records;
    int64_t spent; /* requests for pages, and the pages of the longest sweep (fetch_spending) */
    int64_t seen;
    struct checkpoint_feed feed;
    struct checkpoint_bulk bulk;
};

bool checkpoint_write(const struct checkpoint *checkpoint, struct arena *arena, struct str *json,
                      struct error *err) MUST_CHECK;

/* Fills the counts and the tail of proof, which must be initialised. Texts are views of json or
 * live in the arena. */
bool checkpoint_read(struct checkpoint *checkpoint, struct arena *arena, struct str json,
                     struct proof *proof, struct error *err) MUST_CHECK;

#endif
