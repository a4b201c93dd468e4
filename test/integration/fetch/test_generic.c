/* Walks against patra-sim by libcurl: for every way of paging, and every fault that the simulator
 * has, what was collected is exactly its truth, byte by byte.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/curl/curl_http.h"
#include "adapter/system/system.h"
#include "child.h"
#include "data/hash.h"
#include "data/json.h"
#include "fetch_rig.h"
#include "test.h"

#define FROM "2026-01-10T00:00:00Z"
#define TO "2026-01-20T00:00:00Z"
#define TO_SHORT "2026-01-11T00:00:00Z" /* where every record is a request of its own */

static const char *const styles[] = { "offset", "offset_blind", "page0", "page1",  "link", "next",
                                      "token",  "header",       "time",  "single", "ids" };

static struct {
    struct sim sim;
    struct clock clock;
    struct http *http;
    struct arena arena;
    struct rig rig;
    const char *to;
} world;

/* ---- the simulator ---- */

static void begin(void)
{
    static const char *const options[] = { "--records",   "3000",   "--burst-ppm", "300000",
                                           "--audit-off", "repeat", NULL };
    struct error err;

    memset(&world, 0, sizeof(world));
    world.clock = system_clock();
    arena_init(&world.arena, 64 << 20);
    REQUIRE(sim_start(&world.sim, options), "patra-sim starts");
    REQUIRE_OK(curl_http_open(NULL, &world.http, &err), err);
}

static void end(void)
{
    http_close(world.http);
    sim_stop(&world.sim);
    arena_release(&world.arena);
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

/* ---- one walk ---- */

static void make_walk(const char *style)
{
    rig_init(&world.rig, "test/data/fetch/generic.yaml", style, world.sim.base);
    world.rig.parts.http = world.http;
    world.rig.parts.clock = &world.clock;
    world.rig.gate.clock = &world.clock;
    world.to = strcmp(style, "ids") == 0 ? TO_SHORT : TO;
    rig_window(&world.rig, FROM, world.to);
}

static size_t index_of(const struct rig_texts *texts, struct str text)
{
    size_t at = 0;

    while (at < texts->count && !str_eq(texts->items[at], text))
        at++;
    return at;
}

/* One line of the truth: {"id":...,"version":...,"sha256":...,"state":...} */
static const char *compare_line(struct str line)
{
    char hex[HASH_HEX_MAX];
    struct hash_sum sum;
    struct json_doc doc;
    struct error err;
    struct str id;
    size_t at;

    REQUIRE_OK(json_parse(&doc, &world.arena, line, &err), err);
    if (!json_exists(json_get(&doc, json_root(&doc), STR("id"))))
        return NULL; /* the summary */
    REQUIRE_OK(
        json_string(&doc, json_get(&doc, json_root(&doc), STR("id")), &world.arena, &id, &err),
        err);
    at = index_of(&world.rig.ids, id);
    if (at == world.rig.ids.count)
        return "a record is missing";
    REQUIRE_OK(hash_of(world.rig.payloads.items[at], &sum, &err), err);
    hash_hex(&sum, hex);
    if (!json_string_is(&doc, json_get(&doc, json_root(&doc), STR("sha256")), str_of(hex)))
        return "a record has other bytes";
    if (!json_string_is(&doc, json_get(&doc, json_root(&doc), STR("state")), STR("live")) !=
        rig_has(&world.rig.dead, id))
        return "a tombstone is none, or something else is one";
    return NULL;
}

static const char *compare_with_truth(void)
{
    const struct str path = arena_printf(
        &world.arena, "/_sim/truth?protocol=generic&limit=100000&from=" FROM "&to=%s", world.to);
    struct str truth = ask("GET", path.data, NULL);
    size_t count = 0;
    const char *wrong;

    while (truth.len > 0) {
        const struct str line = str_cut(&truth, '\n');

        if (line.len == 0)
            continue;
        wrong = compare_line(line);
        if (wrong != NULL)
            return wrong;
        count++;
    }
    if (world.rig.ids.count != count - 1)
        return "there are more records than there should be";
    return NULL;
}

/* NULL: all is well. */
static const char *walk(const char *style, struct rig **rig)
{
    const char *wrong;

    make_walk(style);
    *rig = &world.rig;
    rig_run(&world.rig);
    if (world.rig.failed)
        return world.rig.err.text;
    if (world.rig.last.verdict.kind != FETCH_COMPLETE)
        return world.rig.last.verdict.reason.data;
    set_fault(NULL);
    wrong = compare_with_truth();
    return wrong;
}

TEST(every_way_of_paging_collects_the_truth)
{
    struct rig *rig;

    begin();
    for (size_t i = 0; i < ARRAY_LEN(styles); i++) {
        const char *wrong = walk(styles[i], &rig);

        if (wrong != NULL)
            test_fail(__FILE__, __LINE__, "%s: %s", styles[i], wrong);
        test_note("%-12s %zu records, %d batches, %d requests (%d ahead), %s: %.*s", styles[i],
                  rig->ids.count, rig->batches, rig->gate.acquired, rig->gate.prefetched,
                  fetch_verdict_name(rig->last.verdict.kind), STR_ARG(rig->last.verdict.reason));
        rig_release(rig);
        arena_reset(&world.arena);
    }
    end();
}

/* ---- faults ---- */

static const struct {
    const char *name;
    const char *rule;
    bool is_slow; /* waits of real seconds: tried on two ways of paging only */
} faults[] = {
    { "429 with Retry-After", "nth=2 kind=status code=429 retry_after=1", true },
    { "429 html", "nth=1 by=request kind=status code=429 body=html", false },
    { "429 past", "nth=1 by=request kind=status code=429 retry_after=past", false },
    { "503 empty", "nth=1 by=request kind=status code=503 body=empty", false },
    { "500 html", "nth=1,2 by=request kind=status code=500 body=html", false },
    { "reset before", "nth=1 by=request kind=reset at=before", false },
    { "reset reply", "nth=1 by=request kind=reset at=reply", false },
    { "reset mid", "nth=1 by=request kind=reset at=mid keep=50", false },
    { "close", "nth=1 by=request kind=close", false },
    { "stall mid", "nth=2 kind=stall at=mid ms=4000", true },
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
    { "latin1", "nth=1 by=request kind=charset charset=latin1", false },
    { "utf16", "nth=1 by=request kind=charset charset=utf16", false },
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
    { "one in ten", "rate=0.1 kind=status code=500", false },
};

TEST(no_fault_leaves_a_hole)
{
    int walks = 0, requests = 0;
    struct rig *rig;

    begin();
    for (size_t f = 0; f < ARRAY_LEN(faults); f++) {
        for (size_t i = 0; i < ARRAY_LEN(styles); i++) {
            const char *wrong;

            if (faults[f].is_slow && strcmp(styles[i], "offset") != 0 &&
                strcmp(styles[i], "token") != 0)
                continue;
            /* One record whose only odd letters have become question marks is a good answer. */
            if (strcmp(faults[f].name, "latin1") == 0 && strcmp(styles[i], "ids") == 0)
                continue;
            set_fault(faults[f].rule);
            wrong = walk(styles[i], &rig);
            if (wrong != NULL)
                test_fail(__FILE__, __LINE__, "%s, %s: %s", faults[f].name, styles[i], wrong);
            walks++;
            requests += rig->gate.acquired;
            rig_release(rig);
            arena_reset(&world.arena);
        }
    }
    test_note("%d walks, %zu faults, %zu ways of paging, %d requests", walks, ARRAY_LEN(faults),
              ARRAY_LEN(styles), requests);
    end();
}
