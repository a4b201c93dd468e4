/* Ids of a feed's items, and what its pages say of the whole. */
#include "engine/fetch/listing_feed.h"

#include "base/quote.h"
#include "core/cursor.h"

bool listing_feed_sequences(const struct listing_feed_input *input, struct str **sequences,
                            struct error *err)
{
    const struct document_items *items = &input->response->items;
    const struct document_path *path = &input->reader->sequence;
    struct document_place place = { .document = &input->response->document, .arena = input->arena };
    struct str *list;

    *sequences = NULL;
    if (input->type != CURSOR_ID || !document_has_path(path))
        return true;
    list = ARENA_ARRAY(input->arena, struct str, items->count);
    if (list == NULL)
        return arena_error(input->arena, err);
    for (size_t i = 0; i < items->count; i++) {
        place.node = items->items[i];
        if (!document_text(&place, path, &list[i], err))
            return false;
        if (list[i].len == 0)
            return error_set(err, ERROR_FATAL, "listing.schema",
                             "item %zu of the page has nothing at %.*s, which orders the feed",
                             i + 1, STR_ARG(input->reader->endpoint->response.sequence.text));
    }
    *sequences = list;
    return true;
}

bool listing_feed_note(struct listing_feed *feed, struct str id, struct error *err)
{
    if (!cursor_id_is_valid(id))
        return error_set(err, ERROR_FATAL, "listing.schema",
                         "%s is not a whole number; response.sequence must lead to the id that "
                         "orders the feed",
                         QUOTE(id));
    id = cursor_id_normal(id);
    if (feed->highest.data != NULL && cursor_id_compare(id, feed->highest) < 0)
        feed->is_unordered = true;
    else
        feed->highest = id;
    if (feed->lowest.data == NULL || cursor_id_compare(id, feed->lowest) < 0)
        feed->lowest = id;
    return true;
}

/* data NULL: there is none. */
static bool read_text(const struct listing_feed_input *input, const struct document_path *path,
                      struct str *text, struct error *err)
{
    struct document_place root = { .document = &input->response->document, .arena = input->arena };
    struct document_value value;

    *text = (struct str){ NULL, 0 };
    if (!document_has_path(path) || !input->response->is_open)
        return true;
    root.node = document_root(root.document);
    if (!document_value(&root, path, &value, err))
        return false;
    if (value.is_broken) /* what would be sent back is not what was received */
        return error_set(err, ERROR_REQUEST, "page.next", "%s has half of a surrogate pair",
                         QUOTE(value.text));
    if (value.text.len > 0)
        *text = value.text;
    return true;
}

bool listing_feed_fits(const struct listing_feed *feed, struct error *err)
{
    return feed->sync_token.len <= CURSOR_VALUE_MAX ||
           error_set(err, ERROR_FATAL, "listing.schema",
                     "the sync token has %zu bytes; a cursor holds at most %d",
                     feed->sync_token.len, CURSOR_VALUE_MAX);
}

bool listing_feed_read(const struct listing_feed_input *input, struct listing_feed *feed,
                       struct error *err)
{
    if (input->type == CURSOR_TIME)
        return true;
    if (!read_text(input, &input->reader->latest, &feed->latest, err) ||
        !read_text(input, &input->reader->sync_token, &feed->sync_token, err))
        return false;
    if (feed->latest.data != NULL && !cursor_id_is_valid(feed->latest))
        return error_set(err, ERROR_FATAL, "listing.schema",
                         "response.latest is %s, which is not a whole number", QUOTE(feed->latest));
    return listing_feed_fits(feed, err);
}
