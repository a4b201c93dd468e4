/* How the next page is requested: by what the answer gives, or by what the URL counts. */
#include <inttypes.h>

#include "base/quote.h"
#include "data/link_header.h"
#include "engine/guess/guess_parts.h"
#include "engine/guess/guess_words.h"

enum { POINTS_LEAST = 6, COUNTED_POINTS = 9, ECHO_POINTS = 7, PATH_POINTS = 8, LINK_POINTS = 16 };

static const struct guess_word NAMES[] = {
    { "next", 10 },
    { "token", 6 },
    { "cursor", 6 },
    { "resumption", 10 },
    { "continuation", 10 },
    { "continue", 8 },
    { "scroll", 7 },
    { "after", 5 },
    { "mark", 1 },
    { "page", 1 },
    { "url", 1 },
    { "links", 1 },
    { "link", 1 },
    { "end", 1 },
    { "prev", -20 },
    { "previous", -20 },
    { "first", -14 },
    { "last", -14 },
    { "self", -16 },
    { "request", -10 },
    { "query", -8 },
    { "access", -12 },
    { "sort", -12 },
    { "type", -12 },
    { "before", -12 },
    { "expiration", -20 },
    { "current", -12 },
    { "start", -12 },
    { NULL, 0 },
};

struct candidate {
    int points;
    enum pagination_type type;
    struct str path, header, param, initial;
    int64_t base;
    bool is_in_path; /* of the URL */
    struct str why;
};

struct search {
    struct guess_tree *tree;
    const struct guess_node *items;
    struct candidate best;
    int second;
};

static void offer(struct search *search, const struct candidate *candidate)
{
    if (candidate->points > search->best.points) {
        search->second = search->best.points;
        search->best = *candidate;
    } else if (candidate->points > search->second)
        search->second = candidate->points;
}

/* ---- tokens and URLs ---- */

static bool is_url(struct str text)
{
    return str_starts(text, STR("https://")) || str_starts(text, STR("http://")) ||
           str_starts(text, STR("/")) || str_starts(text, STR("?"));
}

/* nextPageToken is sent as pageToken, next_cursor as cursor. */
static struct str param_of(struct search *search, struct str name)
{
    char *copy;
    struct str rest = name;

    if (rest.len > 4 && str_eq_nocase(str_slice(rest, 0, 4), STR("next")))
        rest = str_slice(rest, 4, rest.len);
    while (rest.len > 0 && (rest.data[0] == '-' || rest.data[0] == '_' || rest.data[0] == '.'))
        rest = str_slice(rest, 1, rest.len);
    if (rest.len == 0 || rest.len == name.len)
        return rest.len == 0 ? name : rest;
    copy = arena_alloc(search->tree->arena, rest.len);
    if (copy == NULL)
        return name;
    for (size_t i = 0; i < rest.len; i++)
        copy[i] = i == 0 && rest.data[i] >= 'A' && rest.data[i] <= 'Z' ? (char)(rest.data[i] | 0x20)
                                                                       : rest.data[i];
    return (struct str){ copy, rest.len };
}

static struct guess_param *param_named(struct guess *guess, struct str name)
{
    for (size_t i = 0; i < guess->param_count; i++) {
        if (str_eq_nocase(guess->params[i].name, name))
            return &guess->params[i];
    }
    return NULL;
}

/* What the first request sends: only words that cannot be secrets. */
static struct str initial_of(const struct guess_param *param)
{
    int64_t number;

    if (param == NULL)
        return STR("");
    return str_eq(param->value, STR("*")) ||
                   (param->value.len <= 2 && str_to_i64(param->value, &number))
               ? param->value
               : STR("");
}

static void offer_text(struct search *search, const struct guess_node *node, int points)
{
    struct guess *guess = search->tree->guess;
    const bool is_blank = str_find_char(node->text, ' ') < node->text.len;
    struct candidate candidate = { .points = points, .path = guess_path(search->tree, node, NULL) };
    struct guess_words words = guess_words_of(node, search->tree->root);
    struct guess_param *param;

    if (is_url(node->text) || (node->text.len == 0 && (guess_words_have(&words, "links") ||
                                                       guess_words_have(&words, "url")))) {
        candidate.type = PAGINATION_URL;
        candidate.points += guess_words_have(&words, "next") ? 2 : -20;
        candidate.why = STR("it is called next, and a URL");
    } else {
        candidate.type = PAGINATION_TOKEN;
        candidate.param = param_of(search, node->name);
        param = param_named(guess, candidate.param);
        candidate.points += param != NULL ? 4 : 0;
        candidate.points -= is_blank ? 10 : 0;
        candidate.initial = initial_of(param);
        if (param != NULL)
            candidate.param = param->name;
        candidate.why =
            param != NULL ? STR("its name, and the URL has a parameter for it") : STR("its name");
    }
    if (candidate.path.len > 0)
        offer(search, &candidate);
}

/* <link rel="next" href="..."/>, and the same as members of a JSON object. */
static void offer_rel(struct search *search, const struct guess_node *list)
{
    const struct guess_node *rel = NULL, *href = NULL;
    const struct guess_node *first = list->shape == SHAPE_LIST ? list->first : list;

    for (const struct guess_node *link = first; link != NULL; link = link->next) {
        if (link->shape == SHAPE_LIST)
            continue;
        rel = href = NULL;
        for (const struct guess_node *at = link->first; at != NULL; at = at->next) {
            if (str_eq_nocase(at->name, STR("rel")) && str_eq_nocase(at->text, STR("next")))
                rel = at;
            if (str_eq_nocase(at->name, STR("href")) || str_eq_nocase(at->name, STR("url")))
                href = at;
        }
        if ((rel != NULL && href != NULL) || list->shape != SHAPE_LIST)
            break;
    }
    if (rel == NULL || href == NULL || !guess_is_scalar(href))
        return;
    offer(
        search,
        &(struct candidate){
            .points = LINK_POINTS,
            .type = PAGINATION_URL,
            .why = STR("a link with the relation next"),
            .path = search->tree->guess->is_xml
                        ? arena_printf(search->tree->arena, "%.*s[@%.*s='%.*s']/@%.*s",
                                       STR_ARG(guess_path(search->tree, list, NULL)),
                                       STR_ARG(rel->name), STR_ARG(rel->text), STR_ARG(href->name))
                        : arena_printf(search->tree->arena, "%.*s[?@.%.*s=='%.*s'].%.*s",
                                       STR_ARG(guess_path(search->tree, list, NULL)),
                                       STR_ARG(rel->name), STR_ARG(rel->text), STR_ARG(href->name)),
        });
}

static void offer_header(struct search *search, const struct http_response *reply)
{
    const struct http_header *at = NULL;
    struct str target;
    struct error ignored;

    while ((at = http_header_find(reply->headers, STR("Link"), at)) != NULL) {
        if (link_header_find(at->value, STR("next"), &target, &ignored) && target.data != NULL)
            offer(search, &(struct candidate){ .points = LINK_POINTS,
                                               .type = PAGINATION_URL,
                                               .header = STR("Link"),
                                               .why = STR("the header Link has a relation next") });
    }
}

/* OAI-PMH has one way of paging; the list of one page has no token. */
static void offer_protocol(struct search *search)
{
    struct guess_tree *tree = search->tree;
    const struct guess_namespace *first = &tree->guess->namespaces[0];
    const bool has_prefix = tree->guess->namespace_count > 0;

    if (!tree->guess->is_oai || search->items == NULL)
        return;
    offer(search,
          &(struct candidate){
              .points = POINTS_LEAST,
              .type = PAGINATION_TOKEN,
              .param = STR("resumptionToken"),
              .path = arena_printf(tree->arena, "%.*s/%.*s%sresumptionToken",
                                   STR_ARG(guess_path(tree, search->items->parent, NULL)),
                                   STR_ARG(has_prefix ? first->prefix : STR("")),
                                   has_prefix ? ":" : ""),
              .why = STR("OAI-PMH pages by this token; the answer has none, it is the last page"),
          });
}

/* ---- counted pages ---- */

static bool is_only(const struct guess_words *words, const char *const *allowed, size_t count)
{
    for (size_t i = 0; i < words->count; i++) {
        size_t j = 0;

        while (j < count && !(words->items[i][0] == allowed[j][0] &&
                              str_eq(str_of(words->items[i]), str_of(allowed[j]))))
            j++;
        if (j == count)
            return false;
    }
    return words->count > 0;
}

/* Whether a name is that of a number by which pages are counted. */
static bool counts_pages(struct str name, enum pagination_type *type)
{
    static const char *const pages[] = { "page", "p",          "number", "no",
                                         "num",  "pagenumber", "pageno", "index" };
    static const char *const offsets[] = { "offset", "start", "skip",   "from",       "retstart",
                                           "ret",    "index", "record", "startindex", "first" };
    struct guess_words words = { 0 };

    guess_words_add(&words, name);
    *type = PAGINATION_PAGE;
    if (is_only(&words, pages, ARRAY_LEN(pages)) && !guess_words_have(&words, "index"))
        return true;
    if (guess_words_have(&words, "page") && guess_words_have(&words, "index") && words.count == 2)
        return true;
    *type = PAGINATION_OFFSET;
    return is_only(&words, offsets, ARRAY_LEN(offsets)) && !guess_words_have(&words, "record");
}

/* More items than were requested: the API does not look at such parameters. */
static bool ignores_size(const struct guess *guess)
{
    return guess->page.size > 0 && (int64_t)guess->item_count > guess->page.size;
}

static void offer_params(struct search *search)
{
    struct guess *guess = search->tree->guess;

    for (size_t i = 0; i < guess->param_count; i++) {
        const struct guess_param *param = &guess->params[i];
        struct candidate candidate = { .points = COUNTED_POINTS - (ignores_size(guess) ? 4 : 0),
                                       .param = param->name };
        int64_t number;

        if (param->role != GUESS_PLAIN || !counts_pages(param->name, &candidate.type) ||
            !str_to_i64(param->value, &number) || number < 0)
            continue;
        candidate.base = number == 0 ? 0 : 1;
        candidate.why = STR("the URL counts by this parameter");
        offer(search, &candidate);
    }
}

/* The answer repeats a number that the URL does not have: its parameter has a default. */
static void offer_echo(struct search *search, const struct guess_node *node)
{
    struct candidate candidate = { .points = ECHO_POINTS - guess_depth(node, NULL) / 3 };
    char *lower;
    int64_t number;

    struct guess_words own = { 0 };

    guess_words_add(&own, node->name);
    if (guess_words_have(&own, "index") || !counts_pages(node->name, &candidate.type) ||
        !guess_number(node, &number) || number < 0 || number > 1 ||
        param_named(search->tree->guess, node->name) != NULL)
        return;
    lower = arena_alloc(search->tree->arena, node->name.len);
    if (lower == NULL)
        return;
    for (size_t i = 0; i < node->name.len; i++)
        lower[i] =
            search->tree->guess->is_xml && node->name.data[i] >= 'A' && node->name.data[i] <= 'Z'
                ? (char)(node->name.data[i] | 0x20)
                : node->name.data[i];
    candidate.param = (struct str){ lower, node->name.len };
    candidate.base = number;
    candidate.why = STR("the answer repeats this number; that a parameter has the same name is "
                        "not certain");
    offer(search, &candidate);
}

/* A part of the path that is a small number, and nothing but a format behind it:
 * /details/SERVER/FROM/TO/0, /citations/1/json. The 1 of /api/1/works is a version. */
static bool is_path_place(struct str part, struct str rest)
{
    return (str_eq(part, STR("0")) || str_eq(part, STR("1"))) &&
           (rest.len == 0 || str_eq(rest, STR("json")) || str_eq(rest, STR("xml")));
}

static void offer_path(struct search *search)
{
    struct str rest = search->tree->guess->path;

    while (rest.len > 0) {
        const struct str part = str_cut(&rest, '/');
        const bool is_zero = str_eq(part, STR("0"));

        if (is_path_place(part, rest))
            offer(search,
                  &(struct candidate){ .points = PATH_POINTS,
                                       .type = is_zero ? PAGINATION_OFFSET : PAGINATION_PAGE,
                                       .base = is_zero ? 0 : 1,
                                       .is_in_path = true,
                                       .why = STR("the path of the URL ends in a number") });
    }
}

/* A next that is a number: of the next page, or of its first record. */
static void offer_number(struct search *search, const struct guess_node *node)
{
    const struct guess *guess = search->tree->guess;
    struct candidate candidate = { .points = COUNTED_POINTS, .type = PAGINATION_OFFSET };
    int64_t number;

    if (!guess_number(node, &number) || number < 1)
        return;
    candidate.type = number <= 2 && guess->item_count > 2 ? PAGINATION_PAGE : PAGINATION_OFFSET;
    candidate.base = number == 1 ? 0 : 1;
    candidate.param = candidate.type == PAGINATION_PAGE ? STR("page") : STR("offset");
    candidate.why = STR("the answer has the number of the next one; the parameter's name is a "
                        "guess");
    offer(search, &candidate);
}

/* ---- all of the answer ---- */

static void offer_has_more(struct search *search, const struct guess_node *node)
{
    struct guess_words own = { 0 };

    guess_words_add(&own, node->name);
    if (!guess_words_have(&own, "more") &&
        !(guess_words_have(&own, "has") && guess_words_have(&own, "next")))
        return;
    search->tree->guess->has_more =
        (struct guess_found){ .certainty = GUESS_LIKELY,
                              .path = guess_path(search->tree, node, NULL),
                              .why = STR("a boolean that is called so") };
}

static void offer_node(struct search *search, const struct guess_node *node)
{
    const struct guess_words words = guess_words_of(node, search->tree->root);
    const int points = guess_words_points(&words, NAMES, NULL);

    if (str_eq_nocase(node->name, STR("links")) || str_eq_nocase(node->name, STR("link")))
        offer_rel(search, node);
    switch (node->shape) {
    case SHAPE_BOOL:
        offer_has_more(search, node);
        return;
    case SHAPE_NUMBER:
        if (points >= POINTS_LEAST)
            offer_number(search, node);
        offer_echo(search, node);
        return;
    case SHAPE_TEXT:
        offer_echo(search, node);
        if (points >= POINTS_LEAST && !node->is_attribute)
            offer_text(search, node, points);
        return;
    case SHAPE_NULL:
        if (points >= 10)
            offer_text(search, node, points);
        return;
    case SHAPE_OBJECT:
    case SHAPE_LIST:
        return;
    }
}

/* ---- the result ---- */

/* The number in the path becomes a template. */
static bool use_path(struct guess_tree *tree, const struct candidate *best)
{
    const struct str path = tree->guess->path;
    struct str rest = path;
    struct buf out;

    buf_init(&out, tree->arena, (size_t)1 << 16);
    while (rest.len > 0) {
        const size_t before = path.len - rest.len;
        const struct str part = str_cut(&rest, '/');

        if (!is_path_place(part, rest))
            continue;
        buf_add(&out, str_slice(path, 0, before));
        buf_add(&out, best->type == PAGINATION_PAGE ? STR("${page.no}") : STR("${page.offset}"));
        buf_add(&out, str_slice(path, before + part.len, path.len));
        break;
    }
    if (!out.failed)
        tree->guess->path = buf_str(&out);
    return !out.failed;
}

static void use(struct search *search)
{
    struct guess *guess = search->tree->guess;
    const struct candidate *best = &search->best;
    struct guess_param *param = param_named(guess, best->param);
    struct guess_page *page = &guess->page;

    if (best->points < POINTS_LEAST || (best->is_in_path && !use_path(search->tree, best))) {
        page->type = PAGINATION_SINGLE;
        return;
    }
    page->type = best->type;
    page->param = best->param;
    page->initial = best->initial;
    page->next_header = best->header;
    page->base = best->base;
    page->next = (struct guess_found){
        .certainty = guess_certainty_of(best->points, best->points - search->second),
        .path = best->path,
        .why = best->why,
    };
    if (param != NULL && best->type != PAGINATION_URL)
        param->role = GUESS_PLACE;
}

void guess_next(struct guess_tree *tree, const struct guess_node *items,
                const struct http_response *reply)
{
    struct search search = { .tree = tree, .items = items };

    for (struct guess_node *at = tree->root; at != NULL; at = guess_tree_next(tree->root, at)) {
        if (!guess_is_in(at, items))
            offer_node(&search, at);
    }
    offer_header(&search, reply);
    offer_protocol(&search);
    offer_params(&search);
    offer_path(&search);
    use(&search);
}
