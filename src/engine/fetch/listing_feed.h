/* listing_feed: what a page of a feed says about the feed: the ids it is ordered by, the highest id
 * that the source has, and the token that ends a sync.
 *
 * Every item of a feed by id has an id that orders it: response.sequence, or the record's own id. A
 * page with an item whose id is missing or not a whole number cannot be placed: "listing.schema"
 * (L4; a second response to the same request may be in order). So is a page whose sync token is
 * too long for a cursor.
 */
#ifndef PATRA_ENGINE_FETCH_LISTING_FEED_H
#define PATRA_ENGINE_FETCH_LISTING_FEED_H

#include "engine/fetch/reader.h"
#include "engine/fetch/response.h"

struct listing_feed { /* texts live in the page's arena; data NULL: none */
    struct str highest;
    struct str lowest;
    bool is_unordered;     /* an id came after a higher one */
    struct str latest;     /* the highest id that the source has */
    struct str sync_token; /* as it was received */
};

struct listing_feed_input {
    const struct reader *reader;
    const struct response *response;
    struct arena *arena;
    enum cursor_type type; /* ID, TOKEN; TIME: the page is not one of a feed */
};

/* Of a feed by id with response.sequence: the id of each item, in order. NULL for all others. */
bool listing_feed_sequences(const struct listing_feed_input *input, struct str **sequences,
                            struct error *err) MUST_CHECK;

/* The next item's id. */
bool listing_feed_note(struct listing_feed *feed, struct str id, struct error *err) MUST_CHECK;

/* What the page as a whole says. */
bool listing_feed_read(const struct listing_feed_input *input, struct listing_feed *feed,
                       struct error *err) MUST_CHECK;

/* Whether the sync token fits a cursor; a relative URL is longer once it is resolved. */
bool listing_feed_fits(const struct listing_feed *feed, struct error *err) MUST_CHECK;

#endif
