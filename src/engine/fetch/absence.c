/* Judges what a page lacks. */
#include "engine/fetch/absence.h"

#include "base/quote.h"
#include "engine/fetch/document_outline.h"

static bool refuse(const struct absence_input *input, struct arena *arena, enum response_part part,
                   struct error *err)
{
    static const struct {
        const char *code;
        const char *word;
    } words[] = {
        [RESPONSE_PART_ITEMS] = { "answer.items", "items" },
        [RESPONSE_PART_TOTAL] = { "answer.total", "total" },
        [RESPONSE_PART_NEXT] = { "answer.next", "next" },
        [RESPONSE_PART_HAS_MORE] = { "answer.has_more", "has_more" },
    };
    const struct spec_endpoint *endpoint = input->reader->endpoint;
    const struct str paths[] = {
        [RESPONSE_PART_ITEMS] = endpoint->response.items.text,
        [RESPONSE_PART_TOTAL] = endpoint->response.total.text,
        [RESPONSE_PART_NEXT] = endpoint->page.next.text,
        [RESPONSE_PART_HAS_MORE] = endpoint->response.has_more.text,
    };
    const struct document_path *const opened[] = {
        [RESPONSE_PART_ITEMS] = &input->reader->items,
        [RESPONSE_PART_TOTAL] = &input->reader->total,
        [RESPONSE_PART_NEXT] = &input->reader->next,
        [RESPONSE_PART_HAS_MORE] = &input->reader->has_more,
    };
    const struct str header = part == RESPONSE_PART_NEXT    ? endpoint->page.next_header
                              : part == RESPONSE_PART_TOTAL ? endpoint->response.total_header
                                                            : STR("");
    const struct str path =
        header.len > 0 ? arena_printf(arena, "header %.*s", STR_ARG(header)) : paths[part];
    const struct document *document = &input->response->document;
    const struct str outline = document_outline(document, arena);

    return error_set(err, ERROR_TRANSIENT, words[part].code,
                     "%.*s in the response, which has %zu items: %.*s; if the source "
                     "may leave it out, write response.may_be_absent: [%s]",
                     STR_ARG(document_outline_lack(document, opened[part], path, arena)),
                     input->listing->items, STR_ARG(outline), words[part].word);
}

static bool refuse_ids(const struct absence_input *input, struct error *err)
{
    const struct response *response = input->response;

    return error_set(err, ERROR_TRANSIENT, "answer.ids",
                     "none of the %zu items of the page has an id at %.*s; the first is %s",
                     input->listing->items, STR_ARG(input->reader->endpoint->response.id[0].text),
                     QUOTE(document_raw(&response->document, response->items.items[0])));
}

/* A scroll that has come to its end may drop its token. */
static bool is_end_of_scroll(const struct absence_input *input)
{
    return input->listing->items == 0 &&
           input->reader->endpoint->page.same_token == SAME_TOKEN_CONTINUE;
}

static bool has_no_ids(const struct listing *listing)
{
    return listing->items > 0 && listing->unnamed == listing->items;
}

bool absence_needs_total(const struct listing *listing)
{
    return listing->next_part == LISTING_ABSENT || has_no_ids(listing);
}

static bool lacks_next(const struct absence_input *input)
{
    return input->listing->next_part == LISTING_ABSENT && !input->is_total_reached &&
           input->listing->more != PAGE_MORE_NO &&
           input->listing->feed.sync_token.data == NULL && /* it ends a sync */
           !input->reader->endpoint->response.may_be_absent[RESPONSE_PART_NEXT] &&
           !is_end_of_scroll(input);
}

/* has_more is true, and there is nothing to follow. */
static bool contradicts(const struct listing *listing)
{
    return listing->more == PAGE_MORE_YES &&
           (listing->next_part == LISTING_ABSENT || listing->next_part == LISTING_EMPTY);
}

static bool refuse_end(const struct absence_input *input, struct arena *arena, struct error *err)
{
    const struct str outline = document_outline(&input->response->document, arena);

    return error_set(err, ERROR_TRANSIENT, "answer.next",
                     "%.*s says that there are more pages, and the response has no next: %.*s",
                     STR_ARG(input->reader->endpoint->response.has_more.text), STR_ARG(outline));
}

/* The list may be absent; but nothing else that the source declares for the body is there either.
 */
static bool is_stranger(const struct absence_input *input)
{
    const struct listing *listing = input->listing;
    const struct spec_endpoint *endpoint = input->reader->endpoint;
    const enum listing_part parts[] = {
        endpoint->response.total_header.len == 0 ? listing->total_part : LISTING_UNDECLARED,
        listing->more_part,
        endpoint->page.next_header.len == 0 ? listing->next_part : LISTING_UNDECLARED,
    };
    bool is_declared = false;

    if (input->response->items.is_there)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i] == LISTING_EMPTY || parts[i] == LISTING_FOUND)
            return false;
        is_declared |= parts[i] == LISTING_ABSENT;
    }
    return is_declared;
}

static bool refuse_stranger(const struct absence_input *input, struct arena *arena,
                            struct error *err)
{
    const struct str outline = document_outline(&input->response->document, arena);

    return error_set(
        err, ERROR_TRANSIENT, "answer.items",
        "there is no %.*s in the response, nor anything else that the source declares: "
        "%.*s; write a rule with meaning: empty if this means no records",
        STR_ARG(input->reader->endpoint->response.items.text), STR_ARG(outline));
}

/* No items, and a text or elements in their container that show that it is not an empty list. */
static bool check_strangers(const struct absence_input *input, struct arena *arena,
                            struct error *err)
{
    const struct document *document = &input->response->document;
    const struct document_path *strangers = &input->reader->strangers;
    const struct listing *listing = input->listing;
    bool is_other_list = false;
    struct str elements;

    if (strangers->xml == NULL || input->response->items.count > 0 ||
        (listing->has_total && listing->total == 0))
        return true;
    if (!xml_test(document->xml, strangers->xml, xml_root(document->xml, document->tree),
                  &is_other_list, err))
        return false;
    if (!is_other_list)
        return true;
    elements = document_outline_elements(document, &input->reader->elements, arena);
    return error_set(
        err, ERROR_TRANSIENT, "answer.items",
        "%.*s finds nothing in the response, but the place where it searches has other elements%s"
        "%.*s; see response.namespaces if the items have a namespace, and write a rule with "
        "meaning: empty if this means no records",
        STR_ARG(input->reader->endpoint->response.items.text),
        elements.len > 0 ? ": " : ", or a text", STR_ARG(elements));
}

bool absence_check(const struct absence_input *input, struct arena *arena, struct error *err)
{
    const struct listing *listing = input->listing;
    const bool *may_be_absent = input->reader->endpoint->response.may_be_absent;

    if (input->response->kind == RESPONSE_EMPTY)
        return true;
    if (is_stranger(input))
        return refuse_stranger(input, arena, err);
    if (!check_strangers(input, arena, err))
        return false;
    if (listing->items == 0 && input->is_first)
        return true;
    if (contradicts(listing))
        return refuse_end(input, arena, err);
    if (lacks_next(input))
        return refuse(input, arena, RESPONSE_PART_NEXT, err);
    if (listing->items == 0)
        return true;
    if (listing->total_part == LISTING_ABSENT && !may_be_absent[RESPONSE_PART_TOTAL])
        return refuse(input, arena, RESPONSE_PART_TOTAL, err);
    if (listing->more_part == LISTING_ABSENT && !may_be_absent[RESPONSE_PART_HAS_MORE])
        return refuse(input, arena, RESPONSE_PART_HAS_MORE, err);
    if (has_no_ids(listing) && !input->is_total_reached)
        return refuse_ids(input, err);
    return true;
}

bool absence_is_end(const struct listing *listing)
{
    return (listing->next_part == LISTING_ABSENT || listing->next_part == LISTING_EMPTY) &&
           !listing->ends_by_links && listing->more != PAGE_MORE_NO;
}
