/* checkpoint: where a walk stands, as JSON, so that another process can go on.
 *
 *      {"v":1,"sweep":0,"restarts":0,
 *       "page":{"number":3,"offset":300,"pageNo":4,"size":100,"token":"...",...},
 *       "proof":{"pages":3,"items":300,"distinct":300,"total":[415,415],"tail":"9f...",...},
 *       "ids":{"listed":5000,"next":1200,"again":["..."],"lost":2},
 *       "end":"","requests":17,"records":300}
 *
 * A token is opaque: one that is not UTF-8 text stands as "tokenHex". Members may be added; what is
 * absent is zero. A text of a later version is refused rather than guessed at ("fetch.checkpoint",
 * L4): the store is patra's own, and a person must look.
 */
#ifndef PATRA_ENGINE_FETCH_CHECKPOINT_H
#define PATRA_ENGINE_FETCH_CHECKPOINT_H

#include "base/buf.h"
#include "engine/fetch/page.h"
#include "engine/fetch/proof.h"

enum { CHECKPOINT_VERSION = 1 };
/* The ids that wait for a second try and a tail of hashes: all else is a few hundred bytes. */
enum { CHECKPOINT_BYTES_MAX = 16 << 20 };

struct checkpoint {
    int sweep;    /* whole walks that were judged and not believed */
    int restarts; /* walks given up on the way */
    struct page_state page;
    const struct proof *proof; /* its counts; written and read apart */
    bool is_listed;            /* all pages are through */
    enum page_reason end;      /* ... and why */
    size_t id_count;           /* ids listed so far */
    size_t id_next;            /* of which these were asked for */
    const struct str *again;   /* ids to be asked for once more */
    size_t again_count;
    int64_t lost;   /* ids given up: missing */
    int64_t failed; /* ids given up: refused, failed */
    int64_t requests;
    int64_t records;
};

bool checkpoint_write(const struct checkpoint *checkpoint, struct arena *arena, struct str *json,
                      struct error *err) MUST_CHECK;

/* proof gets its counts and its tail back; it must have been initialised. Texts are views of json
 * or live in the arena. */
bool checkpoint_read(struct checkpoint *checkpoint, struct arena *arena, struct str json,
                     struct proof *proof, struct error *err) MUST_CHECK;

#endif
