/* URLs: parsed, resolved, compared, redacted. */
#include <assert.h>
#include <stdint.h>

#include "data/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_resolve(struct arena *arena, struct str reference)
{
    struct url base, url;
    struct error err;
    struct str resolved;

    assert(url_parse(STR("https://api.example.org/v1/works?a=1"), &base, &err));
    if (!url_resolve(arena, STR("https://api.example.org/v1/works?a=1"), reference, &resolved,
                     &err))
        return;
    assert(url_parse(resolved, &url, &err));
    assert(str_find(url.path, STR("/../")) == url.path.len);
    /* A reference that names no host stays where it is. */
    if (str_find(reference, STR("//")) == reference.len)
        assert(url_same_origin(&base, &url));
}

static void check_encoding(struct arena *arena, struct str bytes)
{
    struct buf out;
    struct str value;

    buf_init(&out, arena, 1 << 20);
    buf_add(&out, STR("x="));
    url_encode(&out, bytes, URL_FORM);
    assert(url_query_find(arena, buf_str(&out), STR("x"), &value));
    assert(str_eq(value, bytes));
    buf_clear(&out);
    url_encode(&out, bytes, URL_PATH);
    assert(str_eq(url_decode(arena, buf_str(&out), URL_PATH), bytes));
    assert(url_decode(arena, bytes, URL_FORM).len <= bytes.len);
}

static void check_redact(struct arena *arena, struct str text)
{
    static const struct str names[] = { STR_INIT("key") };
    struct buf once, twice;

    buf_init(&once, arena, 1 << 20);
    buf_init(&twice, arena, 1 << 20);
    url_redact(&once, text, names, 1);
    url_redact(&twice, buf_str(&once), names, 1);
    assert(str_eq(buf_str(&once), buf_str(&twice)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str text = { (const char *)bytes, size };
    struct arena arena;
    struct url url;
    struct error err;
    struct str value;

    arena_init(&arena, 8 << 20);
    if (url_parse(text, &url, &err))
        assert(url.host.len > 0 && url_same_origin(&url, &url));
    (void)!url_query_find(&arena, text, STR("key"), &value);
    check_resolve(&arena, text);
    check_encoding(&arena, text);
    check_redact(&arena, text);
    arena_release(&arena);
    return 0;
}
