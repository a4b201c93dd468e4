/* The hooks that sign requests, and their table. */
#include "data/signature.h"

#include <stdlib.h>

#include "base/list.h"
#include "data/hash.h"
#include "data/http_date.h"
#include "data/url.h"

enum { TEXT_BYTES_MAX = 2 * HTTP_URL_BYTES_MAX };

/* ---- hmac-sha256 ---- */

struct pair_list {
    struct str *items;
    size_t count;
};

static int compare_pairs(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool add_sorted_query(struct arena *arena, struct buf *out, struct str query,
                             struct error *err)
{
    struct pair_list pairs = { 0 };

    while (query.len > 0) {
        const struct str pair = str_cut(&query, '&');
        struct str *item;

        if (pair.len == 0)
            continue;
        item = LIST_ADD(arena, &pairs);
        if (item == NULL)
            return arena_error(arena, err);
        *item = pair;
    }
    if (pairs.count > 1)
        qsort(pairs.items, pairs.count, sizeof(pairs.items[0]), compare_pairs);
    for (size_t i = 0; i < pairs.count; i++) {
        if (i > 0)
            buf_add_char(out, '&');
        buf_add(out, pairs.items[i]);
    }
    return true;
}

static bool canonical_text(struct arena *arena, const struct http_request *request,
                           const char *date, struct str *text, struct error *err)
{
    char body_hex[HASH_HEX_MAX];
    struct hash_sum body_sum;
    struct url url;
    struct buf out;

    if (!url_parse(request->url, &url, err)) /* its text quotes the whole URL */
        return error_set(err, ERROR_FATAL, "auth.hook", "the request to sign has no valid URL");
    if (!hash_of(request->body, &body_sum, err))
        return false;
    hash_hex(&body_sum, body_hex);
    buf_init(&out, arena, TEXT_BYTES_MAX);
    buf_add(&out, request->method.len > 0 ? request->method : STR("GET"));
    buf_add_char(&out, '\n');
    buf_add(&out, url.path.len > 0 ? url.path : STR("/"));
    buf_add_char(&out, '\n');
    if (!add_sorted_query(arena, &out, url.query, err))
        return false;
    buf_printf(&out, "\n%s\n%s", date, body_hex);
    *text = buf_str(&out);
    return buf_ok(&out, err);
}

static bool sign_hmac_sha256(struct arena *arena, const struct signature_input *input,
                             struct signature *signature, struct error *err)
{
    char date[HTTP_DATE_TEXT_MAX], hex[HASH_HEX_MAX];
    struct hash_sum sum;
    struct str text = { 0 }, date_value, proof;

    (void)http_date_format(input->now_us, date);
    if (!canonical_text(arena, input->request, date, &text, err) ||
        !hash_hmac(input->key, text, &sum, err))
        return false;
    hash_hex(&sum, hex);
    date_value = arena_copy(arena, str_of(date));
    proof = arena_printf(arena, "PATRA-HMAC-SHA256 KeyId=%.*s, Signature=%s",
                         STR_ARG(input->key_id), hex);
    if (date_value.data == NULL || proof.data == NULL)
        return arena_error(arena, err);
    signature->headers[0] = (struct http_header){ STR("Date"), date_value };
    signature->headers[1] = (struct http_header){ STR("Authorization"), proof };
    signature->count = 2;
    return true;
}

/* ---- the table ---- */

const struct signature_hook signature_hooks[] = {
    { "hmac-sha256", "HMAC-SHA256 over method, path, sorted query, date and body",
      sign_hmac_sha256 },
};
const size_t signature_hooks_count = ARRAY_LEN(signature_hooks);

const struct signature_hook *signature_hook_find(struct str name)
{
    for (size_t i = 0; i < signature_hooks_count; i++) {
        if (str_eq(str_of(signature_hooks[i].name), name))
            return &signature_hooks[i];
    }
    return NULL;
}
