/* replay: the request of a batch made again, and its response compared with the one of then.
 * Nothing is stored, no cursor moves, no event is made.
 *
 *      replay_open()     plan, slice and snapshot of the batch; the request, rendered
 *      replay_send()     sends it once, without retries; or
 *      replay_take()     takes a response that was archived
 *      replay_judge()    reads the response as the walk did, and compares
 *      replay_close()
 *
 * A failure of the source is a result: a batch that failed is reproduced by a response that fails
 * in the same way. The permit of the rate gate is the caller's part.
 *
 * A response that was stored in several batches is compared with all of them. Compared are: the
 * status, the error's code, the number of items, the total, whether there is a next page, and
 * record by record the content hash. The bytes need not be equal: many sources put the time or a
 * fresh token into each response; `is_identical` says when they are.
 */
#ifndef PATRA_ENGINE_REPLAY_REPLAY_H
#define PATRA_ENGINE_REPLAY_REPLAY_H

#include <string.h>

#include "core/batch_items.h"
#include "engine/fetch/listing.h"
#include "engine/fetch/request_kept.h"
#include "engine/source/spec_cache.h"
#include "port/http.h"
#include "port/store_plan.h"
#include "port/store_run.h"

enum replay_kind {
    REPLAY_SAME,
    REPLAY_CHANGED, /* other content under the same id; or it is bad now, or was then */
    REPLAY_GONE,
    REPLAY_NEW,
    REPLAY_UNKNOWN, /* the id is there; of then only the id was kept */
};
extern const struct code_table REPLAY_KIND_CODES;

struct replay_record {
    struct str id;
    enum replay_kind kind;
    bool is_bad;        /* now */
    const char *reason; /* why it is bad now */
};

struct replay_side {  /* of then, and of now */
    int64_t status;   /* 0: no response */
    struct str level; /* of the error; '' = none */
    struct str code;
    struct str text;
    int64_t bytes;
    int64_t items;
    bool has_total;
    int64_t total;
    bool has_next;
    struct str next;   /* hint */
    struct str sample; /* hash of the body's beginning */
};

struct replay_report {
    struct replay_side then;
    struct replay_side now;
    bool is_request_same; /* as it was sent then, byte by byte but for secrets */
    struct str request;   /* the digest of the request of now, where it is not the same */
    bool has_items;       /* the batch kept its items */
    struct {
        struct replay_record *items; /* by id */
        size_t count;
    } records;
    int64_t counts[REPLAY_UNKNOWN + 1];
    bool is_identical;  /* the bytes, as far as they are hashed */
    bool is_same;       /* all that is compared */
    struct str differs; /* what is not, for people: "status, 2 records"; '' = nothing */
};

struct replay_input { /* all must outlive the replay */
    struct store *store;
    struct arena *arena;
    struct spec_cache *specs;
    struct secret_source *secrets;
    const struct xml *xml; /* NULL: loaded for a source that responds in XML */
    const struct batch *batch;
    struct str snapshot; /* by which it is read; '' = that of the batch's plan */
    int64_t now_us;
};

struct replay {
    struct replay_input input;
    struct http *http; /* that sent the request; NULL: none was sent */
    struct batch_evidence evidence;
    struct plan plan;
    struct str plan_id; /* as templates have it */
    struct slice slice;
    const struct spec *spec; /* held */
    const struct spec_endpoint *endpoint;
    struct request_kept kept;
    struct reader reader;
    struct request_form form;
    struct page_rules rules;
    struct page_state state;
    struct str request_digest;
    struct http_response reply;
    struct response response;
    struct listing listing;
    bool is_read;         /* response and listing are there */
    struct error failure; /* of now; level NONE: it did not fail */
    struct replay_report report;
};

/* Errors: "replay.kept" (L2: the batch made no request, is a part of a file, or is of an older
 * patra), "replay.endpoint" (L2: the snapshot has no such endpoint), those of the store and of
 * request.h. Close it in any case. */
bool replay_open(struct replay *replay, const struct replay_input *input,
                 struct error *err) MUST_CHECK;

/* The snapshot has no endpoint for the batch. */
static inline bool replay_error_is_of_source(const struct error *err)
{
    return strcmp(err->code, "replay.endpoint") == 0;
}

/* False only for a failure of our own. */
bool replay_send(struct replay *replay, struct http *http, struct error *err) MUST_CHECK;
void replay_take(struct replay *replay, const struct http_response *reply);
/* Reads the response, without comparing: replay->is_read, or replay->failure. */
void replay_read(struct replay *replay);
/* Reads it, if that was not done, and compares. */
bool replay_judge(struct replay *replay, struct error *err) MUST_CHECK;

void replay_close(struct replay *replay); /* accepts the zero value */

/* ---- parts, for replay.c ---- */

/* Reads what the batch kept of its response (replay_then.c). */
bool replay_then(struct replay *replay, struct error *err) MUST_CHECK;
/* Compares (replay_compare.c). */
bool replay_compare(struct replay *replay, struct error *err) MUST_CHECK;

#endif
