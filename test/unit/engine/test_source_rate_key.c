/* The names under which rates are shared. */
#include "engine/source/rate_key.h"

#include "test.h"

static const struct {
    const char *label;
    enum rate_scope scope;
    bool per_credential;
    enum auth_type auth;
    const char *secret;
    const char *key;
} cases[] = {
    { "an endpoint", RATE_SCOPE_ENDPOINT, true, AUTH_NONE, "", "demo/works" },
    { "the source", RATE_SCOPE_SOURCE, true, AUTH_NONE, "", "demo" },
    { "the host, without scheme, port and path", RATE_SCOPE_HOST, true, AUTH_NONE, "",
      "host:api.example.org" },
    { "each credential for itself", RATE_SCOPE_SOURCE, true, AUTH_API_KEY, "env:KEY",
      "demo#env:KEY" },
    { "all credentials together", RATE_SCOPE_SOURCE, false, AUTH_API_KEY, "env:KEY", "demo" },
};

TEST(a_rate_key_names_who_shares_the_rate)
{
    struct arena arena;
    struct error err = { 0 };
    struct str key;

    arena_init(&arena, 4096);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct spec_endpoint endpoint = {
            .name = STR("works"),
            .http = { .base_url = STR("https://api.example.org:8443/v1") },
            .auth = { .type = cases[i].auth, .secret = str_of(cases[i].secret) },
            .rate = { .scope = cases[i].scope, .per_credential = cases[i].per_credential },
        };

        REQUIRE_OK(rate_key(&arena, STR("demo"), &endpoint, &key, &err), err);
        CHECK_STR(key, str_of(cases[i].key), cases[i].label);
    }
    arena_release(&arena);
}
