/* Compares one credential of a request with what it must be. */
#include "sim/auth/credential.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/instant.h"
#include "sim/http/http_date.h"

enum { CANONICAL_BYTES_MAX = 256 << 10, SKEW_SECONDS_MAX = 300 };

bool credential_is_basic(struct arena *arena, struct str header, struct str user,
                         struct str password)
{
    const struct str plain = arena_printf(arena, "%.*s:%.*s", STR_ARG(user), STR_ARG(password));
    unsigned char *coded = arena_alloc(arena, plain.len / 3 * 4 + 8);
    int len;

    if (plain.data == NULL || coded == NULL || !str_starts(header, STR("Basic ")))
        return false;
    len = EVP_EncodeBlock(coded, (const unsigned char *)plain.data, (int)plain.len);
    return str_eq(str_trim(str_slice(header, 6, header.len)),
                  (struct str){ (const char *)coded, (size_t)len });
}

bool credential_is_bearer(struct str header, struct str token)
{
    return str_starts(header, STR("Bearer ")) &&
           str_eq(str_trim(str_slice(header, 7, header.len)), token);
}

void credential_token(struct str secret, uint64_t n, char *text, size_t size)
{
    unsigned char mac[SHA256_DIGEST_LENGTH];
    char label[40];
    const int len = snprintf(label, sizeof(label), "token %llu", (unsigned long long)n);
    size_t at = (size_t)snprintf(text, size, "sim-");

    (void)HMAC(EVP_sha256(), secret.data, (int)secret.len, (const unsigned char *)label,
               (size_t)len, mac, NULL);
    for (size_t i = 0; i < 20 && at + 3 <= size; i++)
        at += (size_t)snprintf(text + at, size - at, "%02x", mac[i]);
}

/* ---- signatures ---- */

static int compare_pairs(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void add_sorted_query(struct buf *out, struct str query)
{
    struct str pairs[CALL_PARAMS_MAX] = { 0 };
    size_t count = 0;

    while (query.len > 0 && count < CALL_PARAMS_MAX) {
        pairs[count] = str_cut(&query, '&');
        count += pairs[count].len > 0;
    }
    qsort(pairs, count, sizeof(pairs[0]), compare_pairs);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_char(out, '&');
        buf_add(out, pairs[i]);
    }
}

/* The text that is signed, in the call's arena; empty when the arena is full. */
static struct str canonical(const struct http_call *call)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    struct buf text;

    (void)SHA256((const unsigned char *)(call->body.len > 0 ? call->body.data : ""), call->body.len,
                 digest);
    buf_init(&text, call->arena, CANONICAL_BYTES_MAX);
    buf_printf(&text, "%.*s\n%.*s\n", STR_ARG(call->method), STR_ARG(call->raw_path));
    add_sorted_query(&text, call->query);
    buf_printf(&text, "\n%.*s\n", STR_ARG(call_header(call, STR("Date"))));
    buf_add_hex(&text, digest, sizeof(digest));
    return text.failed ? STR("") : buf_str(&text);
}

static struct str field(struct str header, struct str name)
{
    while (header.len > 0) {
        struct str value = str_trim(str_cut(&header, ','));
        const struct str key = str_cut(&value, '=');

        if (str_eq(key, name))
            return value;
    }
    return STR("");
}

static bool is_fresh(const struct http_call *call)
{
    int64_t at_us;

    return sim_http_date_parse(call_header(call, STR("Date")), &at_us) &&
           llabs(at_us - call->now_us) <= SKEW_SECONDS_MAX * US_PER_SECOND;
}

enum credential_check credential_check_signature(const struct http_call *call, struct str header,
                                                 struct str key_id, struct str secret)
{
    const struct str scheme = str_cut(&header, ' ');
    const struct str text = canonical(call);
    unsigned char mac[SHA256_DIGEST_LENGTH];
    struct buf hex;

    if (!str_eq(scheme, STR("PATRA-HMAC-SHA256")))
        return CREDENTIAL_ABSENT;
    if (!is_fresh(call))
        return CREDENTIAL_EXPIRED;
    (void)HMAC(EVP_sha256(), secret.data, (int)secret.len, (const unsigned char *)text.data,
               text.len, mac, NULL);
    buf_init(&hex, call->arena, 2 * sizeof(mac));
    buf_add_hex(&hex, mac, sizeof(mac));
    return text.len > 0 && str_eq(field(header, STR("KeyId")), key_id) &&
                   str_eq(field(header, STR("Signature")), buf_str(&hex))
               ? CREDENTIAL_VALID
               : CREDENTIAL_WRONG;
}
