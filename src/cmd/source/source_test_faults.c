/* A source against patra-sim: first without a fault, which shows what a complete fetch returns,
 * then with one fault after the other. No secret of this machine is used, and no request leaves it.
 */
#include <inttypes.h>
#include <string.h>

#include "adapter/auth/auth_http.h"
#include "adapter/curl/curl_http.h"
#include "adapter/system/system.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cmd/source/sim_server.h"
#include "cmd/source/source_test.h"
#include "data/json_write.h"
#include "engine/probe/trial.h"
#include "spec/check.h"
#include "spec/snapshot.h"

/* Three days of the simulator's world: a few hundred records. */
#define FROM_US INT64_C(1768003200000000) /* 2026-01-10 */
#define TO_US (FROM_US + 3 * US_PER_DAY)

#define SOURCE_BYTES_MAX_WRITTEN ((size_t)1 << 20)

enum { EDITS_MAX = 12 };

/* ---- which protocol ---- */

static const struct protocol {
    const char *name;
    const char *host; /* of the real API; NULL: unknown */
    const char *path; /* in the simulator */
    const char *from; /* an endpoint path that differs in the simulator; NULL: none */
    const char *to;
} protocols[] = {
    { "crossref", "api.crossref.org", "/crossref", NULL, NULL },
    { "pubmed", "eutils.ncbi.nlm.nih.gov", "/entrez/eutils", NULL, NULL },
    { "europepmc", "www.ebi.ac.uk", "/europepmc/webservices/rest", NULL, NULL },
    { "openalex", "api.openalex.org", "/openalex", NULL, NULL },
    { "datacite", "api.datacite.org", "/datacite", NULL, NULL },
    { "biorxiv", "api.biorxiv.org", "/biorxiv", NULL, NULL },
    { "clinicaltrials", "clinicaltrials.gov", "/clinicaltrials/api/v2", NULL, NULL },
    { "doaj", "doaj.org/api", "/doaj/api", NULL, NULL },
    { "semanticscholar", "api.semanticscholar.org", "/semanticscholar/small/graph/v1", NULL, NULL },
    { "arxiv", "oaipmh.arxiv.org", "", "/oai", "/oai/arxiv.size40" },
    { "oai", "zenodo.org", "", "", "/oai/size40" },
    { "generic", "127.0.0.1", "", NULL, NULL },
};

static const struct protocol *by_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(protocols); i++) {
        if (strcmp(protocols[i].name, name) == 0)
            return &protocols[i];
    }
    return NULL;
}

static bool choose_protocol(const struct source_test *test, const struct protocol **protocol,
                            struct error *err)
{
    const char *given = invocation_value(test->invocation, "protocol");
    const struct str base = test->spec.endpoint.http.base_url;

    *protocol = given != NULL ? by_name(given) : NULL;
    for (size_t i = 0; given == NULL && *protocol == NULL && i < ARRAY_LEN(protocols); i++) {
        if (protocols[i].host != NULL && str_find(base, str_of(protocols[i].host)) < base.len)
            *protocol = &protocols[i];
    }
    return *protocol != NULL ||
           command_misused(
               err,
               "%s: --protocol takes crossref, pubmed, europepmc, openalex, datacite, biorxiv, "
               "clinicaltrials, doaj, semanticscholar, arxiv, oai or generic; for another API, "
               "--set http.base_url and paths of the simulator (docs/simulator-protocols.md) and "
               "--protocol generic",
               given != NULL ? given : "patra-sim does not imitate this source's host");
}

/* ---- the source, pointed at the simulator ---- */

struct edits {
    struct edit items[EDITS_MAX];
    size_t count;
};

static void add_edit(struct edits *edits, struct str path, struct str value)
{
    if (edits->count < EDITS_MAX)
        edits->items[edits->count++] = (struct edit){ path, value };
}

static void add_path(struct edits *edits, struct arena *arena, const struct protocol *protocol,
                     const struct spec_endpoint *endpoint)
{
    if (protocol->from != NULL && str_eq(endpoint->path.text, str_of(protocol->from)))
        add_edit(edits, arena_printf(arena, "endpoints.%.*s.path", STR_ARG(endpoint->name)),
                 str_of(protocol->to));
}

static void add_size(struct edits *edits, struct arena *arena, const struct spec_endpoint *endpoint)
{
    const int64_t least = endpoint->page.size_min;

    if (endpoint->page.size > 40 && least <= 40)
        add_edit(edits, arena_printf(arena, "endpoints.%.*s.page.size", STR_ARG(endpoint->name)),
                 STR("40"));
}

static bool point_at(struct source_test *test, const struct protocol *protocol, const char *base,
                     struct error *err)
{
    struct arena *arena = &test->session.arena;
    struct edits edits = { .count = 0 };
    struct source_text text;
    struct snapshot snapshot;
    struct fault_list faults;
    struct buf out;

    add_edit(&edits, STR("http.base_url"), arena_printf(arena, "%s%s", base, protocol->path));
    add_edit(&edits, STR("http.allow_plain_http"), STR("true"));
    add_edit(&edits, STR("http.read_timeout"), STR("2s"));
    add_edit(&edits, STR("http.body_max"), STR("4MiB"));
    add_edit(&edits, STR("http.inflated_max"), STR("8MiB"));
    add_edit(&edits, STR("retry.min_delay"), STR("1ms"));
    add_edit(&edits, STR("retry.max_delay"), STR("20ms"));
    add_path(&edits, arena, protocol, &test->spec.endpoint);
    add_size(&edits, arena, &test->spec.endpoint);
    buf_init(&out, arena, SOURCE_BYTES_MAX_WRITTEN);
    source_write(&test->source, &out);
    text = (struct source_text){ buf_str(&out), { edits.items, edits.count } };
    fault_list_init(&faults, arena);
    if (!buf_ok(&out, err) ||
        (!source_lint(arena, NULL, &text, &faults, &test->source) && !fault_list_ok(&faults, err)))
        return error_wrap(err, "the source on loopback");
    return snapshot_make(
               arena,
               &(struct snapshot_request){ .source = &test->source, .operation = test->operation },
               &snapshot, err) &&
           spec_read(arena, snapshot.json, &test->spec, err);
}

/* ---- the faults ---- */

static const struct fault_row {
    const char *name;
    const char *kind;
    const char *when; /* NULL: the first attempt at every page */
    bool is_of_dates; /* a source without dates cannot notice it */
} faults[] = {
    { "429, Retry-After 0", "kind=status code=429 retry_after=0", NULL, false },
    { "429, Retry-After in the past", "kind=status code=429 retry_after=past", NULL, false },
    { "429 in HTML", "kind=status code=429 body=html", NULL, false },
    { "503 without a body", "kind=status code=503 body=empty", NULL, false },
    { "500 in HTML", "kind=status code=500 body=html", NULL, false },
    { "500, one in ten", "kind=status code=500", "rate=0.1", false },
    { "reset before the response", "kind=reset at=before", NULL, false },
    { "reset, the page is lost", "kind=reset at=reply", NULL, false },
    { "reset within the body", "kind=reset at=mid keep=50", NULL, false },
    { "connection closed", "kind=close", NULL, false },
    { "silence within the body", "kind=stall at=mid ms=4000", "nth=2", false },
    { "cut off, length right", "kind=truncate keep=50", NULL, false },
    { "cut off, length fits", "kind=truncate keep=50 length=short", NULL, false },
    { "cut off, chunked", "kind=truncate keep=50 length=chunked", NULL, false },
    { "length too large", "kind=length delta=100", NULL, false },
    { "length too small", "kind=length delta=-10", NULL, false },
    { "random bytes", "kind=garbage bytes=300", NULL, false },
    { "a page of HTML", "kind=html", NULL, false },
    { "HTML as the right type", "kind=html keep_type", NULL, false },
    { "an empty body", "kind=empty", NULL, false },
    { "too large", "kind=oversize mb=5", "nth=2", false },
    { "a gzip bomb", "kind=bomb mb=10", "nth=2", false },
    { "UTF-16", "kind=charset charset=utf16", NULL, false },
    { "redirect elsewhere", "kind=redirect code=302", "nth=2", false },
    { "an error in a 200", "kind=body_error", NULL, false },
    { "a page without records", "kind=empty_page", NULL, false },
    { "the page before again", "kind=repeat_page", "nth=2", false },
    { "the list slid by one", "kind=shift_page", "nth=2", false },
    { "the token that was sent", "kind=repeat_token", NULL, false },
    { "an expired token", "kind=expired_token", "nth=2", false },
    { "another total", "kind=moving_total", "nth=2", false },
    { "next on another host", "kind=next_elsewhere", NULL, false },
    { "a record without id", "kind=record_no_id", "nth=2", false },
    { "a record without date", "kind=record_no_date", "nth=2", true },
    { "an unreadable date", "kind=record_bad_date", "nth=2", true },
    { "details are missing", "kind=missing_details", "nth=2", false },
};

struct bench { /* what all trials share */
    struct source_test *test;
    struct sim_server server;
    struct auth_tokens *tokens;
    struct http *control;
    struct http *http;
    struct secret_source secrets;
    struct random_source random;
    struct trial truth;
};

static bool control(struct bench *bench, const char *method, struct str body, struct error *err)
{
    struct arena *arena = &bench->test->session.arena;
    const struct http_request request = {
        .method = str_of(method),
        .url = arena_printf(arena, "%s/_sim/faults", bench->server.base),
        .body = body,
        .allow_plain_http = true,
    };
    struct http_response reply;

    if (!http_send(bench->control, arena, &request, &reply, err))
        return error_wrap(err, "patra-sim");
    return reply.status == 200 ||
           error_set(err, ERROR_FATAL, "sim.faults", "patra-sim: status %d", reply.status);
}

/* Each scroll has its own tokens, so "every page" would hit every page of every scroll. */
static struct str rule_of(const struct bench *bench, const struct fault_row *fault)
{
    const bool is_scroll = !bench->test->spec.endpoint.page.replayable;
    const char *when = fault->when;

    if (when == NULL)
        when = is_scroll ? "nth=2" : "nth=1 by=request";
    return arena_printf(&bench->test->session.arena, "%s %s", when, fault->kind);
}

static bool try_once(struct bench *bench, struct trial *trial, struct error *err)
{
    struct source_test *test = bench->test;
    const struct spec_window *window = &test->spec.endpoint.window;
    const struct slice_cut cut = { .max_us = window->max_us,
                                   .min_us = window->min_us,
                                   .overlap_us = window->overlap_us,
                                   .align = window->align,
                                   .granularity = window->granularity };
    const struct slice slice = { .dimension = SLICE_TIME,
                                 .window = { FROM_US, TO_US },
                                 .query = slice_query_of(&cut, (struct window){ FROM_US, TO_US }),
                                 .expected_records = SLICE_UNKNOWN,
                                 .expected_requests = SLICE_UNKNOWN };
    const struct fetch_parts parts = { .http = bench->http,
                                       .clock = &test->session.clock,
                                       .random = &bench->random,
                                       .secrets = &bench->secrets,
                                       .wake_fd = CLOCK_NO_WAKE };

    return trial_run(trial, &test->session.arena, &parts,
                     &(struct fetch_order){ .spec = &test->spec,
                                            .slice = &slice,
                                            .plan_id = STR("0"),
                                            .batch_no = 1,
                                            .can_reslice = true },
                     err);
}

/* ---- the table ---- */

/* An API without dates of change cannot show that one is missing: the record is stored as received.
 * That is a limit of the source, which its file declares by having no updated_at, not a failure of
 * the walk. Everything else about the walk must be right. */
static bool is_limit(const struct bench *bench, const struct fault_row *fault,
                     const struct trial *trial)
{
    const struct spec *spec = &bench->test->spec;
    const struct spec_endpoint *endpoint = spec->is_two_phase ? &spec->detail : &spec->endpoint;

    return fault->is_of_dates &&
           (endpoint->response.updated_at_count == 0 ||
            endpoint->response.may_be_absent[RESPONSE_PART_UPDATED_AT]) &&
           trial_same_ids(trial, &bench->truth);
}

static struct str verdict_of(struct arena *arena, const struct trial *trial,
                             const struct trial *truth, enum trial_outcome outcome)
{
    switch (outcome) {
    case TRIAL_WRONG:
        return STR("WRONG");
    case TRIAL_FAILED:
        return STR("FAILED");
    case TRIAL_PARTIAL:
        return STR("PARTIAL");
    case TRIAL_WHOLE:
        break;
    }
    if (trial->restarts + trial->sweeps > 1)
        return STR("recovered, walked again");
    if (trial->retries > 0)
        return arena_printf(arena, "recovered, retried %" PRId64, trial->retries);
    return trial->requests == truth->requests ? STR("unharmed") : STR("recovered, requested again");
}

static struct str detail_of(struct arena *arena, const struct trial *trial,
                            const struct trial *truth, enum trial_outcome outcome)
{
    if (outcome == TRIAL_WHOLE)
        return STR("");
    if (outcome == TRIAL_FAILED)
        return str_of(trial->err.code);
    if (outcome == TRIAL_WRONG)
        return arena_printf(arena, "%zu records of %zu, or other records, unnoticed", trial->count,
                            truth->count);
    return arena_printf(arena, "%s%s%s%.*s", fetch_verdict_name(trial->verdict.kind),
                        trial->bad > 0 ? ", in quarantine: 1 or more" : "",
                        trial->verdict.reason.len > 0 ? ": " : "", STR_ARG(trial->verdict.reason));
}

struct shown {
    struct str verdict;
    struct str detail;
};

static const struct shown LIMIT = {
    STR_INIT("not to be noticed"),
    STR_INIT("a limit of the source: it has no date of change (no response.updated_at)"),
};

static bool try_all(struct bench *bench, enum exit_code *code, struct error *err)
{
    static const char *const heads[] = { "FAULT", "OUTCOME", "REQUESTS", "" };
    struct arena *arena = &bench->test->session.arena;
    const bool as_json = invocation_flag(bench->test->invocation, "json");
    struct columns columns;
    struct json_writer w;
    struct buf text;

    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    buf_init(&text, arena, (size_t)1 << 20);
    json_writer_init(&w, &text);
    json_write_array(&w);
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        enum trial_outcome outcome;
        struct shown shown;
        struct trial trial;

        if (!control(bench, "DELETE", (struct str){ 0 }, err) ||
            !control(bench, "POST", rule_of(bench, &faults[i]), err) ||
            !try_once(bench, &trial, err))
            return error_wrap(err, "%s", faults[i].name);
        outcome = trial_judge(&trial, &bench->truth);
        shown = (struct shown){ verdict_of(arena, &trial, &bench->truth, outcome),
                                detail_of(arena, &trial, &bench->truth, outcome) };
        if (outcome == TRIAL_WRONG && is_limit(bench, &faults[i], &trial))
            shown = LIMIT;
        else if (outcome == TRIAL_WRONG)
            *code = EXIT_FOUND;
        columns_cell(&columns, str_of(faults[i].name));
        columns_cell(&columns, shown.verdict);
        columns_i64(&columns, trial.requests);
        columns_cell(&columns, shown.detail);
        json_write_object(&w);
        json_write_member_str(&w, STR("fault"), str_of(faults[i].name));
        json_write_member_str(&w, STR("outcome"), shown.verdict);
        json_write_member_i64(&w, STR("requests"), trial.requests);
        json_write_member_i64(&w, STR("retries"), trial.retries);
        json_write_member_str(&w, STR("detail"), shown.detail);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_writer_finish(&w);
    buf_add_char(&text, '\n');
    return as_json ? output_text(bench->test->invocation->out, &text, err)
                   : columns_print(&columns, bench->test->invocation->out, err);
}

/* ---- the whole ---- */

static bool open_bench(struct bench *bench, struct error *err)
{
    struct auth_http_parts parts = { .secrets = &bench->secrets,
                                     .clock = &bench->test->session.clock };

    if (!sim_server_start(&bench->server, err) || !auth_tokens_open(&bench->tokens, err) ||
        !curl_http_open(NULL, &bench->control, err))
        return false;
    parts.tokens = bench->tokens;
    if (!curl_http_open(NULL, &parts.inner, err))
        return false;
    if (auth_http_open(&parts, &bench->http, err))
        return true;
    http_close(parts.inner);
    return false;
}

static void close_bench(struct bench *bench)
{
    http_close(bench->http);
    http_close(bench->control);
    auth_tokens_close(bench->tokens);
    sim_server_stop(&bench->server);
}

static bool check_truth(const struct bench *bench, const struct protocol *protocol,
                        struct error *err)
{
    const struct trial *truth = &bench->truth;

    if (truth->failed)
        return error_set(err, ERROR_REQUEST, "source.faults",
                         "the walk over patra-sim's %s fails even without a fault: %.500s",
                         protocol->name, truth->err.text);
    if (truth->verdict.kind != FETCH_COMPLETE || truth->bad > 0 || truth->count == 0)
        return error_set(err, ERROR_REQUEST, "source.faults",
                         "the walk over patra-sim's %s is incomplete even without a fault: %s, %zu "
                         "records, %zu bad. Is --protocol right?",
                         protocol->name, fetch_verdict_name(truth->verdict.kind), truth->count,
                         truth->bad);
    return true;
}

bool source_test_faults(struct source_test *test, enum exit_code *code, struct error *err)
{
    struct bench bench = { .test = test,
                           .secrets = source_test_stand_in(),
                           .random = system_random() };
    const struct protocol *protocol;
    bool ok;

    if (!choose_protocol(test, &protocol, err))
        return false;
    if (test->spec.endpoint.role != ENDPOINT_SEARCH)
        return command_misused(
            err, "--faults walks pages; choose an operation that lists records with --operation");
    ok = open_bench(&bench, err) && point_at(test, protocol, bench.server.base, err) &&
         try_once(&bench, &bench.truth, err) && check_truth(&bench, protocol, err);
    if (ok && !invocation_flag(test->invocation, "json"))
        fprintf(test->invocation->out,
                "%.*s %.*s against patra-sim's %s: %zu records, %" PRId64
                " requests without a fault\n\n",
                STR_ARG(test->source.registry.code), STR_ARG(test->operation), protocol->name,
                bench.truth.count, bench.truth.requests);
    ok = ok && try_all(&bench, code, err);
    close_bench(&bench);
    return ok;
}
