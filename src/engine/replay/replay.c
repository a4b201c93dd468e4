/* Makes the request of a batch again and reads its response. */
#include "engine/replay/replay.h"

#include <inttypes.h>
#include <string.h>

#include "data/json_canonical.h"
#include "engine/fetch/absence.h"
#include "engine/slice/slice_read.h"

#define SCRATCH_BYTES_MAX ((size_t)32 << 20)

static const struct code_item KINDS[] = {
    [REPLAY_SAME] = CODE_ITEM("SAME", "the same content"),
    [REPLAY_CHANGED] = CODE_ITEM("CHANGED", "other content"),
    [REPLAY_GONE] = CODE_ITEM("GONE", "no longer in the response"),
    [REPLAY_NEW] = CODE_ITEM("NEW", "not in the response of then"),
    [REPLAY_UNKNOWN] = CODE_ITEM("UNKNOWN", "of then only the id was kept"),
};
const struct code_table REPLAY_KIND_CODES =
    CODE_TABLE("ing_replay_kind", "a record of a replayed response", KINDS);

/* ---- opening ---- */

static bool load_rows(struct replay *replay, struct error *err)
{
    const struct replay_input *input = &replay->input;
    struct slice_limits limits;
    struct plan_slice row;
    bool has_plan, has_slice;

    if (!store_plan_get(input->store, input->arena, input->batch->plan_id, &replay->plan, &has_plan,
                        err) ||
        !store_slice_get(input->store, input->arena, input->batch->slice_id, &row, &has_slice, err))
        return false;
    if (!has_plan || !has_slice)
        return error_set(err, ERROR_REQUEST, "replay.plan",
                         "the plan or slice of batch %" PRId64 "/%" PRId64 " is gone",
                         input->batch->run_id, input->batch->number);
    return slice_read(input->arena, &replay->plan, &row, &replay->slice, &limits, err);
}

static bool load_kept(struct replay *replay, struct error *err)
{
    const struct replay_input *input = &replay->input;
    const struct batch *batch = input->batch;

    if (!store_batch_evidence(input->store, input->arena, batch->id, &replay->evidence, err))
        return false;
    if (replay->evidence.request_input.len == 0)
        return error_set(err, ERROR_REQUEST, "replay.kept",
                         "batch %" PRId64 "/%" PRId64
                         " does not say what its request was made of: it sent none",
                         batch->run_id, batch->number);
    if (!request_kept_read(&replay->kept, input->arena, replay->evidence.request_input, err))
        return false;
    if (replay->kept.is_stream)
        return error_set(err, ERROR_REQUEST, "replay.kept",
                         "batch %" PRId64 "/%" PRId64
                         " is a part of a file, which is not requested again for it",
                         batch->run_id, batch->number);
    return true;
}

static bool find_endpoint(struct replay *replay, struct error *err)
{
    const struct spec *spec = replay->spec;
    const struct str name = replay->kept.endpoint;

    if (str_eq(spec->endpoint.name, name))
        replay->endpoint = &spec->endpoint;
    else if (spec->is_two_phase && str_eq(spec->detail.name, name))
        replay->endpoint = &spec->detail;
    else
        return error_set(err, ERROR_REQUEST, "replay.endpoint", "the source has no endpoint %.*s",
                         STR_ARG(name));
    return true;
}

static void set_state(struct replay *replay)
{
    const struct request_kept *kept = &replay->kept;

    replay->rules = page_rules_of(replay->spec, replay->endpoint);
    replay->state = (struct page_state){ .number = kept->number,
                                         .page_no = kept->page_no,
                                         .offset = kept->offset,
                                         .size = kept->size,
                                         .token = kept->token };
}

static struct request_input request_input_of(const struct replay *replay)
{
    const struct request_kept *kept = &replay->kept;

    return (struct request_input){ .form = &replay->form,
                                   .secrets = replay->input.secrets,
                                   .slice = &replay->slice,
                                   .plan_id = replay->plan_id,
                                   .state = &replay->state,
                                   .window = kept->window,
                                   .has_since = kept->has_since,
                                   .since_us = kept->since_us,
                                   .after = kept->after,
                                   .ids = kept->ids,
                                   .id_count = kept->id_count,
                                   .history = kept->history,
                                   .history_count = kept->history_count,
                                   .correlation_id = STR("replay"),
                                   .now_us = replay->input.now_us };
}

bool replay_open(struct replay *replay, const struct replay_input *input, struct error *err)
{
    struct str snapshot;

    *replay = (struct replay){ .input = *input };
    if (!load_rows(replay, err) || !load_kept(replay, err))
        return false;
    snapshot = input->snapshot.len > 0 ? input->snapshot : replay->plan.expr_proto_snapshot;
    if (!spec_cache_hold(input->specs, snapshot, &replay->spec, err) || !find_endpoint(replay, err))
        return false;
    set_state(replay);
    replay->plan_id = arena_printf(input->arena, "%" PRId64, replay->plan.id);
    return reader_open(&replay->reader, input->arena, replay->endpoint, input->xml, err) &&
           request_form_open(&replay->form, input->arena, replay->spec, replay->endpoint, err) &&
           replay_then(replay, err);
}

/* ---- sending ---- */

/* Texts of a source may repeat the secrets that it was shown. */
static void fail(struct replay *replay, const struct error *failure)
{
    const struct request_mask mask = { &replay->form, replay->input.secrets, replay->http };

    replay->failure = *failure;
    replay->failure
        .text[request_mask_text(&mask, replay->failure.text, strlen(replay->failure.text))] = '\0';
}

/* The digest has the name of the credential that was chosen, and stores may reorder members. */
static bool compare_request(struct replay *replay, struct error *err)
{
    struct arena *arena = replay->input.arena;
    struct str then, now;

    if (!json_canonical_text(arena, replay->input.batch->request_digest, &then, err) ||
        !json_canonical_text(arena, replay->request_digest, &now, err))
        return false;
    replay->report.is_request_same = str_eq(then, now);
    if (!replay->report.is_request_same)
        replay->report.request = now;
    return true;
}

bool replay_send(struct replay *replay, struct http *http, struct error *err)
{
    const struct request_input input = request_input_of(replay);
    struct error failure;
    struct request request;
    struct arena scratch;
    bool ok;

    replay->http = http;
    arena_init(&scratch, SCRATCH_BYTES_MAX);
    ok = request_render(&request, (struct request_memory){ &scratch, replay->input.arena }, &input,
                        err);
    replay->request_digest = request.digest;
    ok = ok && compare_request(replay, err);
    if (ok && !http_send(http, replay->input.arena, &request.http, &replay->reply, &failure))
        fail(replay, &failure);
    arena_wipe(&scratch);
    arena_release(&scratch);
    return ok;
}

void replay_take(struct replay *replay, const struct http_response *reply)
{
    replay->reply = *reply;
    replay->report.is_request_same = true;
}

/* ---- reading ---- */

static bool is_page(const struct replay *replay)
{
    return replay->kept.id_count == 0 || replay->kept.is_child_page;
}

static bool check_absence(struct replay *replay, struct error *err)
{
    const struct absence_input input = { .reader = &replay->reader,
                                         .response = &replay->response,
                                         .listing = &replay->listing,
                                         .is_first = replay->kept.number == 0,
                                         .is_total_reached = true };

    return !is_page(replay) || absence_check(&input, replay->input.arena, err);
}

static struct window keep_of(const struct replay *replay)
{
    const struct slice *slice = &replay->slice;

    if (!replay->spec->endpoint.window.client_filter || slice->dimension == SLICE_ID)
        return (struct window){ 0, 0 };
    return slice->dimension == SLICE_TIME ? slice->query.keep : slice->window;
}

static bool read_listing(struct replay *replay, struct error *err)
{
    const struct listing_input input = {
        .reader = &replay->reader,
        .response = &replay->response,
        .reply = &replay->reply,
        .request_url =
            replay->reply.url.len > 0 ? replay->reply.url : replay->endpoint->http.base_url,
        .now_us = replay->input.now_us,
        .keep = keep_of(replay),
        .step_us = granularity_us(replay->rules.granularity),
        .ids_only = replay->kept.ids_only,
        .feed = replay->slice.dimension == SLICE_FEED ? replay->slice.feed.type : CURSOR_TIME,
    };

    if (!listing_read(&replay->listing, replay->input.arena, &input, err) ||
        !check_absence(replay, err))
        return false;
    return replay->rules.type != PAGINATION_URL || replay->listing.next.data == NULL ||
           request_clean_url(&replay->form, replay->input.arena, replay->listing.next,
                             &replay->listing.next, err);
}

static bool read_reply(struct replay *replay, struct error *err)
{
    const struct response_input input = {
        .reader = &replay->reader,
        .reply = &replay->reply,
        .now_us = replay->input.now_us,
        .ids_only = replay->kept.ids_only,
        .is_of_parent = replay->kept.id_count == 1 && replay->endpoint->parent.len > 0 &&
                        replay->kept.number == 0,
    };

    return response_read(&replay->response, replay->input.arena, &input, err) &&
           read_listing(replay, err);
}

void replay_read(struct replay *replay)
{
    struct error failure;

    if (replay->failure.level != ERROR_NONE || replay->is_read)
        return;
    replay->is_read = read_reply(replay, &failure);
    if (!replay->is_read)
        fail(replay, &failure);
}

bool replay_judge(struct replay *replay, struct error *err)
{
    replay_read(replay);
    return replay_compare(replay, err);
}

void replay_close(struct replay *replay)
{
    response_close(&replay->response);
    reader_close(&replay->reader);
    spec_cache_release(replay->input.specs, replay->spec);
    *replay = (struct replay){ 0 };
}
