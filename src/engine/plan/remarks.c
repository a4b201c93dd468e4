/* Remarks, refusals and parameters of a plan as JSON. */
#include "engine/plan/remarks.h"

#include "base/instant.h"
#include "core/canon.h"
#include "data/json_write.h"

enum { REMARKS_BYTES_MAX = 1 << 20 };

static void write_maybe(struct json_writer *w, struct str name, struct maybe_instant instant)
{
    if (instant.is_set)
        json_write_member_instant(w, name, instant.at_us);
}

/* ---- a plan ---- */

/* What a source lacks, as words that can be searched for; other warnings are kept as sentences. */
static struct str degradation_of(const struct fault *fault)
{
    switch (fault->lacks) {
    case FAULT_LACKS_TOTAL:
        return STR("noCount");
    case FAULT_LACKS_HAS_MORE:
        return STR("hasNextByPageSize");
    case FAULT_LACKS_LAST_PAGE:
        return STR("lastPageByAbsentNext");
    case FAULT_LACKS_UPDATED_AT:
        return STR("changesByContentHash");
    case FAULT_LACKS_NOTHING:
        break;
    }
    return (struct str){ 0 };
}

static bool is_written(const struct fault_list *faults, size_t before, struct str word)
{
    for (size_t i = 0; i < before; i++) {
        if (str_eq(degradation_of(&faults->items[i]), word))
            return true;
    }
    return false;
}

static void write_degradation(struct json_writer *w, const struct plan_draft *draft)
{
    const struct fault_list *faults = &draft->faults;

    json_write_name(w, STR("degradation"));
    json_write_array(w);
    for (size_t i = 0; i < faults->count; i++) {
        const struct str word = degradation_of(&faults->items[i]);

        if (word.len > 0 && !is_written(faults, i, word))
            json_write_str(w, word);
    }
    if (!draft_is_by_id(draft) && !draft_is_feed(draft) && !draft_is_of_files(draft) &&
        !draft->spec->endpoint.window.updated_since)
        json_write_str(w, STR("clientFilter"));
    if (draft->spec->operation.slice_by == SLICE_PAGE && draft->spec->endpoint.page.max_pages == 0)
        json_write_str(w, STR("noPageLimit"));
    json_write_end(w);
}

static void write_warnings(struct json_writer *w, const struct fault_list *faults)
{
    json_write_name(w, STR("warnings"));
    json_write_array(w);
    for (size_t i = 0; i < faults->count; i++)
        json_write_str(w, faults->items[i].message);
    json_write_end(w);
}

/* The rate gate as the plan found it. */
static void write_gate(struct json_writer *w, const struct plan_pace *pace)
{
    json_write_name(w, STR("gate"));
    json_write_object(w);
    json_write_member_instant(w, STR("openAt"), pace->outlook.open_us);
    if (pace->parked_until_us > pace->found_us)
        json_write_member_instant(w, STR("parkedUntil"), pace->parked_until_us);
    json_write_name(w, STR("qps"));
    json_write_double(w, (double)pace->learned_rate / (double)MICRO);
    if (pace->quota_from_us != INT64_MIN)
        json_write_member_instant(w, STR("quotaFrom"), pace->quota_from_us);
    json_write_end(w);
}

static void write_budget(struct json_writer *w, const struct plan_draft *draft,
                         const struct plan_result *result)
{
    const struct spec_operation *operation = &draft->spec->operation;

    json_write_name(w, STR("budget"));
    json_write_object(w);
    if (operation->budget_requests > 0)
        json_write_member_i64(w, STR("maxRequests"), operation->budget_requests);
    json_write_member_i64(w, STR("priority"), operation->priority);
    if (draft->pace.is_learned)
        write_gate(w, &draft->pace);
    json_write_name(w, STR("qps"));
    json_write_double(w, draft->spec->endpoint.rate.limit.per_second);
    json_write_member_i64(w, STR("queued"), draft->queued);
    json_write_member_i64(w, STR("queuedMax"), operation->queued_max);
    json_write_member_i64(w, STR("requestsExpected"), result->requests);
    json_write_member_str(w, STR("stop"), code_of(&BUDGET_STOP_CODES, (int)result->stop));
    json_write_end(w);
}

/* By time: what earlier runs found, and what follows for this plan. */
static void write_history(struct json_writer *w, const struct plan_draft *draft,
                          const struct plan_result *result)
{
    if (draft->density.span_us == 0)
        return;
    json_write_name(w, STR("history"));
    json_write_object(w);
    json_write_member_i64(w, STR("records"), draft->density.records);
    json_write_member_i64(w, STR("spanUs"), draft->density.span_us);
    json_write_end(w);
    json_write_member_i64(w, STR("totalEstimated"), result->records);
}

static void write_namespace(struct json_writer *w, const struct plan_draft *draft, struct str apart)
{
    json_write_name(w, STR("namespace"));
    json_write_object(w);
    if (draft->campaign.len > 0) {
        json_write_name(w, STR("campaign"));
        json_write_raw(w, draft->campaign);
    }
    json_write_member_str(w, STR("cursorKey"), draft->plan.cursor_key);
    json_write_member_str(w, STR("key"), draft->plan.namespace_key);
    if (apart.len > 0)
        json_write_member_str(w, STR("reason"), apart);
    json_write_member_str(w, STR("scope"), code_of(&NAMESPACE_SCOPE_CODES, (int)draft->plan.scope));
    json_write_end(w);
}

/* Records that were read again by a changed mapping, before candidates were looked for. */
static void write_rederived(struct json_writer *w, const struct rederive_result *done)
{
    json_write_name(w, STR("rederived"));
    json_write_object(w);
    json_write_member_i64(w, STR("bad"), done->bad);
    json_write_member_i64(w, STR("changed"), done->changed);
    json_write_member_bool(w, STR("left"), done->is_left);
    json_write_member_i64(w, STR("read"), done->read);
    json_write_end(w);
}

static bool write_window(struct json_writer *w, struct arena *arena, const struct plan_draft *draft,
                         struct error *err)
{
    const bool has_window = window_is_valid(draft->plan.window);
    struct canon canon;
    struct buf audit, bounds;

    buf_init(&audit, arena, REMARKS_BYTES_MAX);
    window_decision_json(&draft->decision, &audit);
    if (!buf_ok(&audit, err))
        return false;
    json_write_name(w, STR("decision"));
    json_write_raw(w, buf_str(&audit));
    buf_init(&bounds, arena, REMARKS_BYTES_MAX);
    canon = canon_begin(&bounds);
    if (has_window)
        canon_instant(&canon, "from", draft->plan.window.from_us);
    canon_duration(&canon, "safetyLag", draft->spec->endpoint.window.lag_us);
    if (has_window)
        canon_instant(&canon, "to", draft->plan.window.to_us);
    canon_end(&canon);
    if (!buf_ok(&bounds, err))
        return false;
    json_write_name(w, STR("window"));
    json_write_raw(w, buf_str(&bounds));
    return true;
}

static void write_feed(struct json_writer *w, const struct plan_feed *feed)
{
    json_write_name(w, STR("feed"));
    json_write_object(w);
    if (feed->slice.after.data != NULL)
        json_write_member_str(w, STR("after"), feed->slice.after);
    if (feed->slice.cursor.data != NULL)
        json_write_member_str(w, STR("cursor"), feed->slice.cursor);
    if (feed->live_task_id != 0)
        json_write_member_i64(w, STR("liveTask"), feed->live_task_id);
    if (feed->lookback_ids > 0)
        json_write_member_i64(w, STR("lookbackIds"), feed->lookback_ids);
    json_write_member_str(w, STR("type"), code_of(&CURSOR_TYPE_CODES, (int)feed->slice.type));
    json_write_end(w);
}

/* Windows left to a person, and when the first of them is tried again. */
static void write_held(struct json_writer *w, int64_t until_us)
{
    char text[INSTANT_TEXT_MAX];

    (void)instant_format(until_us, text);
    json_write_member_str(w, STR("heldUntil"), str_of(text));
}

static bool finish(struct json_writer *w, struct arena *arena, struct str *json, struct error *err)
{
    json_writer_finish(w);
    if (!buf_ok(w->out, err))
        return false;
    *json = arena_copy(arena, buf_str(w->out));
    return json->data != NULL || arena_error(arena, err);
}

bool plan_remarks(struct arena *arena, const struct plan_draft *draft,
                  const struct plan_result *result, struct str *json, struct error *err)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, arena, REMARKS_BYTES_MAX);
    json_writer_init(&w, &out);
    json_write_object(&w);
    write_budget(&w, draft, result);
    write_degradation(&w, draft);
    write_history(&w, draft, result);
    if (result->idle != PLAN_IDLE_NOT)
        json_write_member_str(&w, STR("idle"), code_of(&PLAN_IDLE_CODES, (int)result->idle));
    if (draft->held_until.is_set)
        write_held(&w, draft->held_until.at_us);
    if (draft_is_by_id(draft))
        json_write_member_i64(&w, STR("totalEstimated"), result->ids);
    write_namespace(&w, draft, result->apart);
    if (result->rederived.read > 0)
        write_rederived(&w, &result->rederived);
    json_write_member_i64(&w, STR("sliceCount"), result->slices);
    if (result->slices > 0 && result->span_us > 0)
        json_write_member_i64(&w, STR("avgWindowUs"), result->span_us / result->slices);
    write_warnings(&w, &draft->faults);
    if (draft_is_feed(draft))
        write_feed(&w, &draft->feed);
    else if (draft_is_of_files(draft))
        json_write_member_i64(&w, STR("files"), draft->files.count);
    else if (!write_window(&w, arena, draft, err))
        return false;
    json_write_end(&w);
    return finish(&w, arena, json, err);
}

/* ---- no plan ---- */

static void write_fault(struct json_writer *w, const struct fault *fault)
{
    json_write_object(w);
    json_write_member_str(w, STR("code"), str_of(fault->code));
    if (fault->hint.len > 0)
        json_write_member_str(w, STR("hint"), fault->hint);
    json_write_member_str(w, STR("message"), fault->message);
    json_write_member_str(w, STR("severity"),
                          fault->severity == FAULT_ERROR ? STR("ERROR") : STR("WARNING"));
    json_write_end(w);
}

bool plan_refusal(struct arena *arena, const struct fault_list *faults, const struct error *why,
                  struct str *json, struct error *err)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, arena, REMARKS_BYTES_MAX);
    json_writer_init(&w, &out);
    json_write_object(&w);
    json_write_name(&w, STR("error"));
    json_write_object(&w);
    json_write_member_str(&w, STR("code"), str_of(why->code));
    json_write_member_str(&w, STR("level"), str_of(error_level_name(why->level)));
    json_write_member_str(&w, STR("text"), str_of(why->text));
    json_write_end(&w);
    json_write_name(&w, STR("faults"));
    json_write_array(&w);
    for (size_t i = 0; i < faults->count; i++)
        write_fault(&w, &faults->items[i]);
    json_write_end(&w);
    json_write_end(&w);
    return finish(&w, arena, json, err);
}

/* ---- what was asked for ---- */

bool plan_params(struct arena *arena, const struct plan_request *request, struct str *json,
                 struct error *err)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, arena, REMARKS_BYTES_MAX);
    json_writer_init(&w, &out);
    json_write_object(&w);
    if (request->campaign.len > 0)
        json_write_member_str(&w, STR("campaign"), request->campaign);
    write_maybe(&w, STR("from"), request->from);
    json_write_member_str(&w, STR("operation"), request->operation);
    json_write_name(&w, STR("set"));
    json_write_object(&w);
    for (size_t i = 0; i < request->overrides.count; i++)
        json_write_member_str(&w, request->overrides.items[i].path,
                              request->overrides.items[i].value);
    json_write_end(&w);
    if (request->stale_us > 0)
        json_write_member_i64(&w, STR("staleUs"), request->stale_us);
    if (request->tick != NULL)
        json_write_member_instant(&w, STR("tick"), request->tick->at_us);
    write_maybe(&w, STR("to"), request->to);
    json_write_end(&w);
    return finish(&w, arena, json, err);
}
