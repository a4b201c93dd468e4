/* The name under which a rate is shared. */
#include "engine/source/rate_key.h"

#include "data/url.h"

struct str credential_of(const struct spec_auth *auth)
{
    if (auth->type == AUTH_NONE)
        return (struct str){ 0 };
    if (auth->secret.len > 0)
        return auth->secret;
    return auth->client_id.len > 0 ? auth->client_id : auth->username;
}

bool rate_key(struct arena *arena, struct str source, const struct spec_endpoint *endpoint,
              struct str *key, struct error *err)
{
    const struct str named =
        endpoint->credential.len > 0 ? endpoint->credential : credential_of(&endpoint->auth);
    const struct str credential = endpoint->rate.per_credential ? named : (struct str){ 0 };
    const char *mark = credential.len > 0 ? "#" : "";
    struct url url;

    if (!url_parse(endpoint->http.base_url, &url, err))
        return false;
    switch (endpoint->rate.scope) {
    case RATE_SCOPE_ENDPOINT:
        *key = arena_printf(arena, "%.*s/%.*s%s%.*s", STR_ARG(source), STR_ARG(endpoint->name),
                            mark, STR_ARG(credential));
        break;
    case RATE_SCOPE_SOURCE:
        *key = arena_printf(arena, "%.*s%s%.*s", STR_ARG(source), mark, STR_ARG(credential));
        break;
    case RATE_SCOPE_HOST:
        *key = arena_printf(arena, "host:%.*s%s%.*s", STR_ARG(url.host), mark, STR_ARG(credential));
        break;
    }
    return key->data != NULL || arena_error(arena, err);
}
