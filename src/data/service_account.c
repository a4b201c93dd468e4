/* The key file of a Google service account. */
#include "data/service_account.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <string.h>

#include "base/instant.h"
#include "data/base64.h"
#include "data/json.h"
#include "data/json_write.h"
#include "data/url.h"

enum { DEPTH_MAX = 8, JWT_BYTES_MAX = 64 << 10 };

/* ---- reading ---- */

static bool read_member(const struct json_doc *doc, struct arena *arena, struct str name,
                        struct str *value, struct error *err)
{
    const struct json_node node = json_get(doc, json_root(doc), name);

    if (json_type(doc, node) != JSON_STRING)
        return error_set(err, ERROR_FATAL, "auth.key", "the key file has no text \"%.*s\"",
                         STR_ARG(name));
    if (!json_string(doc, node, arena, value, err))
        return false;
    if (value->len == 0 || memchr(value->data, '\0', value->len) != NULL)
        return error_set(err, ERROR_FATAL, "auth.key", "\"%.*s\" in the key file is not usable",
                         STR_ARG(name));
    return true;
}

bool service_account_read(struct arena *arena, struct str text, struct service_account *account,
                          struct error *err)
{
    struct json_doc doc;
    struct str type;

    *account = (struct service_account){ 0 };
    if (!json_parse_depth(&doc, arena, text, DEPTH_MAX, err))
        return error_set(err, ERROR_FATAL, "auth.key", "the key file is not JSON");
    if (!read_member(&doc, arena, STR("type"), &type, err) ||
        !read_member(&doc, arena, STR("client_email"), &account->email, err) ||
        !read_member(&doc, arena, STR("private_key_id"), &account->key_id, err) ||
        !read_member(&doc, arena, STR("private_key"), &account->private_key, err) ||
        !read_member(&doc, arena, STR("token_uri"), &account->token_url, err))
        return false;
    if (!str_eq(type, STR("service_account")))
        return error_set(err, ERROR_FATAL, "auth.key",
                         "the key file is not that of a service account");
    if (!str_starts(account->token_url, STR("https://")))
        return error_set(err, ERROR_FATAL, "auth.key",
                         "\"token_uri\" in the key file does not begin with https://");
    return true;
}

/* ---- signing ---- */

/* RFC 7515: base64 with two other letters and no padding. */
static void add_base64url(struct buf *out, struct arena *arena, struct str bytes)
{
    struct buf plain;
    struct str text;

    buf_init(&plain, arena, JWT_BYTES_MAX);
    base64_encode(&plain, bytes);
    text = buf_str(&plain);
    for (size_t i = 0; i < text.len && text.data[i] != '='; i++)
        buf_add_char(out, text.data[i] == '+' ? '-' : text.data[i] == '/' ? '_' : text.data[i]);
    out->failed |= plain.failed;
}

static void add_head(struct buf *out, struct arena *arena, const struct service_account *account)
{
    struct buf json;
    struct json_writer w;

    buf_init(&json, arena, JWT_BYTES_MAX);
    json_writer_init(&w, &json);
    json_write_object(&w);
    json_write_member_str(&w, STR("alg"), STR("RS256"));
    json_write_member_str(&w, STR("kid"), account->key_id);
    json_write_member_str(&w, STR("typ"), STR("JWT"));
    json_write_end(&w);
    json_writer_finish(&w);
    add_base64url(out, arena, buf_str(&json));
    out->failed |= json.failed;
}

static void add_claims(struct buf *out, struct arena *arena, const struct service_account *account,
                       struct str scope, int64_t now_us)
{
    struct buf json;
    struct json_writer w;

    buf_init(&json, arena, JWT_BYTES_MAX);
    json_writer_init(&w, &json);
    json_write_object(&w);
    json_write_member_str(&w, STR("iss"), account->email);
    json_write_member_str(&w, STR("scope"), scope);
    json_write_member_str(&w, STR("aud"), account->token_url);
    json_write_member_i64(&w, STR("iat"), now_us / US_PER_SECOND);
    json_write_member_i64(&w, STR("exp"), now_us / US_PER_SECOND + 3600);
    json_write_end(&w);
    json_writer_finish(&w);
    add_base64url(out, arena, buf_str(&json));
    out->failed |= json.failed;
}

/* Keys with a password are refused: nobody could type it. */
static int no_password(char *out, int size, int is_writing, void *context)
{
    (void)out;
    (void)size;
    (void)is_writing;
    (void)context;
    return -1;
}

static EVP_PKEY *read_key(struct str pem)
{
    BIO *bio = BIO_new_mem_buf(pem.data, (int)pem.len);
    EVP_PKEY *key = bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;

    BIO_free(bio);
    if (key != NULL && EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    return key;
}

static bool sign(struct arena *arena, EVP_PKEY *key, struct str text, struct str *signature)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t len = (size_t)EVP_PKEY_get_size(key);
    unsigned char *bytes = arena_alloc(arena, len);
    const bool ok =
        context != NULL && bytes != NULL &&
        EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
        EVP_DigestSign(context, bytes, &len, (const unsigned char *)text.data, text.len) == 1;

    EVP_MD_CTX_free(context);
    *signature = (struct str){ (const char *)bytes, len };
    return ok;
}

bool service_account_form(struct arena *arena, const struct service_account *account,
                          struct str scope, int64_t now_us, struct str *form, struct error *err)
{
    EVP_PKEY *key = read_key(account->private_key);
    struct buf jwt, out;
    struct str signature;
    bool is_signed;

    if (key == NULL)
        return error_set(err, ERROR_FATAL, "auth.key",
                         "\"private_key\" in the key file is not an RSA key in PEM form");
    buf_init(&jwt, arena, JWT_BYTES_MAX);
    add_head(&jwt, arena, account);
    buf_add_char(&jwt, '.');
    add_claims(&jwt, arena, account, scope, now_us);
    is_signed = sign(arena, key, buf_str(&jwt), &signature);
    EVP_PKEY_free(key);
    if (!is_signed)
        return error_set(err, ERROR_FATAL, "auth.key", "the private key does not sign");
    buf_add_char(&jwt, '.');
    add_base64url(&jwt, arena, signature);
    if (!buf_ok(&jwt, err))
        return false;
    buf_init(&out, arena, (size_t)2 * JWT_BYTES_MAX);
    buf_add(&out, STR("grant_type="));
    url_encode(&out, STR("urn:ietf:params:oauth:grant-type:jwt-bearer"), URL_FORM);
    buf_add(&out, STR("&assertion="));
    buf_add(&out, buf_str(&jwt));
    *form = buf_str(&out);
    return buf_ok(&out, err);
}
