/* Takes secrets and personal data out of texts that come from a source. */
#include "engine/fetch/request.h"

#include <string.h>

#include "base/mask.h"
#include "data/redact.h"
#include "data/url.h"

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

/* redact_text() for error texts, redact_body() for whole responses. */
typedef size_t redactor(char *text, size_t len, struct str secret);

struct masking {
    struct secret_source *secrets;
    redactor *redact;
};

static void mask_reference(struct text *text, const struct masking *by, struct str setting)
{
    struct secret secret;
    struct error ignored; /* what cannot be read was not sent */

    if (!secret_is_reference(setting) || !secret_get(by->secrets, setting, &secret, &ignored))
        return;
    text->len = by->redact(text->data, text->len, secret_str(&secret));
    secret_wipe(&secret);
}

/* A proxy that is shown its password may repeat it without the rest of its URL. */
static void mask_proxy(struct text *text, const struct masking *by, struct str setting)
{
    struct secret secret, password;
    struct error ignored;

    mask_reference(text, by, setting);
    if (!secret_is_reference(setting) || !secret_get(by->secrets, setting, &secret, &ignored))
        return;
    password.len = url_password(secret_str(&secret), password.bytes, sizeof(password.bytes));
    text->len = by->redact(text->data, text->len, secret_str(&password));
    secret_wipe(&password);
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

        if (count >= REDACT_BYTES_MIN &&
            (is_shown || (all_long_ones && count >= REQUEST_MASK_WORD_MIN))) {
            star(text, at, count);
            at += 2;
        } else if (count > 0)
            at += count - 1;
    }
}

/* ---- the whole ---- */

static void mask_auth(struct text *text, const struct masking *by, const struct spec_auth *auth)
{
    const struct str credential[] = { auth->secret, auth->username, auth->password, auth->client_id,
                                      auth->client_secret };

    for (size_t i = 0; i < ARRAY_LEN(credential); i++)
        mask_reference(text, by, credential[i]);
}

/* Of "http.proxy: env", as libcurl reads them. */
static const struct str proxies[] = { STR_INIT("env:http_proxy"), STR_INIT("env:https_proxy"),
                                      STR_INIT("env:HTTPS_PROXY"), STR_INIT("env:all_proxy"),
                                      STR_INIT("env:ALL_PROXY") };

/* What the source's settings refer to. */
static size_t mask_secrets(const struct request_mask *mask, redactor *redact, char *bytes,
                           size_t len)
{
    const struct masking by = { mask->secrets, redact };
    const struct spec *spec = mask->form->spec;
    const struct spec_endpoint *endpoint = mask->form->endpoint;
    struct text text = { bytes, len };

    mask_auth(&text, &by, &endpoint->auth);
    for (size_t i = 0; i < endpoint->variant_count; i++)
        mask_auth(&text, &by, &endpoint->variants[i].auth);
    for (size_t i = 0; i < spec->param_count; i++)
        mask_reference(&text, &by, spec->params[i].value);
    if (!str_eq(endpoint->http.proxy, STR("env")))
        mask_proxy(&text, &by, endpoint->http.proxy);
    else {
        for (size_t i = 0; i < ARRAY_LEN(proxies); i++)
            mask_proxy(&text, &by, proxies[i]);
    }
    return text.len;
}

size_t request_mask_secrets(const struct request_mask *mask, char *bytes, size_t len)
{
    return mask_secrets(mask, redact_body, bytes, len);
}

size_t request_mask_text(const struct request_mask *mask, char *bytes, size_t len)
{
    struct text text = { bytes, mask_secrets(mask, redact_text, bytes, len) };

    text.len = http_redact(mask->http, text.data, text.len);
    mask_words(&text, mask->form->endpoint->auth.type == AUTH_OAUTH2);
    return mask_personal(bytes, text.len); /* last: a secret may look like an address */
}
