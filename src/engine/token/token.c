/* Tokens. */
#include "engine/token/token.h"

#include <stdio.h>
#include <string.h>

#include "base/hex.h"
#include "data/hash.h"

static const struct str PREFIX = STR_INIT("patra_");

static bool is_hex(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (hex_small_digit(text.data[i]) < 0)
            return false;
    }
    return true;
}

struct str token_selector(struct str text)
{
    const size_t from = PREFIX.len;
    const struct str selector = str_slice(text, from, from + TOKEN_SELECTOR_HEX);
    const struct str secret = str_slice(text, from + TOKEN_SELECTOR_HEX + 1, text.len);

    if (!str_starts(text, PREFIX) || secret.len != TOKEN_SECRET_HEX || !is_hex(selector) ||
        !is_hex(secret) || text.data[from + TOKEN_SELECTOR_HEX] != '_')
        return STR("");
    return selector;
}

static bool hash_secret(struct str text, char hex[HASH_HEX_MAX], struct error *err)
{
    struct hash_sum sum;

    if (!hash_of(str_slice(text, text.len - TOKEN_SECRET_HEX, text.len), &sum, err))
        return false;
    hash_hex(&sum, hex);
    return true;
}

/* ---- making one ---- */

static bool name_is_valid(struct str name)
{
    if (name.len == 0 || name.len > TOKEN_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.data[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            strchr("-_.@", c) == NULL)
            return false;
    }
    return true;
}

static void write_text(struct random_source *random, char text[TOKEN_TEXT_MAX])
{
    unsigned char bytes[(TOKEN_SELECTOR_HEX + TOKEN_SECRET_HEX) / 2];
    size_t len = (size_t)snprintf(text, TOKEN_TEXT_MAX, "%.*s", STR_ARG(PREFIX));

    random_source_bytes(random, bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        len += (size_t)snprintf(text + len, TOKEN_TEXT_MAX - len, "%s%02x",
                                i == TOKEN_SELECTOR_HEX / 2 ? "_" : "", bytes[i]);
    explicit_bzero(bytes, sizeof(bytes));
}

bool token_make(struct store *store, struct random_source *random,
                const struct token_request *request, char text[TOKEN_TEXT_MAX], struct error *err)
{
    struct token_row row = { .name = request->name,
                             .scope = request->scope,
                             .created_by = request->by,
                             .created_us = request->now_us,
                             .expires_us = request->expires_us };
    char hash[HASH_HEX_MAX];
    bool added;

    if (!name_is_valid(request->name))
        return error_set(err, ERROR_REQUEST, "token.name",
                         "a name has 1 to %d letters, digits and -_.@", TOKEN_NAME_MAX);
    write_text(random, text);
    if (!hash_secret(str_of(text), hash, err))
        return false;
    row.selector = token_selector(str_of(text));
    row.hash = str_of(hash);
    if (!store_token_add(store, &row, &added, err))
        return false;
    return added || error_set(err, ERROR_REQUEST, "token.name",
                              "there is a token %.*s; revoke it first: patra token revoke %.*s",
                              STR_ARG(request->name), STR_ARG(request->name));
}

/* ---- checking one ---- */

static bool are_same(struct str a, struct str b)
{
    unsigned char difference = 0;

    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        difference |= (unsigned char)(a.data[i] ^ b.data[i]);
    return difference == 0;
}

bool token_check(struct store *store, struct arena *arena, struct str text, int64_t now_us,
                 enum token_verdict *verdict, struct token_row *row, struct error *err)
{
    const struct str selector = token_selector(text);
    char hash[HASH_HEX_MAX];
    bool found;

    *verdict = TOKEN_MALFORMED;
    if (selector.len == 0)
        return true;
    if (!hash_secret(text, hash, err) ||
        !store_token_find(store, arena, selector, row, &found, err))
        return false;
    if (!found || !are_same(row->hash, str_of(hash)))
        *verdict = TOKEN_UNKNOWN;
    else if (row->revoked_us != 0)
        *verdict = TOKEN_REVOKED;
    else if (row->expires_us != 0 && row->expires_us <= now_us)
        *verdict = TOKEN_EXPIRED;
    else
        *verdict = TOKEN_GOOD;
    return true;
}
