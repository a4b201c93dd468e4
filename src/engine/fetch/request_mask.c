/* Takes secrets and personal data out of texts that come from a source. */
#include "engine/fetch/request.h"

#include <string.h>

#include "base/mask.h"
#include "base/quote.h"
#include "data/url.h"

/* Each byte of a value percent-encoded. */
enum { ENCODED_BYTES_MAX = 3 * SECRET_BYTES_MAX };

struct text {
    char *data;
    size_t len;
};

/* Puts three stars in place of count bytes. */
static void star(struct text *text, size_t at, size_t count)
{
    memcpy(text->data + at, "***", 3);
    memmove(text->data + at + 3, text->data + at + count, text->len - at - count);
    text->len -= count - 3;
}

/* ---- values ---- */

/* Where a text was cut: at its end, or where quote_of() marks it. */
static bool is_cut_at(const struct text *text, size_t at)
{
    const struct str mark = STR("... (");

    return at == text->len ||
           (text->len - at >= mark.len && memcmp(text->data + at, mark.data, mark.len) == 0);
}

/* How many bytes of the value are at this place: all, the first few before a cut, or none. */
static size_t match(const struct text *text, size_t at, struct str value)
{
    size_t count = 0;

    while (count < value.len && at + count < text->len &&
           text->data[at + count] == value.data[count])
        count++;
    if (count == value.len || (count >= REQUEST_MASK_BYTES_MIN && is_cut_at(text, at + count)))
        return count;
    return 0;
}

static void mask_value(struct text *text, struct str value)
{
    if (value.len < REQUEST_MASK_BYTES_MIN)
        return;
    for (size_t at = 0; at < text->len; at++) {
        const size_t count = match(text, at, value);

        if (count == 0)
            continue;
        star(text, at, count);
        at += 2;
    }
}

static void mask_forms(struct text *text, struct str value)
{
    /* As an error text quotes it; error texts quote no more of it. */
    const struct quote quote = quote_of(str_slice(value, 0, QUOTE_BYTES_MAX));
    struct arena arena;
    struct buf encoded;

    mask_value(text, value);
    mask_value(text, str_slice(str_of(quote.text), 1, strlen(quote.text) - 1));
    arena_init(&arena, (size_t)4 * ENCODED_BYTES_MAX);
    buf_init(&encoded, &arena, ENCODED_BYTES_MAX);
    url_encode(&encoded, value, URL_QUERY);
    mask_value(text, buf_str(&encoded));
    arena_wipe(&arena);
    arena_release(&arena);
}

static void mask_reference(struct text *text, struct secret_source *secrets, struct str setting)
{
    struct secret secret;
    struct error ignored; /* what cannot be read was not sent */

    if (!secret_is_reference(setting) || !secret_get(secrets, setting, &secret, &ignored))
        return;
    mask_forms(text, secret_str(&secret));
    secret_wipe(&secret);
}

/* ---- words ---- */

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-._~+/=", c) != NULL);
}

static size_t word_at(const struct text *text, size_t at)
{
    size_t count = 0;

    while (at + count < text->len && is_word_char(text->data[at + count]))
        count++;
    return count;
}

static bool is_before(const struct text *text, size_t at, struct str scheme)
{
    return at >= scheme.len &&
           str_eq_nocase((struct str){ text->data + at - scheme.len, scheme.len }, scheme);
}

static void mask_words(struct text *text, bool all_long_ones)
{
    for (size_t at = 0; at < text->len; at++) {
        const size_t count = word_at(text, at);
        const bool is_shown =
            is_before(text, at, STR("Bearer ")) || is_before(text, at, STR("Basic "));

        if (count >= REQUEST_MASK_BYTES_MIN &&
            (is_shown || (all_long_ones && count >= REQUEST_MASK_WORD_MIN))) {
            star(text, at, count);
            at += 2;
        } else if (count > 0)
            at += count - 1;
    }
}

/* ---- the whole ---- */

static void mask_auth(struct text *text, struct secret_source *secrets,
                      const struct spec_auth *auth)
{
    const struct str credential[] = { auth->secret, auth->username, auth->password, auth->client_id,
                                      auth->client_secret };

    for (size_t i = 0; i < ARRAY_LEN(credential); i++)
        mask_reference(text, secrets, credential[i]);
}

size_t request_mask_text(const struct request_mask *mask, char *bytes, size_t len)
{
    const struct spec *spec = mask->form->spec;
    const struct spec_endpoint *endpoint = mask->form->endpoint;
    const struct spec_auth *auth = &endpoint->auth;
    struct text text = { bytes, len };

    mask_auth(&text, mask->secrets, auth);
    for (size_t i = 0; i < endpoint->variant_count; i++)
        mask_auth(&text, mask->secrets, &endpoint->variants[i].auth);
    for (size_t i = 0; i < spec->param_count; i++)
        mask_reference(&text, mask->secrets, spec->params[i].value);
    mask_reference(&text, mask->secrets, mask->form->endpoint->http.proxy);
    mask_words(&text, auth->type == AUTH_OAUTH2);
    return mask_personal(bytes, text.len); /* last: a secret may look like an address */
}
