/* A service account's key file, and the assertion that it signs: checked by OpenSSL's own verifier
 * and a decoder of this file's own. */
#include "data/service_account.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>

#include "../../support/certificate.h"
#include "base/instant.h"
#include "test.h"

static struct certificate certificate;
static char file[2 * CERTIFICATE_PEM_MAX];

/* The key file with one member replaced: name, and its value as JSON. */
static struct str key_file(const char *name, const char *json)
{
    static const char *const MEMBERS[][2] = {
        { "type", "\"service_account\"" },
        { "client_email", "\"patra@p.iam.example\"" },
        { "private_key_id", "\"k1\"" },
        { "token_uri", "\"https://tokens.example/token\"" },
    };
    size_t len = 0;

    for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++)
        len += (size_t)snprintf(
            file + len, sizeof(file) - len, "%c\"%s\":%s", i == 0 ? '{' : ',', MEMBERS[i][0],
            name != NULL && strcmp(name, MEMBERS[i][0]) == 0 ? json : MEMBERS[i][1]);
    len += (size_t)snprintf(file + len, sizeof(file) - len, ",\"private_key\":");
    if (name != NULL && strcmp(name, "private_key") == 0)
        return (struct str){ file,
                             len + (size_t)snprintf(file + len, sizeof(file) - len, "%s}", json) };
    file[len++] = '"';
    for (const char *c = certificate.key; *c != '\0'; c++) {
        if (*c == '\n')
            file[len++] = '\\';
        file[len++] = *c == '\n' ? 'n' : *c;
    }
    file[len++] = '"';
    file[len++] = '}';
    return (struct str){ file, len };
}

/* base64url without padding; returns the length. */
static size_t decode(struct str text, unsigned char *out)
{
    static const char LETTERS[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned bits = 0, held = 0;
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        const char *letter = strchr(LETTERS, text.data[i]);

        REQUIRE(letter != NULL && *letter != '\0', "a letter of base64url");
        bits = bits << 6 | (unsigned)(letter - LETTERS);
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[len++] = (unsigned char)(bits >> held);
        }
    }
    return len;
}

static bool is_signed(struct str text, const unsigned char *signature, size_t len)
{
    BIO *bio = BIO_new_mem_buf(certificate.public_key, -1);
    EVP_PKEY *key = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool ok =
        key != NULL && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
        EVP_DigestVerify(context, signature, len, (const unsigned char *)text.data, text.len) == 1;

    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    BIO_free(bio);
    return ok;
}

TEST(the_assertion_says_who_asks_for_what_and_is_signed)
{
    static const struct str PREFIX =
        STR_INIT("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=");
    struct service_account account;
    struct arena arena;
    struct error err;
    struct str form, jwt, rest, head, claims;
    unsigned char bytes[4096];
    size_t len;

    REQUIRE(certificate_make(&certificate, "DNS:x.example"), "a key");
    arena_init(&arena, 1 << 20);
    REQUIRE_OK(service_account_read(&arena, key_file(NULL, NULL), &account, &err), err);
    CHECK_STR(account.email, STR("patra@p.iam.example"), "who");
    REQUIRE_OK(service_account_form(&arena, &account, STR("https://scope.example/x"),
                                    INT64_C(1790000000) * US_PER_SECOND + 999999, &form, &err),
               err);
    REQUIRE(str_starts(form, PREFIX), "the grant of RFC 7523");
    jwt = rest = str_slice(form, PREFIX.len, form.len);
    head = str_cut(&rest, '.');
    claims = str_cut(&rest, '.');
    len = decode(head, bytes);
    CHECK_STR((struct str)((struct str){ (char *)bytes, len }),
              STR("{\"alg\":\"RS256\",\"kid\":\"k1\",\"typ\":\"JWT\"}"), "the head");
    len = decode(claims, bytes);
    CHECK_STR((struct str)((struct str){ (char *)bytes, len }),
              STR("{\"iss\":\"patra@p.iam.example\",\"scope\":\"https://scope.example/x\","
                  "\"aud\":\"https://tokens.example/token\",\"iat\":1790000000,"
                  "\"exp\":1790003600}"),
              "the claims");
    len = decode(rest, bytes);
    CHECK(is_signed(str_slice(jwt, 0, head.len + 1 + claims.len), bytes, len), "the signature");
    CHECK(!is_signed(str_slice(jwt, 0, head.len + claims.len), bytes, len), "of all of it");
    arena_release(&arena);
}

TEST(what_is_not_a_key_file_is_refused_and_not_quoted)
{
    static const char *const CASES[][2] = {
        { "type", "\"authorized_user\"" },
        { "client_email", "1" },
        { "client_email", "\"\"" },
        { "private_key_id", "null" },
        { "private_key", "[\"swordfish\"]" },
        { "private_key", "\"sword\\u0000fish\"" },
        { "token_uri", "\"http://tokens.example/swordfish\"" },
        { "token_uri", "\"file:///swordfish\"" },
    };
    struct service_account account;
    struct arena arena;
    struct error err;

    REQUIRE(certificate_make(&certificate, "DNS:x.example"), "a key");
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CHECK(!service_account_read(&arena, key_file(CASES[i][0], CASES[i][1]), &account, &err),
              CASES[i][1]);
        CHECK_STR(str_of(err.code), STR("auth.key"), CASES[i][0]);
        CHECK_EQ(err.level, ERROR_FATAL, "L4");
        CHECK(strstr(err.text, "fish") == NULL, err.text);
    }
    CHECK(!service_account_read(&arena, STR("swordfish"), &account, &err), "no JSON");
    CHECK(strstr(err.text, "fish") == NULL, err.text);
    arena_release(&arena);
}

TEST(a_private_key_that_is_none_is_refused_when_it_should_sign)
{
    struct service_account account;
    struct arena arena;
    struct error err;
    struct str form;

    REQUIRE(certificate_make(&certificate, "DNS:x.example"), "a key");
    arena_init(&arena, 1 << 20);
    REQUIRE_OK(
        service_account_read(&arena, key_file("private_key", "\"swordfish\""), &account, &err),
        err);
    CHECK(!service_account_form(&arena, &account, STR("x"), 0, &form, &err), "no key");
    CHECK_STR(str_of(err.code), STR("auth.key"), err.text);
    CHECK(strstr(err.text, "fish") == NULL, err.text);
    arena_release(&arena);
}
