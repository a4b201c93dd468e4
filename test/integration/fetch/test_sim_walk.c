/* Walks against patra-sim by libcurl: the shipped sources and every shape of test/data/sim-sources,
 * cut into slices as a plan would cut them, and then with each fault that the simulator has. What
 * was collected is held against the simulator's truth: ids, bytes, dates, tombstones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/auth/auth_http.h"
#include "adapter/curl/curl_http.h"
#include "adapter/system/system.h"
#include "base/list.h"
#include "child.h"
#include "data/date.h"
#include "data/hash.h"
#include "data/json.h"
#include "fetch_rig.h"
#include "test.h"

#define FROM "2026-01-10T00:00:00Z"
#define TO "2026-01-13T00:00:00Z"
#define TO_SHORT "2026-01-11T00:00:00Z" /* where every record is a request of its own */

#define SIM_SOURCE(name) "test/data/sim-sources/" name ".yaml"

enum { EDITS_MAX = 12 };

static const struct shape {
    const char *name;
    const char *file;
    const char *path;     /* base_url, behind the server's */
    const char *protocol; /* of the truth */
    int64_t date_us;      /* to which the answers tell dates; 0: they tell none */
    const char *to;
    struct edit edits[3];
} shapes[] = {
    { "offset", SIM_SOURCE("generic-offset"), "", "generic", 1, TO, { { { 0 }, { 0 } } } },
    { "page0", SIM_SOURCE("generic-page0"), "", "generic", 1, TO, { { { 0 }, { 0 } } } },
    { "page1", SIM_SOURCE("generic-page1"), "", "generic", 1, TO, { { { 0 }, { 0 } } } },
    { "token", SIM_SOURCE("generic-token"), "", "generic", 1, TO, { { { 0 }, { 0 } } } },
    { "header", SIM_SOURCE("generic-header"), "", "generic", 1, TO, { { { 0 }, { 0 } } } },
    { "next", SIM_SOURCE("generic-next"), "", "generic", 1, TO, { { { 0 }, { 0 } } } },
    { "link", SIM_SOURCE("generic-link"), "", "generic", 1, TO, { { { 0 }, { 0 } } } },
    { "time", SIM_SOURCE("generic-time"), "", "generic", 1, TO, { { { 0 }, { 0 } } } },
    { "single", SIM_SOURCE("generic-single"), "", "generic", 1, TO, { { { 0 }, { 0 } } } },
    { "details", SIM_SOURCE("generic-details"), "", "generic", 1, TO_SHORT, { { { 0 }, { 0 } } } },
    { "oai", SIM_SOURCE("oai"), "", "oai", 1000000, TO, { { { 0 }, { 0 } } } },
    { "oai-post", SIM_SOURCE("oai-post"), "", "oai", 1000000, TO, { { { 0 }, { 0 } } } },
    { "history", SIM_SOURCE("pubmed-history"), "", "pubmed", US_PER_DAY, TO, { { { 0 }, { 0 } } } },
    { "epmc-xml", SIM_SOURCE("europepmc-xml"), "", "europepmc-xml", 0, TO, { { { 0 }, { 0 } } } },
    { "crossref",
      "sources/crossref.yaml",
      "/crossref",
      "crossref",
      1000,
      TO,
      { { STR_INIT("endpoints.works.page.size"), STR_INIT("40") } } },
    { "pubmed",
      "sources/pubmed.yaml",
      "/entrez/eutils",
      "pubmed",
      US_PER_DAY,
      TO,
      { { STR_INIT("endpoints.search.page.size"), STR_INIT("100") },
        { STR_INIT("endpoints.fetch.batch.id_batch_size"), STR_INIT("20") } } },
    { "europepmc",
      "sources/europepmc.yaml",
      "/europepmc/webservices/rest",
      "europepmc",
      0,
      TO,
      { { STR_INIT("endpoints.search.page.size"), STR_INIT("40") } } },
    { "openalex",
      "sources/openalex.yaml",
      "/openalex",
      "openalex",
      1,
      TO,
      { { STR_INIT("endpoints.works.page.size"), STR_INIT("40") } } },
    { "datacite",
      "sources/datacite.yaml",
      "/datacite",
      "datacite",
      1000000,
      TO,
      { { STR_INIT("endpoints.dois.page.size"), STR_INIT("40") } } },
    { "arxiv",
      "sources/arxiv.yaml",
      "",
      "arxiv",
      US_PER_DAY,
      TO,
      { { STR_INIT("endpoints.records.path"), STR_INIT("/oai/arxiv.size40") } } },
};

struct truth_row {
    struct str id;
    struct str sha256;
    int64_t at_us;
    bool is_wanted; /* must be held; else it may */
    bool is_dead;
};

struct truth {
    struct truth_row *items;
    size_t count;
    size_t wanted;
};

static struct {
    struct sim sim;
    struct clock clock;
    struct http *http;
    struct auth_tokens *tokens;
    struct arena arena; /* of one walk */
    struct arena keep;  /* of all walks */
    struct truth truths[ARRAY_LEN(shapes)];
    struct rig rig;
    struct edit edits[EDITS_MAX];
} world;

/* ---- the simulator ---- */

static void begin(void)
{
    static const char *const options[] = { "--records",   "6000",   "--burst-ppm", "300000",
                                           "--audit-off", "repeat", NULL };
    struct error err;

    memset(&world, 0, sizeof(world));
    world.clock = system_clock();
    arena_init(&world.arena, 256 << 20);
    arena_init(&world.keep, (size_t)1 << 30);
    REQUIRE(sim_start(&world.sim, options), "patra-sim starts");
    REQUIRE_OK(curl_http_open(NULL, &world.http, &err), err);
    REQUIRE_OK(auth_tokens_open(&world.tokens, &err), err);
}

static void end(void)
{
    http_close(world.http);
    auth_tokens_close(world.tokens);
    sim_stop(&world.sim);
    arena_release(&world.arena);
    arena_release(&world.keep);
}

static struct str ask(const char *method, const char *path, const char *body)
{
    const struct http_request request = {
        .method = str_of(method),
        .url = arena_printf(&world.arena, "%s%s", world.sim.base, path),
        .body = str_of(body),
        .allow_plain_http = true,
    };
    struct http_reply reply;
    struct error err;

    REQUIRE_OK(http_send(world.http, &world.arena, &request, &reply, &err), err);
    REQUIRE(reply.status == 200, path);
    return reply.body;
}

static void set_fault(const char *rule)
{
    (void)ask("DELETE", "/_sim/faults", NULL);
    if (rule != NULL)
        (void)ask("POST", "/_sim/faults", rule);
}

/* ---- one source, pointed at the simulator ---- */

static struct edit_list edits_of(const struct shape *shape)
{
    const struct edit common[] = {
        { STR("http.base_url"), arena_printf(&world.arena, "%s%s", world.sim.base, shape->path) },
        { STR("http.allow_plain_http"), STR("true") },
        { STR("http.read_timeout"), STR("2s") },
        { STR("http.body_max"), STR("4MiB") },
        { STR("http.inflated_max"), STR("8MiB") },
        { STR("retry.min_delay"), STR("1ms") },
        { STR("retry.max_delay"), STR("20ms") },
    };
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LEN(common); i++)
        world.edits[count++] = common[i];
    for (size_t i = 0; i < ARRAY_LEN(shape->edits) && shape->edits[i].path.len > 0; i++)
        world.edits[count++] = shape->edits[i];
    return (struct edit_list){ world.edits, count };
}

/* What stands between the walk and the wire. The handles are opened once and outlive the rigs. */
static struct http *with_auth(struct error *err)
{
    const struct auth_http_parts parts = { .tokens = world.tokens,
                                           .secrets = &world.rig.secrets.source,
                                           .clock = &world.clock };
    struct auth_http_parts all = parts;
    struct http *http;

    REQUIRE_OK(curl_http_open(NULL, &all.inner, err), *err);
    REQUIRE_OK(auth_http_open(&all, &http, err), *err);
    return http;
}

static void open_walk(const struct shape *shape)
{
    struct error err;

    rig_init_edited(&world.rig, shape->file, "harvest", edits_of(shape));
    world.rig.parts.http = with_auth(&err);
    world.rig.parts.clock = &world.clock;
    world.rig.gate.clock = &world.clock;
    rig_window(&world.rig, FROM, shape->to);
}

static void close_walk(void)
{
    http_close(world.rig.parts.http);
    rig_release(&world.rig);
    arena_reset(&world.arena);
}

static struct slice_cut cut_of(const struct spec_window *window)
{
    return (struct slice_cut){ .max_us = window->max_us,
                               .min_us = window->min_us,
                               .overlap_us = window->overlap_us,
                               .align = window->align,
                               .granularity = window->granularity };
}

/* ---- the truth ---- */

static struct str member(const struct json_doc *doc, struct json_node node, const char *name)
{
    const struct json_node value = json_get(doc, node, str_of(name));
    struct str text = { 0 };
    struct error err;

    if (json_exists(value))
        REQUIRE_OK(json_string(doc, value, &world.keep, &text, &err), err);
    return text;
}

/* One line: {"id":...,"version":...,"updated_at":...,"sha256":...,"state":...}. */
static void read_line(struct truth *truth, struct str line)
{
    struct json_doc doc;
    struct json_node root;
    struct truth_row *row;
    struct error err;
    struct date date = { 0 };
    struct str id, state;

    REQUIRE_OK(json_parse(&doc, &world.keep, line, &err), err);
    root = json_root(&doc);
    id = member(&doc, root, "id");
    if (id.data == NULL)
        return; /* the summary */
    state = member(&doc, root, "state");
    row = LIST_ADD(&world.keep, truth);
    REQUIRE(row != NULL, "memory");
    *row = (struct truth_row){ .id = id, .sha256 = member(&doc, root, "sha256") };
    row->is_wanted = !str_eq(state, STR("moved")) && !str_eq(state, STR("gone"));
    row->is_dead = !str_eq(state, STR("live"));
    truth->wanted += row->is_wanted;
    if (!row->is_wanted)
        return;
    REQUIRE_OK(
        date_parse(date_format_find(STR("rfc3339")), member(&doc, root, "updated_at"), &date, &err),
        err);
    row->at_us = date.at_us;
}

/* Asked for once per shape: the simulator's clock stands still. */
static const struct truth *truth_of(const struct shape *shape)
{
    struct truth *truth = &world.truths[shape - shapes];
    const struct str path =
        arena_printf(&world.arena, "/_sim/truth?protocol=%s&limit=100000&may=1&from=%s&to=%s",
                     shape->protocol, FROM, shape->to);
    struct str lines;

    if (truth->count > 0)
        return truth;
    lines = arena_copy(&world.keep, ask("GET", path.data, NULL));
    while (lines.len > 0) {
        const struct str line = str_cut(&lines, '\n');

        if (line.len > 0)
            read_line(truth, line);
    }
    return truth;
}

/* The simulator tells ids in the order of their bytes. */
static const struct truth_row *find(const struct truth *truth, struct str id)
{
    size_t low = 0, high = truth->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (str_cmp(truth->items[middle].id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < truth->count && str_eq(truth->items[low].id, id) ? &truth->items[low] : NULL;
}

static const char *compare_row(const struct truth_row *row, size_t at, int64_t date_us)
{
    char hex[HASH_HEX_MAX];
    struct hash_sum sum;
    struct error err;

    if (row->is_dead != rig_has(&world.rig.dead, row->id))
        return "a tombstone is none, or something else is one";
    REQUIRE_OK(hash_of(world.rig.payloads.items[at], &sum, &err), err);
    hash_hex(&sum, hex);
    if (!str_eq(row->sha256, str_of(hex)))
        return "a record has other bytes";
    if (date_us > 0 && world.rig.dates.items[at] != row->at_us - row->at_us % date_us)
        return "a record has another date";
    return NULL;
}

/* NULL: as it is. What a wider query brought may be held as well. */
static const char *compare_with_truth(const struct shape *shape)
{
    const struct truth *truth = truth_of(shape);
    size_t found = 0;

    for (size_t i = 0; i < world.rig.ids.count; i++) {
        const struct truth_row *row = find(truth, world.rig.ids.items[i]);
        const char *wrong = NULL;

        if (row == NULL)
            return "a record is held that does not exist";
        if (row->is_wanted)
            wrong = compare_row(row, i, shape->date_us);
        if (wrong != NULL)
            return wrong;
        found += row->is_wanted;
    }
    return found == truth->wanted ? NULL : "a record is missing";
}

/* ---- without faults ---- */

/* As a plan would: slices of the source's own length, each with its own verdict. */
static const char *walk_slices(const struct shape *shape, size_t *slices)
{
    const struct window window = world.rig.slice.window;
    struct slice_iter iter;
    struct slice slice;

    (void)shape;
    slice_iter_init(&iter,
                    &(struct slice_request){ .operation = OPERATION_HARVEST,
                                             .dimension = SLICE_TIME,
                                             .pieces = { (struct window *)&window, 1 },
                                             .cut = cut_of(&world.rig.spec.endpoint.window) });
    for (*slices = 0; slice_iter_next(&iter, &slice); ++*slices) {
        world.rig.slice = slice;
        world.rig.order.batch_no = 1;
        world.rig.order.run_id++;
        world.rig.befores = (struct rig_texts){ 0 };
        world.rig.listed = (struct rig_texts){ 0 }; /* slices overlap */
        rig_run(&world.rig);
        if (world.rig.failed)
            return world.rig.err.text;
        if (world.rig.last.verdict.kind != FETCH_COMPLETE || world.rig.last.verdict.lost_ids > 0)
            return world.rig.last.verdict.reason.data;
    }
    return compare_with_truth(shape);
}

TEST(every_source_collects_the_truth)
{
    begin();
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        const char *wrong;
        size_t slices;

        open_walk(&shapes[i]);
        wrong = walk_slices(&shapes[i], &slices);
        if (wrong != NULL)
            test_fail(__FILE__, __LINE__, "%s: %s", shapes[i].name, wrong);
        CHECK(world.rig.ids.count > 20, shapes[i].name);
        CHECK_EQ(world.rig.bad.count, 0, shapes[i].name);
        CHECK_EQ(world.rig.lost.count, 0, shapes[i].name);
        test_note("%-10s %3zu slices, %4zu records, %3d batches, %3d requests", shapes[i].name,
                  slices, world.rig.ids.count, world.rig.batches, world.rig.gate.acquired);
        close_walk();
    }
    end();
}

/* ---- with faults ---- */

static const struct fault_case {
    const char *name;
    const char *rule;
    bool is_slow; /* waits of real seconds: tried on a few shapes only */
} faults[] = {
    { "429 with Retry-After", "nth=2 kind=status code=429 retry_after=1", true },
    { "429 with a date", "nth=2 kind=status code=429 retry_after=date+1", true },
    { "429 zero", "nth=1 by=request kind=status code=429 retry_after=0", false },
    { "429 html", "nth=1 by=request kind=status code=429 body=html", false },
    { "429 past", "nth=1 by=request kind=status code=429 retry_after=past", false },
    { "503 empty", "nth=1 by=request kind=status code=503 body=empty", false },
    { "500 html twice", "nth=1,2 by=request kind=status code=500 body=html", false },
    { "reset before", "nth=1 by=request kind=reset at=before", false },
    { "reset reply", "nth=1 by=request kind=reset at=reply", false },
    { "reset mid", "nth=1 by=request kind=reset at=mid keep=50", false },
    { "close", "nth=1 by=request kind=close", false },
    { "stall before", "nth=2 kind=stall at=before ms=4000", true },
    { "stall mid", "nth=2 kind=stall at=mid ms=4000", true },
    { "drip", "nth=2 kind=drip bps=2000000", false },
    { "truncate right", "nth=1 by=request kind=truncate keep=50", false },
    { "truncate short", "nth=1 by=request kind=truncate keep=50 length=short", false },
    { "truncate none", "nth=1 by=request kind=truncate keep=50 length=none", false },
    { "truncate chunked", "nth=1 by=request kind=truncate keep=50 length=chunked", false },
    { "length more", "nth=1 by=request kind=length delta=100", false },
    { "length less", "nth=1 by=request kind=length delta=-10", false },
    { "garbage", "nth=1 by=request kind=garbage bytes=300", false },
    { "html", "nth=1 by=request kind=html", false },
    { "html as json", "nth=1 by=request kind=html keep_type", false },
    { "empty", "nth=1 by=request kind=empty", false },
    { "oversize", "nth=2 kind=oversize mb=5", false },
    { "bomb", "nth=2 kind=bomb mb=10", false },
    { "latin1", "nth=1 by=request kind=charset charset=latin1", false },
    { "utf16", "nth=1 by=request kind=charset charset=utf16", false },
    { "redirect", "nth=2 kind=redirect code=302", false },
    { "body error", "nth=1 by=request kind=body_error", false },
    { "empty page", "nth=1 by=request kind=empty_page", false },
    { "repeat page", "nth=2 kind=repeat_page", false },
    { "repeat pages", "nth=1 by=request kind=repeat_page", false },
    { "shift page", "nth=2 kind=shift_page", false },
    { "repeat token", "nth=1 by=request kind=repeat_token", false },
    { "expired token", "nth=2 kind=expired_token", false },
    { "moving total", "nth=2 kind=moving_total", false },
    { "next elsewhere", "nth=1 by=request kind=next_elsewhere", false },
    { "no id", "nth=2 kind=record_no_id", false },
    { "no date", "nth=2 kind=record_no_date", false },
    { "bad date", "nth=2 kind=record_bad_date", false },
    { "missing details", "nth=2 kind=missing_details", false },
    { "one in ten", "rate=0.1 kind=status code=500", false },
};

enum outcome { WHOLE, HONEST, WRONG };

/* What became of a walk, in a few words. */
static enum outcome judge(const struct shape *shape, char what[static 256])
{
    const struct rig *rig = &world.rig;
    const struct fetch_verdict *verdict = &rig->last.verdict;
    const char *wrong;

    set_fault(NULL);
    if (rig->failed) {
        (void)snprintf(what, 256, "failed, %s: %.200s", rig->err.code, rig->err.text);
        return HONEST;
    }
    if (verdict->kind != FETCH_COMPLETE || verdict->lost_ids > 0 || rig->bad.count > 0) {
        (void)snprintf(what, 256, "%s, %zu lost, %zu bad: %.*s", fetch_verdict_name(verdict->kind),
                       rig->lost.count, rig->bad.count, STR_ARG(verdict->reason));
        return HONEST;
    }
    wrong = compare_with_truth(shape);
    (void)snprintf(what, 256, "%s", wrong != NULL ? wrong : "");
    return wrong != NULL ? WRONG : WHOLE;
}

static bool is_tried(const struct fault_case *fault, const struct shape *shape)
{
    if (!fault->is_slow)
        return true;
    return strcmp(shape->name, "offset") == 0 || strcmp(shape->name, "crossref") == 0 ||
           strcmp(shape->name, "pubmed") == 0;
}

/* Where a walk is not whole, and why. All but the last kind say so themselves. */
static const struct excuse {
    const char *fault;
    const char *shapes; /* names between blanks; "": all of them */
    enum outcome outcome;
    const char *because;
} excuses[] = {
    { "redirect", "", HONEST, "redirects are not followed" },
    { "oversize", " next link oai oai-post datacite arxiv crossref details ", HONEST,
      "these pages can not be made smaller: the slice is cut, or the id given up" },
    { "bomb", " next link oai oai-post datacite arxiv crossref details ", HONEST, "likewise" },
    { "no id", " crossref ", HONEST, "a scroll has no second look: one is in quarantine" },
    { "no date", " crossref ", HONEST, "likewise" },
    { "bad date", " crossref ", HONEST, "likewise" },
    { "latin1", " details pubmed ", WRONG,
      "an answer whose odd letters have all become question marks is a good one" },
    { "no date", " europepmc epmc-xml ", WRONG, "where no date is read, none is missed" },
    { "bad date", " europepmc epmc-xml ", WRONG, "likewise" },
};

static bool is_excused(const struct shape *shape, const struct fault_case *fault,
                       enum outcome outcome)
{
    char name[32];

    (void)snprintf(name, sizeof(name), " %s ", shape->name);
    for (size_t i = 0; i < ARRAY_LEN(excuses); i++) {
        const struct excuse *one = &excuses[i];

        if (strcmp(one->fault, fault->name) == 0 && one->outcome == outcome &&
            (one->shapes[0] == '\0' || strstr(one->shapes, name) != NULL))
            return true;
    }
    return false;
}

/* Every scroll has a token of its own, so that "the first attempt at each page" is each page of
 * each scroll for ever: there the second request is spoilt, and the third. */
static struct str rule_for(const struct shape *shape, const struct fault_case *fault)
{
    const struct str rule = str_of(fault->rule);
    const struct str each = STR("nth=1 by=request "), twice = STR("nth=1,2 by=request ");

    if (strcmp(shape->name, "crossref") != 0)
        return rule;
    if (str_starts(rule, each))
        return arena_printf(&world.arena, "nth=2 %s", rule.data + each.len);
    if (str_starts(rule, twice))
        return arena_printf(&world.arena, "nth=2,3 %s", rule.data + twice.len);
    return rule;
}

static enum outcome try_fault(const struct shape *shape, const struct fault_case *fault)
{
    struct slice_cut cut;
    char what[256];
    enum outcome outcome;

    open_walk(shape);
    cut = cut_of(&world.rig.spec.endpoint.window);
    world.rig.slice.query = slice_query_of(&cut, world.rig.slice.window);
    set_fault(rule_for(shape, fault).data);
    rig_run(&world.rig);
    outcome = judge(shape, what);
    if (outcome != WHOLE && !is_excused(shape, fault, outcome))
        test_fail(__FILE__, __LINE__, "%s, %s: %s%s", shape->name, fault->name,
                  outcome == WRONG ? "WRONG: " : "", what);
    close_walk();
    return outcome;
}

TEST(no_fault_leaves_a_hole_that_is_not_told)
{
    const char *only = getenv("SIM_WALK_FAULT");
    int counts[WRONG + 1] = { 0 };

    begin();
    for (size_t f = 0; f < ARRAY_LEN(faults); f++) {
        for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
            if (!is_tried(&faults[f], &shapes[i]) ||
                (only != NULL && strcmp(only, faults[f].name) != 0))
                continue;
            counts[try_fault(&shapes[i], &faults[f])]++;
        }
    }
    test_note(
        "%zu faults, %zu shapes: %d walks whole, %d told that they are not, %d could not know",
        ARRAY_LEN(faults), ARRAY_LEN(shapes), counts[WHOLE], counts[HONEST], counts[WRONG]);
    end();
}
