/* Signed requests. */
#include "data/signature.h"

#include "test.h"

/* The hex values are Python's: hmac.new(key, "\n".join([method, path, "&".join(sorted(pairs)),
 * date, sha256(body).hexdigest()]).encode(), "sha256").hexdigest() */
static const struct {
    const char *label;
    struct str method, url, body, proof;
} cases[] = {
    { "GET with a query", STR_INIT("GET"),
      STR_INIT("https://api.example.org/works?rows=10&cursor=%2A&a#part"), STR_INIT(""),
      STR_INIT("PATRA-HMAC-SHA256 KeyId=me, Signature="
               "6b7562ab861e0ef785469fa05c2b55dad8e0c59a44eff08d364c1b845b949573") },
    { "POST to the root", STR_INIT("POST"), STR_INIT("https://api.example.org"),
      STR_INIT("{\"q\":1}"),
      STR_INIT("PATRA-HMAC-SHA256 KeyId=me, Signature="
               "efedd184ddb95dc047911554061570d3a8c2ea10012f7518f02c6aef4e9686ef") },
    { "no method is GET", STR_INIT(""),
      STR_INIT("https://api.example.org/works?&a&cursor=%2A&&rows=10"), STR_INIT(""),
      STR_INIT("PATRA-HMAC-SHA256 KeyId=me, Signature="
               "6b7562ab861e0ef785469fa05c2b55dad8e0c59a44eff08d364c1b845b949573") },
};

TEST(a_request_is_signed_as_documented)
{
    const struct signature_hook *hook = signature_hook_find(STR("hmac-sha256"));
    struct arena arena;
    struct error err;

    REQUIRE(hook != NULL, "hook");
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct http_request request = { .method = cases[i].method,
                                              .url = cases[i].url,
                                              .body = cases[i].body };
        struct signature signature = { 0 };

        REQUIRE_OK(hook->sign(&arena,
                              &(struct signature_input){
                                  .request = &request,
                                  .now_us = INT64_C(1767323045000000), /* 2026-01-02T03:04:05Z */
                                  .key_id = STR("me"),
                                  .key = STR("s3cr3t") },
                              &signature, &err),
                   err);
        REQUIRE(signature.count == 2, cases[i].label);
        CHECK_STR(signature.headers[0].name, STR("Date"), cases[i].label);
        CHECK_STR(signature.headers[0].value, STR("Fri, 02 Jan 2026 03:04:05 GMT"), cases[i].label);
        CHECK_STR(signature.headers[1].name, STR("Authorization"), cases[i].label);
        CHECK_STR(signature.headers[1].value, cases[i].proof, cases[i].label);
    }
    arena_release(&arena);
}

TEST(hooks_are_found_by_name)
{
    CHECK(signature_hook_find(STR("nonsense")) == NULL, "none of this name");
    for (size_t i = 0; i < signature_hooks_count; i++)
        CHECK(signature_hook_find(str_of(signature_hooks[i].name)) == &signature_hooks[i],
              signature_hooks[i].name);
}
