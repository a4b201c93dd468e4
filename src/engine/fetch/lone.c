/* Signs that a response is a part. */
#include "engine/fetch/lone.h"

#include <inttypes.h>

#include "data/link_header.h"
#include "engine/fetch/id_set.h"

static bool check_links(const struct http_response *reply, struct error *err)
{
    const struct http_header *header = NULL;
    struct error ignored; /* a Link header that nobody asked for may be anything */
    struct str next;

    while ((header = http_header_find(reply->headers, STR("Link"), header)) != NULL) {
        if (link_header_find(header->value, STR("next"), &next, &ignored) && next.len > 0)
            return error_set(err, ERROR_REQUEST, "answer.next",
                             "the response has a link to a next page, and its endpoint has no "
                             "pages (page.type: single)");
    }
    return true;
}

/* An id that comes twice hides one that is missing. */
static bool check_total(const struct listing *listing, struct arena *arena, struct error *err)
{
    struct id_set ids;
    bool is_new;

    if (!listing->has_total)
        return true;
    id_set_init(&ids, arena);
    for (size_t i = 0; i < listing->hash_count; i++) {
        if (!id_set_add(&ids, listing->hashes[i], &is_new, err))
            return false;
    }
    if (listing->total <= (int64_t)(ids.count + listing->unnamed))
        return true;
    return error_set(err, ERROR_REQUEST, "answer.total",
                     "the response has %zu of %" PRId64 " children, and its endpoint has no pages",
                     ids.count + listing->unnamed, listing->total);
}

bool lone_check(const struct lone_input *input, struct arena *arena, struct error *err)
{
    if (input->reply->status == 206)
        return error_set(err, ERROR_REQUEST, "answer.status",
                         "status 206: the response is a part, and its endpoint has no pages "
                         "(page.type: single)");
    if (input->listing->more == PAGE_MORE_YES)
        return error_set(err, ERROR_REQUEST, "answer.has_more",
                         "the response says that there are more pages, and its endpoint has none "
                         "(page.type: single)");
    return check_links(input->reply, err) &&
           (!input->is_of_parent || check_total(input->listing, arena, err));
}
