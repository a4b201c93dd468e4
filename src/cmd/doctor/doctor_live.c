/* Whether sources answer: one request each, with a permit of the gate. */
#include "base/instant.h"
#include "cmd/doctor/doctor.h"
#include "cmd/source/source_live.h"
#include "data/http_message.h"
#include "engine/source/source_store.h"
#include "port/store_registry.h"
#include "spec/snapshot.h"

/* The base URL itself: any status is an answer. */
static bool ask(struct source_live *live, struct arena *arena, const struct spec_endpoint *endpoint,
                struct error *err)
{
    const struct str proxy = endpoint->http.proxy;
    struct http_request request = { .url = endpoint->http.base_url,
                                    .allow_plain_http = endpoint->http.allow_plain_http,
                                    .proxy = proxy };
    struct http_response reply;
    struct secret secret = { 0 };
    bool ok;

    if (secret_is_reference(proxy)) {
        if (!secret_get(live->input.secrets, proxy, &secret, err))
            return false;
        request.proxy = secret_str(&secret);
    }
    if (!source_live_ask(live, endpoint, err)) {
        secret_wipe(&secret);
        return false;
    }
    ok = http_send(live->http, arena, &request, &reply, err);
    secret_wipe(&secret);
    source_live_hear(live, endpoint, &reply, ok);
    return ok || reply.status != 0;
}

static void try_spec(struct doctor *d, struct str code, const struct spec *spec)
{
    const struct source_live_input input = { .session = d->session,
                                             .source = code,
                                             .operation = spec->operation.operation,
                                             .owner = STR("doctor"),
                                             .secrets = &d->session->secrets.source };
    struct source_live live = { 0 };
    struct error err;
    const bool ok = source_live_open(&live, &input, &err) &&
                    ask(&live, &d->session->arena, &spec->endpoint, &err);

    source_live_close(&live);
    if (!ok)
        doctor_add(d, "source.unreachable",
                   arena_printf(&d->session->arena, "%.*s: %s", STR_ARG(code), err.text),
                   arena_printf(&d->session->arena,
                                "Check the network, the proxy and the provider: patra source test "
                                "%.*s --live",
                                STR_ARG(code)));
}

/* A source that does not compile is a finding, too. */
static bool try_source(struct doctor *d, struct str code, struct error *err)
{
    const struct registry_row *operation;
    struct arena *arena = &d->session->arena;
    struct snapshot snapshot;
    struct source source;
    struct spec spec;

    d->checks++;
    if (!source_load(d->session->store, arena, code, clock_now_us(&d->session->clock), &source,
                     err))
        return false;
    operation = source_next_operation(&source, NULL);
    if (operation == NULL)
        return true;
    if (snapshot_make(arena,
                      &(struct snapshot_request){ .source = &source, .operation = operation->key },
                      &snapshot, err) &&
        spec_read(arena, snapshot.json, &spec, err))
        try_spec(d, code, &spec);
    else
        doctor_add(d, "source.spec", arena_printf(arena, "%.*s: %s", STR_ARG(code), err->text),
                   STR("Correct its file and apply it: patra source lint FILE"));
    return true;
}

bool doctor_live(struct doctor *d, struct error *err)
{
    struct registry_entry_list list;

    if (!store_registry_list(d->session->store, &d->session->arena,
                             clock_now_us(&d->session->clock), &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (!try_source(d, list.items[i].code, err))
            return false;
    }
    return true;
}
