/* The upstream of shape.h: finds records, pages through them, writes responses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "shape.h"
#include "test.h"

struct query { /* a request to the list, read */
    int64_t since_us;
    int64_t until_us;
    int64_t offset;
    int64_t size;
};

/* ---- the request ---- */

static bool number_in(struct str url, const char *name, int64_t *number)
{
    char key[32];
    size_t at;

    (void)snprintf(key, sizeof(key), "%s=", name);
    at = str_find(url, str_of(key));
    if (at >= url.len)
        return false;
    *number = strtoll(url.data + at + strlen(key), NULL, 10);
    return true;
}

static struct str header_of(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (str_eq_nocase(request->headers[i].name, str_of(name)))
            return request->headers[i].value;
    }
    return (struct str){ NULL, 0 };
}

/* A token is "t" and the position that it stands for. */
static int64_t position_of(struct str token)
{
    return token.len > 1 && token.data[0] == 't' ? strtoll(token.data + 1, NULL, 10) : -1;
}

static struct str token_in(const struct shape *shape, const struct http_request *request)
{
    size_t at;

    if (shape->paging == NEED_TOKEN_HEADER)
        return header_of(request, "X-Token");
    at = str_find(request->url, STR("token="));
    if (shape->paging != NEED_TOKEN || at >= request->url.len)
        return (struct str){ NULL, 0 };
    at += strlen("token=");
    return str_slice(request->url, at,
                     at + str_find(str_slice(request->url, at, request->url.len), STR("&")));
}

/* False: the upstream never gave this token. */
static bool read_query(const struct shape_api *api, const struct http_request *request,
                       struct query *query)
{
    const struct shape *shape = api->shape;
    const struct str token = token_in(shape, request);
    int64_t number;

    *query = (struct query){ .until_us = INT64_MAX, .size = shape->size };
    if (number_in(request->url, "since", &number))
        query->since_us = number * US_PER_SECOND;
    if (number_in(request->url, "until", &number))
        query->until_us = number * US_PER_SECOND;
    if (number_in(request->url, "rows", &number))
        query->size = number;
    if (shape->paging == NEED_SINGLE)
        query->size = SHAPE_RECORDS_MAX;
    if (number_in(request->url, "offset", &number))
        query->offset = number;
    if (number_in(request->url, "page", &number))
        query->offset = (number - (shape->paging != NEED_PAGE0)) * query->size;
    if (token.len > 0)
        query->offset = position_of(token);
    return query->offset >= 0;
}

/* ---- the records ---- */

static const struct shape_api *sorted_api; /* qsort takes no context */

static int by_date(const void *left, const void *right)
{
    const int a = *(const int *)left, b = *(const int *)right;
    const int64_t a_us = sorted_api->records[a].updated_us;
    const int64_t b_us = sorted_api->records[b].updated_us;

    return a_us != b_us ? (a_us < b_us ? -1 : 1) : (a > b) - (a < b);
}

static int64_t find(const struct shape_api *api, const struct query *query, int *found)
{
    int64_t count = 0;

    for (int i = 0; i < api->count; i++) {
        if (api->records[i].updated_us >= query->since_us &&
            api->records[i].updated_us < query->until_us)
            found[count++] = i;
    }
    sorted_api = api;
    if (count > 0)
        qsort(found, (size_t)count, sizeof(found[0]), by_date);
    return count;
}

struct str shape_id(const struct shape *shape, struct arena *arena, int number)
{
    return arena_printf(arena, shape->number_ids ? "%d" : "r%d", 1000 + number);
}

static struct tree *id_tree(const struct shape *shape, struct arena *arena, int number)
{
    struct tree *tree = tree_new(arena, shape->number_ids ? TREE_BARE : TREE_TEXT);

    tree->text = shape_id(shape, arena, number);
    return tree;
}

static struct tree *record_tree(const struct shape_api *api, struct arena *arena, int number)
{
    const struct shape_record *record = &api->records[number];
    struct tree *tree = tree_new(arena, TREE_OBJECT);
    char date[INSTANT_TEXT_MAX];

    (void)instant_format(record->updated_us, date);
    tree_put(arena, tree, "id", id_tree(api->shape, arena, number));
    if (api->shape->has_dates)
        tree_put(arena, tree, "updated", tree_text(arena, "%s", date));
    tree_put(arena, tree, "title", tree_text(arena, "Number %d", number));
    tree_put(arena, tree, "revision", tree_bare(arena, record->revision));
    return tree;
}

static struct tree *list_item(const struct shape_api *api, struct arena *arena, int number)
{
    struct tree *tree;

    if (!api->shape->two_phases)
        return record_tree(api, arena, number);
    if (api->shape->bare_ids)
        return id_tree(api->shape, arena, number);
    tree = tree_new(arena, TREE_OBJECT);
    tree_put(arena, tree, "id", id_tree(api->shape, arena, number));
    return tree;
}

/* ---- a page ---- */

static void put_list(const struct shape *shape, struct arena *arena, struct answer *answer,
                     struct tree *list)
{
    struct tree *data;

    if (shape->depth == 0) {
        answer->root = list;
        return;
    }
    if (list->count == 0 && shape->omits_empty_list)
        return;
    if (shape->depth == 1) {
        tree_put(arena, answer->root, "items", list);
        return;
    }
    data = tree_new(arena, TREE_OBJECT);
    tree_put(arena, data, "items", list);
    tree_put(arena, answer->root, "data", data);
}

static struct str next_of(const struct shape *shape, struct arena *arena, const struct query *query,
                          int64_t end)
{
    if (shape->paging == NEED_TOKEN || shape->paging == NEED_TOKEN_HEADER)
        return arena_printf(arena, "t%lld", (long long)end);
    return arena_printf(
        arena, "https://api.example.org/list?since=%lld&until=%lld&rows=%lld&page=%lld",
        (long long)(query->since_us / US_PER_SECOND), (long long)(query->until_us / US_PER_SECOND),
        (long long)query->size, (long long)(end / query->size + 1));
}

static void put_next(const struct shape *shape, struct arena *arena, struct answer *answer,
                     struct str next)
{
    answer->in_header = shape->paging == NEED_TOKEN_HEADER || shape->paging == NEED_LINK;
    if (answer->in_header) {
        answer->next = next;
        return;
    }
    if (shape->paging != NEED_TOKEN && shape->paging != NEED_URL)
        return;
    if (next.data != NULL)
        tree_put(arena, answer->root, "next", tree_text(arena, "%.*s", STR_ARG(next)));
    else if (shape->end != END_ABSENT)
        tree_put(arena, answer->root, "next",
                 shape->end == END_NULL ? tree_new(arena, TREE_NULL) : tree_text(arena, "%s", ""));
}

static void make_page(const struct shape_api *api, struct arena *arena, const struct query *query,
                      struct answer *answer)
{
    const struct shape *shape = api->shape;
    int found[SHAPE_RECORDS_MAX];
    const int64_t count = find(api, query, found);
    const int64_t end = query->offset + query->size < count ? query->offset + query->size : count;
    struct tree *list = tree_new(arena, TREE_LIST);

    answer->root = tree_new(arena, TREE_OBJECT);
    answer->space = shape->has_space ? SHAPE_SPACE : NULL;
    for (int64_t i = query->offset; i < end; i++)
        tree_add(arena, list, list_item(api, arena, found[i]));
    if (shape->has_total && (query->offset == 0 || !shape->total_first_only))
        tree_put(arena, answer->root, "total", tree_bare(arena, count));
    if (shape->has_more)
        tree_put(arena, answer->root, "more", tree_bool(arena, end < count));
    put_next(shape, arena, answer,
             end < count ? next_of(shape, arena, query, end) : (struct str){ NULL, 0 });
    put_list(shape, arena, answer, list);
}

void shape_first_answer(const struct shape_api *api, struct arena *arena, struct window window,
                        struct answer *answer)
{
    const struct query query = { .since_us = window.from_us,
                                 .until_us = window.to_us,
                                 .size = api->shape->size };

    *answer = (struct answer){ 0 };
    make_page(api, arena, &query, answer);
}

struct tree *shape_list(const struct shape *shape, const struct answer *answer)
{
    const int depth = answer->is_detail ? 1 : shape->depth;

    if (depth == 0)
        return answer->root->kind == TREE_LIST ? answer->root : NULL;
    return tree_get(depth == 1 ? answer->root : tree_get(answer->root, "data"), "items");
}

/* ---- records by id: ids=r1000%2Cr1001 ---- */

static void make_records(const struct shape_api *api, struct arena *arena, struct str url,
                         struct answer *answer)
{
    struct tree *list = tree_new(arena, TREE_LIST);
    const char *at = url.data + str_find(url, STR("ids=")) + strlen("ids=");
    const char *end = url.data + url.len;

    while (at < end) {
        char *after;
        long number;

        if (*at == 'r')
            at++;
        number = strtol(at, &after, 10) - 1000;
        if (number >= 0 && number < api->count)
            tree_add(arena, list, record_tree(api, arena, (int)number));
        at = after < end && strncmp(after, "%2C", 3) == 0 ? after + 3 : after + 1;
    }
    answer->is_detail = true;
    answer->root = tree_new(arena, TREE_OBJECT);
    answer->space = api->shape->has_space ? SHAPE_SPACE : NULL;
    tree_put(arena, answer->root, "items", list);
}

/* ---- the response ---- */

static void write_headers(const struct shape *shape, struct arena *arena,
                          const struct answer *answer, struct scripted_reply *reply)
{
    struct http_header *headers = ARENA_ARRAY(arena, struct http_header, 2);

    REQUIRE(headers != NULL, "memory");
    headers[reply->header_count++] =
        (struct http_header){ STR("Content-Type"),
                              shape->is_xml ? STR("application/xml") : STR("application/json") };
    if (answer->in_header && answer->next.data != NULL)
        headers[reply->header_count++] =
            shape->paging == NEED_LINK
                ? (struct http_header){ STR("Link"), arena_printf(arena, "<%.*s>; rel=\"next\"",
                                                                  STR_ARG(answer->next)) }
                : (struct http_header){ STR("X-Next"), answer->next };
    reply->headers = headers;
}

static void make(void *context, struct arena *arena, const struct http_request *request,
                 struct scripted_reply *reply)
{
    struct shape_api *api = context;
    struct answer answer = { .number = ++api->requests };
    struct query query;
    struct buf out;

    *reply = (struct scripted_reply){ .status = 200, .took_us = 20 * US_PER_MS };
    if (str_find(request->url, STR("ids=")) < request->url.len)
        make_records(api, arena, request->url, &answer);
    else if (read_query(api, request, &query))
        make_page(api, arena, &query, &answer);
    else {
        reply->status = 400;
        reply->body = STR("{\"message\":\"no such token\"}");
        return;
    }
    answer.sent = api->shape->paging == NEED_URL || api->shape->paging == NEED_LINK
                      ? request->url
                      : token_in(api->shape, request);
    answer.key = arena_printf(arena, "%.*s %.*s", STR_ARG(request->url),
                              STR_ARG(header_of(request, "X-Token")));
    if (api->change != NULL)
        api->change(api->context, arena, &answer);
    write_headers(api->shape, arena, &answer, reply);
    buf_init(&out, arena, 1 << 20);
    if (api->shape->is_xml)
        tree_write_xml(&out, answer.root, answer.space);
    else
        tree_write_json(&out, answer.root);
    reply->body = buf_str(&out);
}

void shape_api_init(struct shape_api *api, const struct shape *shape, struct clock *clock)
{
    memset(api, 0, sizeof(*api));
    api->shape = shape;
    scripted_http_init(&api->http, clock);
    scripted_http_reply(&api->http,
                        &(struct scripted_reply){ .times = -1, .make = make, .context = api });
}

void shape_api_release(struct shape_api *api)
{
    scripted_http_release(&api->http);
}
