/* request_kept: what a request was made of, kept with its batch, so that the same request can be
 * made again by the snapshot of then: replayed, or read from the archive. JSON, without secrets:
 *
 *      {"endpoint":"works","number":3,"page":4,"offset":60,"size":20,"token":"...",
 *       "from":1767225600000000,"to":1767312000000000,"ids":["10.1/x"],"history":{"webenv":"..."}}
 *
 * Members are absent where the request had none. A token that is not plain text is "tokenBase64".
 * Plan, slice and snapshot are those of the batch. "stream" marks a file, of which a batch is only
 * a part: it is not requested again by itself.
 */
#ifndef PATRA_ENGINE_FETCH_REQUEST_KEPT_H
#define PATRA_ENGINE_FETCH_REQUEST_KEPT_H

#include "data/json.h"
#include "engine/fetch/request.h"

struct request_kept {
    struct str endpoint; /* its name */
    bool ids_only;       /* the items of the response are ids */
    bool is_child_page;
    bool is_stream;
    int64_t number; /* of the page in its list, from 0; the next four as page_state has them */
    int64_t page_no;
    int64_t offset;
    int64_t size;
    struct str token;
    struct window window; /* not valid: none */
    bool has_since;
    int64_t since_us;
    struct str after; /* data NULL: none */
    const struct str *ids;
    size_t id_count;
    const struct listing_value *history;
    size_t history_count;
};

struct str request_kept_write(const struct request_kept *kept,
                              struct arena *arena); /* NULL: full */

/* "request.kept" (L4) where it is not such a text. Views of json, or in the arena. */
bool request_kept_read(struct request_kept *kept, struct arena *arena, struct str json,
                       struct error *err) MUST_CHECK;

#endif
