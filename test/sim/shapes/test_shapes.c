/* The shape fuzzer: a valid source, a valid upstream, and one structural change of its answers in
 * the middle of a walk.
 *
 * A case harvests two days. On one of them the upstream is as the source says: all records must be
 * there, in no more than three times the requests that are needed. On the other, answers are
 * damaged: for one response, for one page, or from there on. Whatever happens then, nothing is
 * shown as done of which records are missing, unless the store lists them (quarantine, signal) or
 * the run says that it may be incomplete. When the damage is over, one more trigger must bring all
 * records.
 *
 *      make shapes                   10,000 cases
 *      PATRA_SHAPES=N                so many; PATRA_SHAPES_FROM=N begins at this seed
 *      PATRA_SEED=N                  one case, with its source
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "damage.h"
#include "judge.h"
#include "test.h"

/* Requests under damage, retries and second walks included, of those that are needed. */
enum { DAMAGED_FACTOR_MAX = 30 };

enum { CASES = 300, FAILURES_MAX = 25, SLICE_RECORDS_MAX = 24 };

enum outcome {
    OUT_IDLE,    /* no answer had what would be changed */
    OUT_RIGHT,   /* all records, by as many requests as without the damage */
    OUT_HEALED,  /* all records, by more requests */
    OUT_TOLD,    /* not SUCCEEDED */
    OUT_LISTED,  /* SUCCEEDED, and what is missing is in quarantine or signalled */
    OUT_DOUBTED, /* SUCCEEDED, and the run says that records may be missing */
    OUT_UNSEEN,  /* the answers were those of a valid upstream with fewer records */
    OUT_WRONG,
    OUTCOMES,
};

static const char *const outcome_names[OUTCOMES] = {
    [OUT_IDLE] = "idle",     [OUT_RIGHT] = "right",   [OUT_HEALED] = "healed",
    [OUT_TOLD] = "told",     [OUT_LISTED] = "listed", [OUT_DOUBTED] = "doubted",
    [OUT_UNSEEN] = "unseen", [OUT_WRONG] = "WRONG",
};

struct shape_case {
    uint64_t seed;
    struct shape shape;
    int counts[SHAPE_SLICES];
    struct damage damage;
    int damaged_day;
};

struct result {
    enum outcome outcome;
    int64_t need;           /* requests of a day */
    int64_t quiet_requests; /* of the day without damage */
    int64_t requests;       /* of the damaged day */
    char wrong[256];        /* what is wrong; empty: nothing */
    char reason[ERROR_TEXT_MAX];
};

/* ---- a case by chance ---- */

static void fill(struct shape_api *api, const struct shape_case *c)
{
    struct random random = { c->seed ^ 0xf111 };

    api->count = 0;
    for (int day = 0; day < SHAPE_DAYS; day++) {
        for (int s = 0; s < SHAPE_SLICES; s++) {
            const struct window slice = shape_slice(day, s);
            int64_t at_us = slice.from_us;
            int same = 0;

            for (int i = 0; i < c->counts[s]; i++) {
                if (i == 0 || same == 2 || !random_chance(&random, 20)) {
                    at_us += random_between(&random, 1, 1500) * US_PER_SECOND;
                    same = 0;
                } else
                    same++;
                api->records[api->count] =
                    (struct shape_record){ .updated_us = at_us,
                                           .revision = 700000000 + 1000 * api->count +
                                                       random_between(&random, 0, 1000) };
                api->count++;
            }
        }
    }
}

/* Whether the first page of this upstream can have this damage. */
static bool can_have(const struct shape_case *c)
{
    static struct shape_api api;
    struct random random = { c->damage.seed };
    struct answer answer;
    struct arena arena;
    bool can;

    arena_init(&arena, 64 << 20);
    api.shape = &c->shape;
    fill(&api, c);
    shape_first_answer(&api, &arena, shape_slice(0, 0), &answer);
    answer.sent = STR("t0");
    can = damage_kinds[c->damage.kind].apply(
        &(struct damage_input){ &c->shape, &arena, &random, &answer });
    arena_release(&arena);
    return can;
}

/* Kinds of damage take turns; the rest is by chance, until both fit together. */
static struct shape_case case_of(uint64_t seed)
{
    struct shape_case c = { .seed = seed };
    struct random random = { seed * 0x9e3779b9 };

    c.damage.kind = (size_t)(seed % damage_kind_count);
    do {
        shape_random(&c.shape, &random);
        for (int s = 0; s < SHAPE_SLICES; s++)
            c.counts[s] =
                (int)random_between(&random, s == 0 ? c.shape.size + 1 : 0, SLICE_RECORDS_MAX + 1);
        c.damaged_day = (int)random_between(&random, 0, SHAPE_DAYS);
        c.damage.scope = (enum damage_scope)random_between(&random, 0, DAMAGE_SCOPES);
        /* Of the day; made absolute later. A page of the first slice. */
        c.damage.from = random_between(&random, 1, 2 + c.counts[0] / c.shape.size);
        c.damage.seed = random_u64(&random);
    } while (!can_have(&c));
    return c;
}

/* ---- a run of it ---- */

static void say(struct result *result, const char *when, const struct judgement *j)
{
    if (result->wrong[0] != '\0')
        return;
    (void)snprintf(result->wrong, sizeof(result->wrong),
                   "%s: %d of %d records missing, %d of them shown as done, %d of these without a "
                   "word (%s), %d strangers, %d tasks undone",
                   when, j->missing, j->records, j->pretended, j->unlisted, j->first, j->strangers,
                   j->undone);
}

static int64_t need_of(const struct shape_world *w, int day)
{
    struct window windows[SHAPE_SLICES];

    for (int s = 0; s < SHAPE_SLICES; s++)
        windows[s] = shape_slice(day, s);
    return shape_need(&w->api, windows, SHAPE_SLICES);
}

static void run_quiet(struct shape_world *w, int day, struct result *result)
{
    const int64_t before = w->api.requests;
    struct judgement j;

    if (!shape_world_harvest(w, day))
        (void)snprintf(result->wrong, sizeof(result->wrong), "without damage: no rest");
    j = judge(w, shape_day(day), 0);
    if (j.missing > 0 || j.strangers > 0)
        say(result, "without damage", &j);
    result->quiet_requests = w->api.requests - before;
    if (result->quiet_requests > NEED_FACTOR_MAX * result->need && result->wrong[0] == '\0')
        (void)snprintf(result->wrong, sizeof(result->wrong),
                       "without damage: %lld requests where %lld are needed",
                       (long long)result->quiet_requests, (long long)result->need);
}

static enum outcome outcome_of(const struct judgement *j, const struct damager *damager)
{
    if (damager->damage.hits == 0)
        return OUT_IDLE;
    if (j->unlisted > 0 && damage_unseen(damager->shape, &damager->damage) != NULL &&
        j->unlisted <= damage_unseen_max(damager->shape, &damager->damage))
        return OUT_UNSEEN;
    if (j->unlisted > 0 || j->strangers > 0)
        return OUT_WRONG;
    if (j->doubted > 0)
        return OUT_DOUBTED;
    if (j->undone > 0)
        return OUT_TOLD;
    if (j->missing > 0)
        return OUT_LISTED;
    return OUT_HEALED;
}

static void run_damaged(struct shape_world *w, const struct shape_case *c, struct result *result)
{
    struct damager damager = { .damage = c->damage, .shape = &c->shape };
    const int64_t before = w->api.requests;
    struct judgement j;

    damager.damage.from += before;
    w->api.change = damage_answer;
    w->api.context = &damager;
    if (!shape_world_harvest(w, c->damaged_day))
        (void)snprintf(result->wrong, sizeof(result->wrong), "under damage: no rest");
    w->api.change = NULL;
    result->requests = w->api.requests - before;
    j = judge(w, shape_day(c->damaged_day), damage_doubts(&c->shape, &c->damage));
    result->outcome = outcome_of(&j, &damager);
    (void)snprintf(result->reason, sizeof(result->reason), "%s", w->reason);
    if (result->outcome == OUT_WRONG)
        say(result, "under damage", &j);
    if (result->requests > DAMAGED_FACTOR_MAX * result->need)
        (void)snprintf(result->wrong, sizeof(result->wrong),
                       "under damage: %lld requests where %lld are needed",
                       (long long)result->requests, (long long)result->need);
}

static void run_after(struct shape_world *w, const struct shape_case *c, struct result *result)
{
    struct judgement j;

    if (result->outcome == OUT_WRONG)
        return;
    shape_world_resume(w);
    if (!shape_world_harvest(w, c->damaged_day))
        (void)snprintf(result->wrong, sizeof(result->wrong), "after damage: no rest");
    j = judge(w, shape_day(c->damaged_day), damage_doubts(&c->shape, &c->damage));
    if (j.strangers > 0 || j.missing > j.pretended ||
        (j.doubted > 0 && result->outcome != OUT_DOUBTED) ||
        (j.unlisted > 0 && result->outcome != OUT_UNSEEN))
        say(result, "after damage", &j);
}

static struct result run_case(const struct shape_case *c)
{
    static struct shape_world w;
    struct result result = { 0 };

    shape_world_open(&w, &c->shape, c->seed);
    fill(&w.api, c);
    result.need = need_of(&w, c->damaged_day);
    if (c->damaged_day > 0)
        run_quiet(&w, 0, &result);
    if (result.wrong[0] == '\0') {
        run_damaged(&w, c, &result);
        run_after(&w, c, &result);
    }
    if (c->damaged_day == 0 && result.wrong[0] == '\0')
        run_quiet(&w, 1, &result);
    if (result.outcome == OUT_HEALED && result.requests <= result.quiet_requests)
        result.outcome = OUT_RIGHT;
    if (result.wrong[0] != '\0')
        result.outcome = OUT_WRONG;
    shape_world_close(&w);
    return result;
}

/* ---- failures ---- */

/* The same with as few records as fail the same way. */
static struct shape_case shrink(struct shape_case c)
{
    for (int s = SHAPE_SLICES - 1; s >= 0; s--) {
        for (int count = 0; count < c.counts[s]; count++) {
            struct shape_case smaller = c;

            smaller.counts[s] = count;
            if (run_case(&smaller).outcome != OUT_WRONG)
                continue;
            c = smaller;
            break;
        }
    }
    return c;
}

static void report(const struct shape_case *c, const struct result *result, bool with_source)
{
    const struct shape_case small = shrink(*c);
    const struct result again = run_case(&small);
    struct arena arena;

    arena_init(&arena, 1 << 20);
    test_fail(__FILE__, __LINE__, "seed %llu: %s, %s from response %lld of day %d: %s",
              (unsigned long long)c->seed, damage_kinds[c->damage.kind].name,
              damage_scope_name(c->damage.scope), (long long)c->damage.from, c->damaged_day,
              result->wrong);
    test_note("    source: %.*s", STR_ARG(shape_describe(&c->shape, &arena)));
    test_note("    with %d and %d records: %s", small.counts[0], small.counts[1], again.wrong);
    if (result->reason[0] != '\0')
        test_note("    reason: %.300s", result->reason);
    if (with_source)
        test_note("%.*s", STR_ARG(shape_source(&c->shape, &arena)));
    arena_release(&arena);
}

/* ---- the table ---- */

struct row {
    int outcomes[OUTCOMES];
    int64_t requests;
    int64_t need;
    double ratio_max;
    uint64_t ratio_seed;
};

static void add_row(struct row *row, const struct result *result, uint64_t seed)
{
    const double ratio = (double)result->requests / (double)result->need;

    row->outcomes[result->outcome]++;
    row->requests += result->requests;
    row->need += result->need;
    if (ratio > row->ratio_max) {
        row->ratio_max = ratio;
        row->ratio_seed = seed;
    }
}

static void print_row(const char *name, const struct row *row)
{
    char line[160];
    size_t len = 0;

    for (int o = 0; o < OUTCOMES; o++)
        len += (size_t)snprintf(line + len, sizeof(line) - len, "%8d", row->outcomes[o]);
    test_note("%-22s%s %8.2f %8.2f (seed %llu)", name, line,
              row->need > 0 ? (double)row->requests / (double)row->need : 0.0, row->ratio_max,
              (unsigned long long)row->ratio_seed);
}

static void print_table(const struct row *rows, const struct row *pagings)
{
    char line[160];
    size_t len = 0;
    struct row all = { 0 };

    for (int o = 0; o < OUTCOMES; o++)
        len += (size_t)snprintf(line + len, sizeof(line) - len, "%8s", outcome_names[o]);
    test_note("%-22s%s requests of needed, mean and max", "change", line);
    for (size_t k = 0; k < damage_kind_count; k++) {
        print_row(damage_kinds[k].name, &rows[k]);
        for (int o = 0; o < OUTCOMES; o++)
            all.outcomes[o] += rows[k].outcomes[o];
        all.requests += rows[k].requests;
        all.need += rows[k].need;
        if (rows[k].ratio_max > all.ratio_max) {
            all.ratio_max = rows[k].ratio_max;
            all.ratio_seed = rows[k].ratio_seed;
        }
    }
    print_row("all changes", &all);
    for (int p = 0; p < NEED_PAGINGS; p++)
        print_row(need_paging_name((enum need_paging)p), &pagings[p]);
}

/* ---- all of them ---- */

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *asked = getenv(variable);

    return asked != NULL && asked[0] != '\0' ? strtoull(asked, NULL, 10) : otherwise;
}

static struct random_seeds seeds_of_all(void)
{
    const uint64_t count = number_from("PATRA_SHAPES", (uint64_t)test_rounds(CASES));
    const uint64_t from = number_from("PATRA_SHAPES_FROM", 1);
    const struct random_seeds seeds = random_seeds(count);

    return seeds.is_one ? seeds : (struct random_seeds){ .from = from, .to = from + count };
}

TEST(no_change_of_an_answer_s_shape_loses_a_record_without_a_word)
{
    static struct row rows[128], pagings[NEED_PAGINGS];
    const struct random_seeds seeds = seeds_of_all();
    int64_t requests = 0, need = 0;
    double worst = 0;
    int failures = 0;

    REQUIRE(damage_kind_count <= ARRAY_LEN(rows), "a row for each kind");
    for (uint64_t seed = seeds.from; seed < seeds.to && failures < FAILURES_MAX; seed++) {
        const struct shape_case c = case_of(seed);
        const struct result result = run_case(&c);
        const double ratio = (double)result.quiet_requests / (double)result.need;

        add_row(&rows[c.damage.kind], &result, seed);
        add_row(&pagings[c.shape.paging], &result, seed);
        requests += result.quiet_requests;
        need += result.need;
        worst = ratio > worst ? ratio : worst;
        if (result.outcome == OUT_WRONG) {
            report(&c, &result, seeds.is_one);
            failures++;
        } else if (seeds.is_one)
            test_note("%s", outcome_names[result.outcome]);
    }
    print_table(rows, pagings);
    test_note("seeds %llu to %llu; without damage %lld requests where %lld are needed: %.2f, at "
              "most %.2f",
              (unsigned long long)seeds.from, (unsigned long long)seeds.to - 1, (long long)requests,
              (long long)need, (double)requests / (double)need, worst);
}
