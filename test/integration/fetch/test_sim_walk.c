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
#include "child.h"
#include "fetch_rig.h"
#include "sim_shapes.h"
#include "sim_truth.h"
#include "test.h"

static struct {
    struct sim sim;
    struct clock clock;
    struct http *http;
    struct auth_tokens *tokens;
    struct arena arena; /* of one walk */
    struct arena keep;  /* of all walks */
    struct sim_truth truths[SIM_SHAPES];
    int64_t need;  /* requests, of the walks so far */
    bool is_short; /* one day: what a fault does shows in its few pages */
    struct rig rig;
} world;

/* ---- the simulator ---- */

static void begin(bool is_short)
{
    static const char *const options[] = { SIM_WORLD, NULL };
    struct error err;

    memset(&world, 0, sizeof(world));
    world.is_short = is_short;
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

static const char *to_of(const struct sim_shape *shape)
{
    return world.is_short ? SIM_TO_SHORT : shape->to;
}

/* ---- one source, pointed at the simulator ---- */

/* What is between the walk and the wire. The handles are opened once and outlive the rigs. */
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

static void open_walk(const struct sim_shape *shape)
{
    struct error err;

    rig_init_edited(&world.rig, shape->file, "harvest",
                    sim_shape_edits(&world.arena, &world.sim, shape, false));
    world.rig.parts.http = with_auth(&err);
    world.rig.parts.clock = &world.clock;
    world.rig.gate.clock = &world.clock;
    rig_window(&world.rig, SIM_FROM, to_of(shape));
    if (shape->feed != CURSOR_TIME)
        world.rig.slice = (struct slice){ .dimension = SLICE_FEED,
                                          .feed = { .type = shape->feed },
                                          .expected_records = SLICE_UNKNOWN,
                                          .expected_requests = SLICE_UNKNOWN };
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

/* Requested once per shape: the simulator's clock does not move. */
static const struct sim_truth *truth_of(const struct sim_shape *shape)
{
    struct sim_truth *truth = &world.truths[shape - sim_shapes];
    const struct str path =
        arena_printf(&world.arena, "/_sim/truth?protocol=%s&limit=100000&may=1&from=%s&to=%s",
                     shape->protocol, SIM_FROM, to_of(shape));

    if (truth->count == 0)
        sim_truth_read(truth, &world.keep,
                       sim_ask(world.http, &world.arena, &world.sim, "GET", path.data, NULL));
    return truth;
}

static const char *compare_row(const struct sim_truth_row *row, size_t at, int64_t date_us)
{
    if (row->is_dead != rig_has(&world.rig.dead, row->id))
        return "a tombstone is none, or something else is one";
    if (!sim_truth_has_bytes(row, &world.arena, world.rig.payloads.items[at]))
        return "a record has other bytes";
    if (date_us > 0 && world.rig.dates.items[at] != row->at_us - row->at_us % date_us)
        return "a record has another date";
    return NULL;
}

/* NULL: as it is. What a wider query brought may be held as well. */
static const char *compare_with_truth(const struct sim_shape *shape)
{
    const struct sim_truth *truth = truth_of(shape);
    size_t found = 0;

    for (size_t i = 0; i < world.rig.ids.count; i++) {
        const struct sim_truth_row *row = sim_truth_find(truth, world.rig.ids.items[i]);
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

static const char *walk_slice(void)
{
    world.rig.order.batch_no = 1;
    world.rig.order.run_id++;
    world.rig.befores = (struct rig_texts){ 0 };
    world.rig.listed = (struct rig_texts){ 0 }; /* slices overlap */
    rig_run(&world.rig);
    if (world.rig.failed)
        return world.rig.err.text;
    if (world.rig.last.verdict.kind != FETCH_COMPLETE || world.rig.last.verdict.lost_ids > 0)
        return world.rig.last.verdict.reason.data;
    return NULL;
}

/* As a plan would: slices of the source's own length, each with its own verdict. */
static const char *walk_slices(const struct sim_shape *shape, size_t *slices)
{
    const struct window window = world.rig.slice.window;
    const char *wrong = NULL;
    struct slice_iter iter;
    struct slice slice;

    *slices = 1;
    world.need = 0;
    if (shape->feed != CURSOR_TIME) {
        world.need = sim_shape_need(shape, truth_of(shape), (struct window){ 0, 0 });
        wrong = walk_slice();
        return wrong != NULL ? wrong : compare_with_truth(shape);
    }
    slice_iter_init(&iter,
                    &(struct slice_request){ .operation = OPERATION_HARVEST,
                                             .dimension = SLICE_TIME,
                                             .pieces = { (struct window *)&window, 1 },
                                             .cut = cut_of(&world.rig.spec.endpoint.window) });
    for (*slices = 0; slice_iter_next(&iter, &slice); ++*slices) {
        world.rig.slice = slice;
        world.need += sim_shape_need(shape, truth_of(shape), slice.window);
        wrong = walk_slice();
        if (wrong != NULL)
            return wrong;
    }
    return compare_with_truth(shape);
}

TEST(every_source_collects_the_truth)
{
    begin(false);
    for (size_t i = 0; i < SIM_SHAPES; i++) {
        const char *wrong;
        size_t slices;

        open_walk(&sim_shapes[i]);
        wrong = walk_slices(&sim_shapes[i], &slices);
        if (wrong != NULL)
            test_fail(__FILE__, __LINE__, "%s: %s", sim_shapes[i].name, wrong);
        CHECK(world.rig.ids.count > 20, sim_shapes[i].name);
        CHECK_EQ(world.rig.bad.count, 0, sim_shapes[i].name);
        CHECK_EQ(world.rig.lost.count, 0, sim_shapes[i].name);
        page_need_check(sim_shapes[i].name, world.rig.gate.acquired, world.need);
        test_note("%-10s %3zu slices, %4zu records, %3d batches, %3d requests", sim_shapes[i].name,
                  slices, world.rig.ids.count, world.rig.batches, world.rig.gate.acquired);
        close_walk();
    }
    end();
}

/* ---- with faults ---- */

enum outcome { WHOLE, HONEST, WRONG };

/* What became of a walk, in a few words. */
static enum outcome judge(const struct sim_shape *shape, char what[static 256])
{
    const struct rig *rig = &world.rig;
    const struct fetch_verdict *verdict = &rig->last.verdict;
    const char *wrong;

    sim_set_fault(world.http, &world.arena, &world.sim, NULL);
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

static bool is_tried(const struct sim_fault *fault, const struct sim_shape *shape)
{
    if (!fault->is_slow)
        return true;
    return strcmp(shape->name, "offset") == 0 || strcmp(shape->name, "crossref") == 0 ||
           strcmp(shape->name, "pubmed") == 0;
}

/* Where a walk is not whole, and says so itself. */
static const struct excuse {
    const char *fault;
    const char *shapes; /* "": all of them */
    const char *because;
} excuses[] = {
    { "redirect", "", "redirects are not followed" },
    { "oversize", " next link oai oai-post datacite arxiv crossref details ",
      "these pages cannot be made smaller: the slice is re-sliced, or the id given up" },
    { "bomb", " next link oai oai-post datacite arxiv crossref details ",
      "these pages cannot be made smaller either" },
    { "error object", " crossref ", "by its own rule, a response without status ok is refused" },
    { "refused id", " details pubmed ", "the id is listed, and an UPDATE requests it again" },
    { "no id", " crossref ", "a scroll has no second look: one is in quarantine" },
    { "no date", " crossref ", "a scroll has no second look: one is in quarantine" },
    { "bad date", " crossref ", "a scroll has no second look: one is in quarantine" },
};

static bool is_excused(const struct sim_shape *shape, const struct sim_fault *fault,
                       enum outcome outcome)
{
    if (outcome == WRONG)
        return sim_fault_unseen(shape, fault) != NULL;
    for (size_t i = 0; i < ARRAY_LEN(excuses); i++) {
        const struct excuse *one = &excuses[i];

        if (strcmp(one->fault, fault->name) == 0 &&
            (one->shapes[0] == '\0' || sim_names_have(one->shapes, shape->name)))
            return true;
    }
    return false;
}

static enum outcome try_fault(const struct sim_shape *shape, const struct sim_fault *fault)
{
    struct slice_cut cut;
    char what[256];
    enum outcome outcome;

    open_walk(shape);
    cut = cut_of(&world.rig.spec.endpoint.window);
    world.rig.slice.query = slice_query_of(&cut, world.rig.slice.window);
    sim_set_fault(
        world.http, &world.arena, &world.sim,
        sim_fault_rule(&world.arena, shape, fault, sim_truth_some_id(truth_of(shape))).data);
    rig_run(&world.rig);
    outcome = judge(shape, what);
    if (outcome != WHOLE && !is_excused(shape, fault, outcome))
        test_fail(__FILE__, __LINE__, "%s, %s: %s%s", shape->name, fault->name,
                  outcome == WRONG ? "WRONG: " : "", what);
    close_walk();
    return outcome;
}

TEST(no_fault_leaves_a_hole_that_is_not_reported)
{
    const char *only = getenv("SIM_WALK_FAULT");
    int counts[WRONG + 1] = { 0 };

    begin(true);
    for (size_t f = 0; f < SIM_FAULTS; f++) {
        for (size_t i = 0; i < SIM_SHAPES; i++) {
            if (!is_tried(&sim_faults[f], &sim_shapes[i]) ||
                (only != NULL && strcmp(only, sim_faults[f].name) != 0))
                continue;
            counts[try_fault(&sim_shapes[i], &sim_faults[f])]++;
        }
    }
    test_note(
        "%d faults, %d shapes: %d walks whole, %d reported that they are not, %d could not know",
        SIM_FAULTS, SIM_SHAPES, counts[WHOLE], counts[HONEST], counts[WRONG]);
    end();
}
