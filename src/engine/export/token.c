/* Tokens of exports. */
#include "engine/export/token.h"

#include <inttypes.h>

#include "base/quote.h"

struct str export_token_text(struct arena *arena, const struct export_token *token)
{
    return arena_printf(arena, "v1/%.*s/%.*s/%.*s/%" PRId64, STR_ARG(token->store),
                        STR_ARG(token->source), STR_ARG(token->endpoint), token->after);
}

static bool refused(struct error *err, const char *reason)
{
    return error_set(err, ERROR_REQUEST, "export.token",
                     "the token %s; export everything to get a new one", reason);
}

bool export_token_read(struct str text, const struct export_token *expected, int64_t *after,
                       struct error *err)
{
    struct str rest = text;
    const struct str version = str_cut(&rest, '/');
    const struct str store = str_cut(&rest, '/');
    const struct str source = str_cut(&rest, '/');
    const struct str endpoint = str_cut(&rest, '/');

    if (!str_eq(version, STR("v1")) || !str_to_i64(rest, after) || *after < 0)
        return error_set(err, ERROR_REQUEST, "export.token",
                         "%s is not a token of patra record export", QUOTE(text));
    if (!str_eq(store, expected->store))
        return refused(err, "belongs to another store");
    if (!str_eq(source, expected->source))
        return error_set(err, ERROR_REQUEST, "export.token",
                         "the token belongs to the source %s, not to %.*s", QUOTE(source),
                         STR_ARG(expected->source));
    if (!str_eq(endpoint, expected->endpoint))
        return error_set(err, ERROR_REQUEST, "export.token",
                         "the token belongs to an export of %s%s, not of %s%.*s",
                         endpoint.len > 0 ? "the endpoint " : "all endpoints",
                         endpoint.len > 0 ? QUOTE(endpoint) : "",
                         expected->endpoint.len > 0 ? "the endpoint " : "all endpoints",
                         STR_ARG(expected->endpoint));
    return true;
}
