/* The response of patra source test: requested, or read from a file. */
#include <unistd.h>

#include "cli/file.h"
#include "cmd/source/source_test.h"
#include "data/saved_response.h"
#include "port/store_pause.h"

#define RESPONSE_BYTES_MAX ((size_t)64 << 20)

static bool refuse_resting(struct source_test *test, struct error *err)
{
    const struct str code = test->source.registry.code;
    struct pause_list pauses;

    if (!store_pause_list(test->session.store, &test->session.arena, code, &pauses, err))
        return false;
    for (size_t i = 0; i < pauses.count; i++) {
        const struct pause *pause = &pauses.items[i];

        /* A stopped source may be tested: this request shows whether the cause was removed. */
        if (pause->kind == PAUSE_STOPPED)
            continue;
        if (pause->endpoint.len == 0 || str_eq(pause->endpoint, test->spec.endpoint.name))
            return error_set(
                err, ERROR_REQUEST, "source.resting",
                "%.*s is %.*s (%.*s); nothing was sent. To resume it: patra resume %.*s%s%.*s",
                STR_ARG(code), STR_ARG(code_of(&PAUSE_KIND_CODES, (int)pause->kind)),
                STR_ARG(pause->reason), STR_ARG(code), pause->endpoint.len > 0 ? "/" : "",
                STR_ARG(pause->endpoint));
    }
    return true;
}

bool source_test_send(struct source_live *live, struct probe *probe, struct error *err)
{
    bool ok;

    if (!source_live_ask(live, probe->endpoint, err))
        return false;
    ok = probe_send(probe, live->http, err);
    source_live_hear(live, probe->endpoint, &probe->reply, ok);
    return ok;
}

bool source_test_open(struct source_test *test, struct source_live *live,
                      struct secret_source *secrets, struct error *err)
{
    return (test->session.store == NULL || refuse_resting(test, err)) &&
           source_live_open(
               live,
               &(struct source_live_input){ .session = &test->session,
                                            .source = test->source.registry.code,
                                            .operation = test->spec.operation.operation,
                                            .owner = STR("patra source test"),
                                            .secrets = secrets },
               err);
}

bool source_saved_read(struct arena *arena, const char *path, struct http_response *reply,
                       struct error *err)
{
    const struct str beside = arena_printf(arena, "%s.head", path);
    struct saved_response saved = { 0 };

    if (beside.data == NULL)
        return arena_error(arena, err);
    if (!file_read(arena, path, RESPONSE_BYTES_MAX, &saved.text, err) ||
        (access(beside.data, R_OK) == 0 &&
         !file_read(arena, beside.data, RESPONSE_BYTES_MAX, &saved.head, err)))
        return false;
    return saved_response_read(&saved, arena, reply, err) ||
           error_wrap(err, "%s", saved.head.len > 0 ? beside.data : path);
}
