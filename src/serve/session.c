/* Cookies of browsers that have shown a token. */
#include "serve/session.h"

#include <inttypes.h>

#include "base/instant.h"

#define NAME "patra_session"

static bool code_of_text(const struct session_key *key, struct arena *arena, const char *use,
                         struct str text, struct str *hex, struct error *err)
{
    const struct str message = arena_printf(arena, "%s:%.*s", use, STR_ARG(text));
    const struct str secret = { (const char *)key->bytes, sizeof(key->bytes) };
    char digits[HASH_HEX_MAX];
    struct hash_sum sum;

    if (message.data == NULL)
        return arena_error(arena, err);
    if (!hash_hmac(secret, message, &sum, err))
        return false;
    hash_hex(&sum, digits);
    *hex = arena_copy(arena, str_of(digits));
    return hex->data != NULL || arena_error(arena, err);
}

bool session_make(const struct session_key *key, struct arena *arena, struct str selector,
                  int64_t now_us, struct str *value, struct error *err)
{
    const struct str said = arena_printf(arena, "%.*s.%" PRId64, STR_ARG(selector),
                                         (now_us + SESSION_US) / US_PER_SECOND);
    struct str code;

    if (said.data == NULL)
        return arena_error(arena, err);
    if (!code_of_text(key, arena, "session", said, &code, err))
        return false;
    *value = arena_printf(arena, "%.*s.%.*s", STR_ARG(said), STR_ARG(code));
    return value->data != NULL || arena_error(arena, err);
}

/* "a=1; patra_session=...; b=2" */
static struct str find_cookie(struct str header)
{
    while (header.len > 0) {
        struct str value = str_trim(str_cut(&header, ';'));

        if (str_eq(str_cut(&value, '='), STR(NAME)))
            return value;
    }
    return STR("");
}

bool session_same(struct str a, struct str b)
{
    unsigned char difference = 0;

    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        difference |= (unsigned char)(a.data[i] ^ b.data[i]);
    return difference == 0;
}

bool session_read(const struct session_key *key, struct arena *arena, struct str cookie,
                  int64_t now_us, struct str *selector, struct str *value, struct error *err)
{
    struct str rest = find_cookie(cookie), name, expires, said, code;
    int64_t until_s;

    *value = rest;
    *selector = STR("");
    name = str_cut(&rest, '.');
    expires = str_cut(&rest, '.');
    if (name.len == 0 || !str_to_i64(expires, &until_s))
        return true;
    said = arena_printf(arena, "%.*s.%.*s", STR_ARG(name), STR_ARG(expires));
    if (said.data == NULL)
        return arena_error(arena, err);
    if (!code_of_text(key, arena, "session", said, &code, err))
        return false;
    if (session_same(code, rest) && until_s > now_us / US_PER_SECOND)
        *selector = name;
    return true;
}

bool session_form_key(const struct session_key *key, struct arena *arena, struct str value,
                      struct str *form_key, struct error *err)
{
    return code_of_text(key, arena, "form", value, form_key, err);
}

struct str session_cookie(struct arena *arena, struct str value, bool is_tls)
{
    return arena_printf(arena,
                        NAME "=%.*s; Path=/; Max-Age=%" PRId64 "; HttpOnly; SameSite=Strict%s",
                        STR_ARG(value), value.len > 0 ? SESSION_US / US_PER_SECOND : (int64_t)0,
                        is_tls ? "; Secure" : "");
}
