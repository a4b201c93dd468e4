/* Paging: whole walks against sources that a model simulates, with the oddities of real ones.
 */
#include <stdio.h>

#include "engine/fetch/page.h"
#include "random.h"
#include "test.h"

#define NO_TOKEN ((struct str){ NULL, 0 })

enum { RECORDS_MAX = 240, TOKENS_MAX = 400 };

enum ending { ENDS_ABSENT, ENDS_ECHO, ENDS_ONE_EMPTY_MORE };

/* A source that never changes. Faults hit the first response to a request, never the second. */
struct source {
    struct random random;
    int records;
    int64_t dates[RECORDS_MAX]; /* ascending */
    int size_max;               /* clamps silently */
    bool tells_total;
    bool tells_more;
    bool denies_more; /* has_more is false on every page */
    enum ending ending;
    bool is_exclusive; /* TIME: gives what comes after the instant that was sent */
    int coarse_us;     /* TIME: ... and all that follows within so much; 0: nothing */
    bool is_scroll;
    int scroll_at;
    int fault_percent;
    char token[32];
};

struct answer {
    int from;
    int count;
    bool has_next;
    bool is_spoiled;
};

static int begin_of(const struct source *source, const struct page_rules *rules,
                    const struct page_state *state)
{
    const int size = state->size < source->size_max ? (int)state->size : source->size_max;
    int64_t first_us;
    int from = 0;

    switch (rules->type) {
    case PAGINATION_OFFSET:
        return (int)state->offset;
    case PAGINATION_PAGE:
        return (int)(state->page_no - rules->base) * size;
    case PAGINATION_TOKEN:
        if (source->is_scroll)
            return source->scroll_at;
        return str_eq(state->token, STR("*")) ? 0 : atoi(state->token.data);
    case PAGINATION_TIME:
        first_us =
            page_window(rules, state).from_us + (source->is_exclusive ? 1 : 0) + source->coarse_us;
        while (from < source->records && source->dates[from] < first_us)
            from++;
        return from;
    default:
        return 0;
    }
}

static struct page_seen reply_of(struct source *source, const struct page_rules *rules,
                                 const struct page_state *state, bool is_second,
                                 struct answer *answer)
{
    const int size = state->size < source->size_max ? (int)state->size : source->size_max;
    const int from = begin_of(source, rules, state);
    const bool may_lie = !is_second && !source->is_scroll;
    const int until = from + size < source->records ? from + size : source->records;
    struct page_seen seen = { 0 };
    bool is_last = until >= source->records;

    answer->from = from < source->records ? from : source->records;
    answer->count = until > answer->from ? until - answer->from : 0;
    if (source->is_scroll)
        source->scroll_at = until;
    if (source->ending == ENDS_ONE_EMPTY_MORE)
        is_last = from >= source->records;
    if (may_lie && random_chance(&source->random, source->fault_percent)) {
        const int64_t kind = random_between(&source->random, 0, source->tells_total ? 3 : 2);

        if (kind == 0)
            answer->count = 0;
        else if (kind == 1 && from >= size && rules->type != PAGINATION_TIME)
            answer->from -= size; /* the page before once more */
        else if (kind == 2 && rules->type == PAGINATION_TOKEN)
            is_last = true; /* the token was forgotten */
    }
    seen.items = answer->count;
    seen.has_total = source->tells_total;
    seen.total = source->records;
    if (source->tells_more)
        seen.more = until < source->records && !source->denies_more ? PAGE_MORE_YES : PAGE_MORE_NO;
    if (rules->type == PAGINATION_TOKEN) {
        if (source->is_scroll)
            seen.next = STR("scroll");
        else if (!is_last) {
            (void)snprintf(source->token, sizeof(source->token), "%d", until);
            seen.next = str_of(source->token);
        } else if (source->ending == ENDS_ECHO)
            seen.next = state->token;
    }
    seen.has_dates = answer->count > 0;
    if (seen.has_dates) {
        seen.earliest_us = source->dates[answer->from];
        seen.latest_us = source->dates[answer->from + answer->count - 1];
    }
    return seen;
}

struct outcome {
    enum page_reason reason;
    int distinct;
    int requests;
};

static struct outcome walk(struct source *source, const struct page_rules *rules)
{
    const struct window all = { 0, 1000000 };
    struct page_state state = page_first(rules, NULL, all);
    bool known[RECORDS_MAX] = { false };
    char tokens[TOKENS_MAX][32];
    struct outcome outcome = { 0 };
    struct page_facts facts = { 0 };

    for (;;) {
        struct answer answer;
        struct page_seen seen = reply_of(source, rules, &state, facts.is_second, &answer);
        struct page_decision decision;

        outcome.requests++;
        for (int i = 0; i < answer.count; i++)
            seen.fresh += !known[answer.from + i];
        decision = page_decide(rules, &state, &seen, &facts);
        facts.is_second = decision.step == PAGE_REPEAT;
        if (decision.step == PAGE_REPEAT)
            continue;
        for (int i = 0; i < answer.count; i++) {
            outcome.distinct += !known[answer.from + i];
            known[answer.from + i] = true;
        }
        if (decision.step == PAGE_END || outcome.requests >= TOKENS_MAX) {
            outcome.reason = decision.reason;
            return outcome;
        }
        if (decision.next.token.data != NULL) { /* what keeps a token alive is the walk */
            (void)snprintf(tokens[outcome.requests], sizeof(tokens[0]), "%.*s",
                           STR_ARG(decision.next.token));
            decision.next.token = str_of(tokens[outcome.requests]);
        }
        state = decision.next;
    }
}

static struct page_rules rules_of(struct random *random, struct source *source)
{
    static const enum pagination_type types[] = { PAGINATION_OFFSET, PAGINATION_PAGE,
                                                  PAGINATION_TOKEN, PAGINATION_TIME };
    struct page_rules rules = {
        .type = types[random_between(random, 0, ARRAY_LEN(types))],
        .size = random_between(random, 1, 40),
        .replayable = true,
        .size_max = 1000,
        .granularity = GRANULARITY_MICROSECOND,
        .initial = STR("*"),
    };

    rules.base = (int)random_between(random, 0, 2);
    source->is_scroll = rules.type == PAGINATION_TOKEN && random_chance(random, 25);
    if (source->is_scroll) {
        rules.replayable = false;
        rules.same_token = SAME_TOKEN_CONTINUE;
    }
    return rules;
}

static void source_init(struct source *source, struct random *random)
{
    int64_t date = 0;

    *source = (struct source){ .random = { random_u64(random) } };
    source->records = (int)random_between(random, 0, RECORDS_MAX);
    for (int i = 0; i < source->records; i++) {
        date += random_between(random, 0, 3);
        source->dates[i] = date;
    }
    source->size_max = random_chance(random, 50) ? 1000 : (int)random_between(random, 1, 30);
    source->tells_total = random_chance(random, 50);
    source->tells_more = random_chance(random, 30);
    source->ending = (enum ending)random_between(random, 0, 3);
    source->denies_more = source->tells_more && random_chance(random, 50);
    source->fault_percent = random_chance(random, 50) && !source->denies_more ? 15 : 0;
}

/* A page that was cut off within the first instant, or where larger pages were requested and not
 * given, cannot be distinguished from one that was not. */
static bool may_hide(const struct source *source, const struct page_rules *rules)
{
    const int last = source->size_max < source->records ? source->size_max : source->records;

    return rules->size <= source->size_max ||
           (last > 0 && source->dates[0] == source->dates[last - 1]);
}

TEST(walks_over_a_model_bring_every_record)
{
    const struct random_seeds seeds = random_seeds(20000);
    int walks = 0, requests = 0;

    for (uint64_t seed = seeds.from; seed < seeds.to; seed++, walks++) {
        struct random random = { seed };
        struct source source;
        struct page_rules rules;
        struct outcome outcome;

        source_init(&source, &random);
        rules = rules_of(&random, &source);
        outcome = walk(&source, &rules);
        requests += outcome.requests;
        /* A burst of one instant has to fit a page, or the walk is stuck and says so. */
        if (rules.type == PAGINATION_TIME && source.size_max < 1000 &&
            (page_is_cut(outcome.reason) || may_hide(&source, &rules)))
            continue;
        if (outcome.distinct != source.records || page_is_cut(outcome.reason)) {
            test_fail(__FILE__, __LINE__,
                      "seed %" PRIu64 ": type %d: %d of %d records, %d requests, end: %s", seed,
                      (int)rules.type, outcome.distinct, source.records, outcome.requests,
                      page_reason_name(outcome.reason));
            return;
        }
    }
    test_note("%d walks, %d requests", walks, requests);
}

TEST(a_burst_of_one_instant_gets_larger_pages_and_is_then_reported)
{
    struct source source = { .records = 100, .size_max = 1000 };
    struct page_rules rules = { .type = PAGINATION_TIME,
                                .size = 10,
                                .size_max = 200,
                                .replayable = true,
                                .granularity = GRANULARITY_MICROSECOND };
    struct outcome outcome;

    for (int i = 0; i < 100; i++)
        source.dates[i] = 500;
    outcome = walk(&source, &rules);
    CHECK_EQ(outcome.distinct, 100, "pages grow until the instant fits");
    CHECK(!page_is_cut(outcome.reason), "and the end is an end");
    rules.size_max = 64;
    outcome = walk(&source, &rules);
    CHECK_EQ(outcome.reason, PAGE_CUT_STUCK, "100 do not fit 64");
}

/* ---- a "since" that is exclusive ---- */

/* Three records of each instant, 100 apart, from the first instant of the window on. A list
 * of fewer than two instants after that one does not show that its source is exclusive. */
static void fill_by_threes(struct source *source, int records)
{
    source->records = records;
    for (int i = 0; i < records; i++)
        source->dates[i] = (int64_t)(i / 3) * 100;
}

static const struct page_rules by_time = { .type = PAGINATION_TIME,
                                           .size = 10,
                                           .size_max = 1000,
                                           .replayable = true,
                                           .granularity = GRANULARITY_MICROSECOND };

TEST(by_time_an_exclusive_source_loses_nothing_at_the_borders_of_pages)
{
    static const int counts[] = { 200, 10, 20, 11, 12, 30, 9, 7 };

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        struct source inclusive = { .size_max = 1000 };
        struct source exclusive = { .size_max = 1000, .is_exclusive = true };
        struct outcome normal, outcome;

        fill_by_threes(&inclusive, counts[i]);
        fill_by_threes(&exclusive, counts[i]);
        normal = walk(&inclusive, &by_time);
        outcome = walk(&exclusive, &by_time);
        CHECK_EQ(normal.distinct, counts[i], "inclusive: all records");
        CHECK_EQ(outcome.distinct, counts[i], "exclusive: all records");
        CHECK(!page_is_cut(outcome.reason), "complete");
        CHECK(outcome.requests <= normal.requests + 4, "about as many requests");
    }
}

TEST(by_time_walks_over_exclusive_sources_bring_every_record)
{
    const struct random_seeds seeds = random_seeds(5000);

    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        struct random random = { seed };
        struct page_rules rules = by_time;
        struct source source;
        struct outcome outcome;

        source_init(&source, &random);
        source.is_exclusive = true;
        source.size_max = 1000;
        source.tells_total = false;
        for (int i = 0; i < source.records; i++)
            source.dates[i] += 1; /* the first instant of the window has none */
        rules.size = random_between(&random, 1, 40);
        outcome = walk(&source, &rules);
        if (outcome.distinct == source.records && !page_is_cut(outcome.reason))
            continue;
        test_fail(__FILE__, __LINE__, "seed %" PRIu64 ": %d of %d records, %d requests, end: %s",
                  seed, outcome.distinct, source.records, outcome.requests,
                  page_reason_name(outcome.reason));
        return;
    }
}

TEST(by_time_a_border_that_no_request_shows_is_reported)
{
    struct source source = { .size_max = 1000, .is_exclusive = true, .coarse_us = 50 };
    struct outcome outcome;

    fill_by_threes(&source, 200);
    outcome = walk(&source, &by_time);
    CHECK_EQ(outcome.reason, PAGE_CUT_STUCK, "records of one step and more are left out");
    CHECK(outcome.requests <= 8, "soon");
}
