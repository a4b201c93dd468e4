#include "engine/probe/probe.h"

#include "engine/fetch/walk.h"

#define SCRATCH_BYTES_MAX (INT64_C(32) << 20)

static struct window window_of(const struct probe *probe)
{
    const struct slice *slice = probe->ask.slice;

    return slice->dimension == SLICE_TIME ? slice->query.window : slice->window;
}

static struct request_ask request_ask_of(const struct probe *probe)
{
    return (struct request_ask){
        .form = &probe->form,
        .secrets = probe->ask.secrets,
        .slice = probe->ask.slice,
        .plan_id = STR("0"),
        .state = &probe->state,
        .window = window_of(probe),
        .ids = probe->ask.ids,
        .id_count = probe->ask.id_count,
        .now_us = probe->ask.now_us,
    };
}

bool probe_open(struct probe *probe, struct arena *arena, const struct probe_ask *ask,
                struct error *err)
{
    struct request_ask request_ask;

    *probe = (struct probe){ .ask = *ask, .arena = arena, .endpoint = &ask->spec->endpoint };
    probe->lists_ids = ask->spec->is_two_phase && ask->slice->dimension != SLICE_ID;
    probe->rules = walk_rules(ask->spec, probe->endpoint);
    probe->state = page_first(&probe->rules, NULL, window_of(probe));
    if (!reader_open(&probe->reader, arena, probe->endpoint, ask->xml, err) ||
        !request_form_open(&probe->form, arena, ask->spec, probe->endpoint, err))
        return false;
    request_ask = request_ask_of(probe);
    return request_tell(&probe->told, arena, &request_ask, err);
}

bool probe_send(struct probe *probe, struct http *http, struct error *err)
{
    const struct request_ask ask = request_ask_of(probe);
    struct request request;
    struct arena scratch;
    bool ok;

    arena_init(&scratch, SCRATCH_BYTES_MAX);
    ok = request_render(&request, (struct request_memory){ &scratch, probe->arena }, &ask, err) &&
         http_send(http, probe->arena, &request.http, &probe->reply, err);
    arena_wipe(&scratch);
    arena_release(&scratch);
    return ok;
}

/* ---- reading ---- */

static bool read_page(struct probe *probe, struct error *err)
{
    const struct spec *spec = probe->ask.spec;
    const struct slice *slice = probe->ask.slice;
    const bool is_filtered = spec->endpoint.window.client_filter && slice->dimension == SLICE_TIME;
    const struct listing_ask ask = {
        .reader = &probe->reader,
        .answer = &probe->answer,
        .reply = &probe->reply,
        .request_url = probe->reply.url.len > 0 ? probe->reply.url : probe->endpoint->http.base_url,
        .keep = is_filtered ? slice->query.keep : (struct window){ 0, 0 },
        .ids_only = probe->lists_ids,
    };

    if (!listing_read(&probe->listing, probe->arena, &ask, err))
        return false;
    if (probe->rules.type != PAGINATION_URL || probe->listing.next.data == NULL)
        return true;
    return request_clean_url(&probe->form, probe->arena, probe->listing.next, &probe->listing.next,
                             err);
}

static struct page_decision decide(const struct probe *probe)
{
    const struct listing *listing = &probe->listing;
    const struct page_seen seen = {
        .items = (int64_t)listing->items,
        .fresh = (int64_t)listing->items,
        .has_total = listing->has_total,
        .total = listing->total,
        .more = listing->more,
        .next = listing->next,
        .is_declared_empty = probe->answer.kind == ANSWER_EMPTY,
        .has_dates = listing->has_dates,
        .earliest_us = listing->earliest_us,
        .latest_us = listing->latest_us,
    };

    return page_decide(&probe->rules, &probe->state, &seen,
                       &(struct page_facts){ .asked_again = true });
}

bool probe_read(struct probe *probe, const struct http_reply *reply, struct error *err)
{
    probe->reply = *reply;
    answer_close(&probe->answer);
    if (!answer_read(&probe->answer, probe->arena,
                     &(struct answer_ask){ .reader = &probe->reader,
                                           .reply = &probe->reply,
                                           .now_us = probe->ask.now_us },
                     err) ||
        !read_page(probe, err))
        return false;
    probe->decision = decide(probe);
    return true;
}

void probe_close(struct probe *probe)
{
    answer_close(&probe->answer);
    reader_close(&probe->reader);
}
