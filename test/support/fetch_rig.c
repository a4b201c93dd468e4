/* Makes the parts of a walk and runs it. */
#include "fetch_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "data/date.h"
#include "data/xml.h"
#include "spec/check.h"
#include "spec/snapshot.h"
#include "test.h"

#define NOW_US INT64_C(1788000000000000) /* 2026-08-29 */

static const struct fixed_secret secrets[] = {
    { "env:PATRA_CONTACT", "someone@example.org" },
    { "env:OPENALEX_API_KEY", "0p3n-s3cr3t" },
    { "env:RIG_KEY", "k3y-s3cr3t" },
};

/* ---- the gate ---- */

static bool acquire(struct permit_gate *gate, const struct permit_request *ask,
                    struct permit *permit, struct error *err)
{
    struct rig_gate *self = (struct rig_gate *)gate;

    (void)err;
    permit->decision = RATE_ALLOW;
    permit->key = STR("rig");
    permit->cost = 1;
    if (!ask->may_wait && self->no_prefetch)
        permit->decision = RATE_WAIT;
    else if (self->reject_after > 0 && self->acquired >= self->reject_after) {
        permit->decision = RATE_REJECT;
        permit->retry_at_us = clock_now_us(self->clock) + 1000;
    } else {
        self->acquired++;
        self->prefetched += !ask->may_wait;
    }
    return true;
}

static void feedback(struct permit_gate *gate, const struct permit_feedback *feedback)
{
    struct rig_gate *self = (struct rig_gate *)gate;

    self->fed_back++;
    self->requests += feedback->requests;
    self->unused += feedback->requests == 0;
    self->throttled += feedback->signal.outcome == BUCKET_THROTTLED;
    self->failing += feedback->signal.outcome == BUCKET_FAILING;
    self->quota += feedback->is_quota;
    if (feedback->signal.retry_after_us > self->retry_after_us)
        self->retry_after_us = feedback->signal.retry_after_us;
    self->last = *feedback;
}

/* ---- making ---- */

static struct str with_base(struct rig *rig, struct str text, const char *base)
{
    const struct str mark = STR("@BASE@");
    struct buf out;

    buf_init(&out, &rig->arena, 1 << 20);
    while (text.len > 0) {
        const size_t at = str_find(text, mark);

        buf_add(&out, str_slice(text, 0, at));
        if (at == text.len)
            break;
        buf_add(&out, str_of(base));
        text = str_slice(text, at + mark.len, text.len);
    }
    return buf_str(&out);
}

static void read_spec(struct rig *rig, const struct source_text *text, const char *operation)
{
    const struct snapshot_request request = { .source = ARENA_NEW(&rig->arena, struct source),
                                              .operation = str_of(operation) };
    struct snapshot snapshot;
    struct fault_list faults;
    struct error err;

    fault_list_init(&faults, &rig->arena);
    if (!source_lint(&rig->arena, &xml_module, text, &faults, (struct source *)request.source)) {
        for (size_t i = 0; i < faults.count; i++)
            test_note("line %zu: %.*s", (size_t)faults.items[i].at.line,
                      STR_ARG(faults.items[i].message));
        REQUIRE(false, "the source has faults");
    }
    REQUIRE_OK(snapshot_make(&rig->arena, &request, &snapshot, &err), err);
    REQUIRE_OK(spec_read(&rig->arena, snapshot.json, &rig->spec, &err), err);
}

static void init(struct rig *rig, const char *file)
{
    *rig = (struct rig){ 0 };
    REQUIRE(test_read(file).data != NULL, file);
    arena_init(&rig->arena, (size_t)1 << 30);
    virtual_clock_init(&rig->clock, NOW_US);
    seeded_random_init(&rig->random, 1);
    fixed_secrets_init(&rig->secrets, secrets, ARRAY_LEN(secrets));
    scripted_http_init(&rig->http, &rig->clock.clock);
    rig->gate = (struct rig_gate){ .gate = { acquire, feedback }, .clock = &rig->clock.clock };
    rig->parts = (struct fetch_parts){ .http = &rig->http.http,
                                       .gate = &rig->gate.gate,
                                       .clock = &rig->clock.clock,
                                       .random = &rig->random.source,
                                       .secrets = &rig->secrets.source,
                                       .xml = &xml_module,
                                       .wake_fd = CLOCK_NO_WAKE };
    rig->slice = (struct slice){ .dimension = SLICE_TIME,
                                 .expected_records = SLICE_UNKNOWN,
                                 .expected_requests = SLICE_UNKNOWN };
    rig->order = (struct fetch_order){ .spec = &rig->spec,
                                       .slice = &rig->slice,
                                       .plan_id = STR("7"),
                                       .run_id = 42,
                                       .batch_no = 1,
                                       .can_reslice = true };
    rig_window(rig, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
}

void rig_init(struct rig *rig, const char *file, const char *operation, const char *base)
{
    struct source_text text = { .file = test_read(file) };

    init(rig, file);
    text.file = with_base(rig, text.file, base != NULL ? base : "https://api.example.org");
    read_spec(rig, &text, operation);
}

void rig_init_edited(struct rig *rig, const char *file, const char *operation,
                     struct edit_list edits)
{
    init(rig, file);
    read_spec(rig, &(struct source_text){ test_read(file), edits }, operation);
}

void rig_release(struct rig *rig)
{
    scripted_http_release(&rig->http);
    arena_release(&rig->arena);
}

static int64_t instant_of(const char *text)
{
    struct date date;
    struct error err;

    REQUIRE_OK(date_parse(date_format_find(STR("rfc3339")), str_of(text), &date, &err), err);
    return date.at_us;
}

void rig_window(struct rig *rig, const char *from, const char *to)
{
    const struct window window = { instant_of(from), instant_of(to) };

    rig->slice.window = window;
    rig->slice.query = (struct slice_query){ .window = window, .keep = window };
}

/* ---- recorded replies ---- */

/* "status: 200" and headers, a line each. */
static void read_head(struct rig *rig, struct str head, struct scripted_reply *reply)
{
    struct {
        struct http_header *items;
        size_t count;
    } headers = { 0 };
    int64_t status = 200;

    while (head.len > 0) {
        struct str line = str_cut(&head, '\n');
        const struct str name = str_trim(str_cut(&line, ':'));
        struct http_header *header;

        if (str_eq(name, STR("status"))) {
            struct str number = str_trim(line); /* or "404 Not Found", "HTTP/1.1 404 ..." */

            if (str_starts(number, STR("HTTP/")))
                (void)str_cut(&number, ' ');
            REQUIRE(str_to_i64(str_cut(&number, ' '), &status), "a status");
        } else if (name.len > 0) {
            header = LIST_ADD(&rig->arena, &headers);
            *header = (struct http_header){ name, str_trim(line) };
        }
    }
    reply->status = (int)status;
    reply->headers = headers.items;
    reply->header_count = headers.count;
}

void rig_reply(struct rig *rig, const char *fixture, const char *url_part)
{
    struct scripted_reply reply = { .status = 200, .url_part = str_of(url_part) };
    char head[512];
    const char *path = test_shared(fixture);

    if (path == NULL) {
        rig_release(rig);
        TEST_SKIP("the fixtures are not here");
    }
    reply.body = test_read(path);
    REQUIRE(reply.body.data != NULL, fixture);
    (void)snprintf(head, sizeof(head), "%s.head", path);
    if (test_read(head).data != NULL)
        read_head(rig, test_read(head), &reply);
    scripted_http_reply(&rig->http, &reply);
}

/* ---- running ---- */

bool rig_has(const struct rig_texts *texts, struct str text)
{
    for (size_t i = 0; i < texts->count; i++) {
        if (str_eq(texts->items[i], text))
            return true;
    }
    return false;
}

static void add(struct rig *rig, struct rig_texts *texts, struct str text)
{
    struct str *slot = LIST_ADD(&rig->arena, texts);

    REQUIRE(slot != NULL, "memory");
    *slot = arena_copy(&rig->arena, text);
}

static void add_record(struct rig *rig, const struct record *record)
{
    size_t at = 0;

    while (at < rig->ids.count && !str_eq(rig->ids.items[at], record->provider_id))
        at++;
    if (at == rig->ids.count) {
        int64_t *date = LIST_ADD(&rig->arena, &rig->dates);

        REQUIRE(date != NULL, "memory");
        add(rig, &rig->ids, record->provider_id);
        add(rig, &rig->payloads, record->payload);
    } else
        rig->payloads.items[at] = arena_copy(&rig->arena, record->payload);
    rig->dates.items[at] = record->has_updated_at ? record->updated_at_us : INT64_MIN;
    if (record->is_deleted && !rig_has(&rig->dead, record->provider_id))
        add(rig, &rig->dead, record->provider_id);
}

static void add_line(struct rig *rig, struct rig_texts *texts, struct str a, const char *b)
{
    add(rig, texts, arena_printf(&rig->arena, "%.*s %s", STR_ARG(a), b));
}

static void take(struct rig *rig, const struct fetch_batch *batch)
{
    CHECK_EQ(batch->batch_no, rig->order.batch_no, "batches are numbered one by one");
    rig->order.batch_no++;
    rig->batches++;
    for (size_t i = 0; i < batch->record_count; i++)
        add_record(rig, &batch->records[i]);
    for (size_t i = 0; i < batch->id_count; i++) {
        CHECK(!rig_has(&rig->listed, batch->ids[i]), "an id is handed out once");
        add(rig, &rig->listed, batch->ids[i]);
    }
    for (size_t i = 0; i < batch->bad_count; i++)
        add_line(rig, &rig->bad, batch->bad[i].provider_id, batch->bad[i].reason);
    for (size_t i = 0; i < batch->lost_count; i++)
        add_line(rig, &rig->lost, batch->lost[i].id, fetch_lost_reason_name(batch->lost[i].reason));
    CHECK_EQ(batch->outcome != FETCH_RECEIVED, batch->failure != NULL, "a failure has a reason");
    rig->refused += batch->outcome == FETCH_GIVEN_UP;
    rig->deferred += batch->outcome == FETCH_DEFERRED;
    if (batch->before.data != NULL) {
        CHECK(!rig_has(&rig->befores, batch->before), "a token before is reported once");
        add(rig, &rig->befores, batch->before);
    }
    CHECK(!rig_has(&rig->keys, batch->idempotent_key), "keys differ");
    add(rig, &rig->keys, batch->idempotent_key);
    add(rig, &rig->requests, batch->request_digest);
    CHECK(json_is_valid(batch->request_digest), "the request's digest is JSON");
    CHECK(json_is_valid(batch->response_digest), "the reply's digest is JSON");
    CHECK(json_is_valid(batch->checkpoint), "the checkpoint is JSON");
    if (batch->outcome != FETCH_DEFERRED) /* its row changes no checkpoint */
        rig->checkpoint = arena_copy(&rig->arena, batch->checkpoint);
    rig->records += (int64_t)batch->record_count;
    rig->sums.requests += batch->counts.requests;
    rig->sums.retries += batch->counts.retries;
    rig->sums.throttled += batch->counts.throttled;
    rig->sums.retry_afters += batch->counts.retry_afters;
    rig->sums.slowed += batch->counts.slowed;
    rig->sums.dropped += batch->counts.dropped;
    rig->sums.repeated |= batch->counts.repeated;
    rig->sums.page_shrunk |= batch->counts.page_shrunk;
}

void rig_run(struct rig *rig)
{
    struct fetch *fetch;
    struct fetch_batch batch;
    int taken = 0;

    rig->failed = false;
    REQUIRE_OK(fetch_open(&fetch, &rig->parts, &rig->order, &rig->err), rig->err);
    do {
        if (!fetch_next(fetch, &batch, &rig->err)) {
            rig->failed = true;
            rig->last = batch;
            rig->last.response_digest = arena_copy(&rig->arena, batch.response_digest);
            CHECK(json_is_valid(batch.response_digest), "a failure's digest is JSON");
            break;
        }
        take(rig, &batch);
        if (rig->look != NULL)
            rig->look(rig, fetch, &batch);
        rig->last = batch;
        rig->last.verdict.reason = arena_copy(&rig->arena, batch.verdict.reason);
        if (rig->stop_after > 0 && ++taken >= rig->stop_after)
            break;
    } while (!batch.is_last);
    fetch_close(fetch);
    CHECK_EQ(rig->gate.fed_back, rig->gate.acquired, "the gate hears of every permit");
}

void rig_resume(struct rig *rig)
{
    rig->order.run_id++;
    rig->order.batch_no = 1;
    rig->order.checkpoint = rig->checkpoint;
    if (rig->listed.count > 0) {
        rig->order.ids = rig->listed.items;
        rig->order.id_count = rig->listed.count;
    }
    rig->befores = (struct rig_texts){ 0 };
    rig_run(rig);
}
