/* The parts of a guess, one after the other. */
#include "engine/guess/guess.h"

#include "base/list.h"
#include "base/module.h"
#include "data/media_type.h"
#include "data/rate_hints.h"
#include "data/xml.h"
#include "engine/guess/guess_parts.h"

void guess_miss(struct guess *guess, struct arena *arena, struct str sentence)
{
    struct str *slot = LIST_ADD(arena, &guess->missing);

    if (slot != NULL)
        *slot = sentence;
}

bool guess_number(const struct guess_node *node, int64_t *number)
{
    return (node->shape == SHAPE_NUMBER || node->shape == SHAPE_TEXT) &&
           str_to_i64(str_trim(node->text), number);
}

bool guess_is_in(const struct guess_node *node, const struct guess_node *items)
{
    for (; node != NULL; node = node->parent) {
        if (node == items && items != NULL)
            return true;
    }
    return false;
}

static bool read_tree(struct guess_tree *tree, const struct guess_input *input, struct error *err)
{
    const struct str type = http_header_value(input->reply->headers, STR("Content-Type"));
    const struct str body = input->reply->body;
    const struct xml *xml = input->xml;
    struct media_type media;

    tree->guess->is_xml = body_kind(body) == BODY_XML;
    if (!body_check(type, body, tree->guess->is_xml ? BODY_XML : BODY_JSON, err)) {
        /* A worker would try again. Whoever describes an API has most likely another address. */
        err->level = ERROR_REQUEST;
        return error_wrap(err, "not a page of a list; give the address at which the API has one");
    }
    if (!tree->guess->is_xml)
        return guess_tree_json(tree, body, err);
    (void)media_type_parse(type, &media);
    if (xml == NULL)
        xml = module_load("xml", err);
    return xml != NULL && guess_tree_xml(tree, xml, body, media.charset, err);
}

static void tell_missing(struct guess *guess, struct arena *arena)
{
    if (guess->items.path.len == 0)
        guess_miss(guess, arena, STR("items: no list in the answer looks like one of records"));
    else if (guess->are_ids)
        guess_miss(guess, arena,
                   STR("the records: the answer lists ids only; a second endpoint must have them "
                       "(details, see docs/writing-a-source.md)"));
    if (guess->id.path.len == 0)
        guess_miss(guess, arena, STR("id: no member of the items looks like one"));
    if (guess->updated_at.path.len == 0)
        guess_miss(guess, arena,
                   STR("updated_at: no member of the items looks like a date of "
                       "change"));
    if (guess->total.path.len == 0)
        guess_miss(guess, arena, STR("total: no number says how many records match"));
    if (guess->page.type == PAGINATION_SINGLE)
        guess_miss(guess, arena,
                   STR("paging: nothing shows how the next page is requested; write the API's "
                       "parameters for it (page, offset, cursor) into the URL, and run the command "
                       "again"));
    if (guess->window.has_end && !guess->window.shows_end)
        guess_miss(guess, arena,
                   STR("the window's end: most APIs include it, so the file sends window.last; "
                       "where yours does not, write window.to, or each window lacks its end"));
}

static bool check_status(int status, struct error *err)
{
    if (status >= 200 && status <= 299)
        return true;
    if (status == 429 || status >= 500)
        return error_set(err, ERROR_TRANSIENT, "guess.status",
                         "status %d; nothing can be guessed from it: try again later", status);
    if (status == 401 || status == 403)
        return error_set(err, ERROR_REQUEST, "guess.status",
                         "status %d; write the key that the API wants into the URL, or save an "
                         "answer with curl -i and give it by --sample",
                         status);
    return error_set(err, ERROR_REQUEST, "guess.status",
                     "status %d; give the address at which the API has a page of a list", status);
}

static bool read_answer(struct guess *guess, struct arena *arena, const struct guess_input *input,
                        struct error *err)
{
    struct guess_tree tree = { .arena = arena, .guess = guess };
    struct rate_hints hints;
    struct guess_node *items;

    if (!check_status(input->reply->status, err) || !read_tree(&tree, input, err))
        return false;
    guess->has_answer = true;
    guess->is_oai =
        guess->is_xml && tree.root->first != NULL && str_eq(tree.root->first->name, STR("OAI-PMH"));
    items = guess_items(&tree);
    if (items != NULL)
        guess_fields(&tree, items);
    guess_total(&tree, items);
    guess_next(&tree, items, input->reply);
    hints = rate_hints_of(input->reply, false, input->now_us);
    guess->per_second = (double)hints.provider_rate / 1e6;
    tell_missing(guess, arena);
    return true;
}

bool guess_make(struct guess *guess, struct arena *arena, const struct guess_input *input,
                struct error *err)
{
    *guess = (struct guess){ .name = input->name, .page.type = PAGINATION_SINGLE };
    if (!guess_url(guess, arena, input->url, err))
        return false;
    if (input->reply != NULL && !read_answer(guess, arena, input, err))
        return false;
    if (guess->window.pattern.len == 0)
        guess_miss(guess, arena,
                   STR("the window: the URL has no dates; write the API's filter by date of "
                       "change into it, and run the command again"));
    return !arena->failed || arena_error(arena, err);
}
