/* The head of a response, line by line: its limits hold, its headers are valid. Then what a client
 * makes of it: the body's kind, and where a redirect leads, which is never another origin. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "data/http_head.h"
#include "data/http_redirect.h"
#include "data/media_type.h"
#include "data/saved_response.h"
#include "data/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const struct http_request REQUEST = {
    .method = STR_INIT("GET"),
    .url = STR_INIT("https://api.example.org/works?api_key=S3CRET"),
    .redirects_max = 3,
};

static void check_redirect(struct arena *arena, const struct http_head *head)
{
    const struct http_response reply = { .status = head->status, .headers = head->headers };
    struct url home, target;
    struct http_hop hop;
    struct error err;

    if (!http_redirect(arena, &(struct http_arrival){ &REQUEST, REQUEST.url, 0, &reply }, &hop,
                       &err)) {
        assert(strcmp(err.code, "http.redirect_refused") == 0);
        return;
    }
    if (hop.url.data == NULL)
        return;
    assert(!hop.leaves_origin);
    assert(url_parse(REQUEST.url, &home, &err) && url_parse(hop.url, &target, &err));
    assert(url_same_origin(&home, &target));
}

static void check_body(const struct http_head *head, struct str body)
{
    const struct str type = http_header_value(head->headers, STR("Content-Type"));
    struct media_type media;
    struct error err;

    if (media_type_parse(type, &media))
        assert(media.type.len > 0 && media.subtype.len > 0);
    if (body_check(type, body, BODY_JSON, &err))
        assert(body_kind(body) == BODY_JSON);
    if (!body_charset_check(type, body, &err))
        assert(!str_is_utf8(body));
}

/* The same bytes as a file of curl's: the body is the end of them. */
static void check_saved(struct arena *arena, struct str text)
{
    const struct saved_response saved = { .text = text };
    struct http_response reply;
    struct error err;

    if (!saved_response_read(&saved, arena, &reply, &err)) {
        assert(err.level == ERROR_REQUEST);
        return;
    }
    assert(reply.body.len == 0 || str_ends(text, reply.body));
    for (size_t i = 0; i < reply.headers.count; i++)
        assert(http_is_token(reply.headers.items[i].name));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct http_limits limits = { .header_bytes_max = 2000, .headers_max = 20 };
    struct str rest = { (const char *)bytes, size };
    struct http_head head;
    struct arena arena;
    struct error err;
    bool ok = true;

    arena_init(&arena, 4 << 20);
    http_head_init(&head, &arena, &limits);
    while (ok && rest.len > 0 && !head.is_complete) {
        const size_t line = str_find_char(rest, '\n') + 1;

        ok = http_head_add(&head, str_slice(rest, 0, line), &err);
        rest = str_slice(rest, line, rest.len);
    }
    assert(head.headers.count <= limits.headers_max);
    for (size_t i = 0; i < head.headers.count; i++)
        assert(http_is_token(head.headers.items[i].name));
    if (ok) {
        check_redirect(&arena, &head);
        check_body(&head, rest);
    }
    check_saved(&arena, (struct str){ (const char *)bytes, size });
    arena_release(&arena);
    return 0;
}
