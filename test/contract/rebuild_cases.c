/* Rebuilding a projection: from the stream, stopped at any page, while readers look all the time.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "adapter/system/system.h"
#include "core/lane.h"
#include "engine/rebuild/rebuild.h"
#include "fault_store.h"
#include "port/store_outbox.h"
#include "sink_rig.h"
#include "sql.h"
#include "stream_rig.h"

enum { KEYS = 200 };

#define SOURCES                                                                                  \
    "    on_delete: remove\n"                                                                    \
    "    from:\n"                                                                                \
    "      - { aggregates: [thing], events: [Set] }\n"                                           \
    "      - { aggregates: [thing], events: [Patch], effect: partial }\n"                        \
    "      - { aggregates: [thing], events: [Drop], effect: delete }\n"                          \
    "    children: { kids: { each: \"$.kids[*]\", columns: { v: { type: integer, path: $ } } } " \
    "}\n"
#define FILE_TEXT                                                                             \
    "projection: things\ntables:\n  things:\n    columns: { n: { type: integer, path: $.n } " \
    "}\n" SOURCES

struct site {
    struct sink_rig rig;
    struct store *store; /* whose stream it is */
    struct sequencer *sequencer;
    struct clock clock;
    struct arena page;
    int64_t next; /* version */
};

static void begin(struct site *site)
{
    *site = (struct site){ .clock = system_clock(), .next = 1 };
    sink_rig_begin(&site->rig, FILE_TEXT);
    site->store = contract_open(site->rig.dsn);
    site->sequencer = stream_rig_sequencer(site->store, "one");
    arena_init(&site->page, 64 << 20);
}

static void end(struct site *site)
{
    sequencer_close(site->sequencer);
    store_close(site->store);
    arena_release(&site->page);
    sink_rig_end(&site->rig);
}

/* One event of each key, in the stream. */
static void publish(struct site *site, const char *type, const char *body)
{
    struct foreign_event events[KEYS];
    char ids[KEYS][16], event_ids[KEYS][40];
    struct error err;
    int64_t added;

    for (int i = 0; i < KEYS; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "k%03d", i);
        (void)snprintf(event_ids[i], sizeof(event_ids[i]), "019b%04x-0000-7000-8000-%012x",
                       (unsigned)site->next, (unsigned)i);
        events[i] = (struct foreign_event){
            .aggregate_type = STR("thing"),
            .aggregate_id = str_of(ids[i]),
            .event = { .event_id = str_of(event_ids[i]),
                       .event_type = str_of(type),
                       .version = site->next,
                       .schema_version = 1,
                       .lane = lane_of(STR("thing"), str_of(ids[i])),
                       .occurred_us = NOW_US,
                       .body = str_of(body) },
        };
    }
    site->next++;
    REQUIRE_OK(store_begin(site->store, &err), err);
    REQUIRE_OK(store_outbox_add(site->store, events, KEYS, &added, &err), err);
    REQUIRE_OK(store_commit(site->store, &err), err);
    CHECK_EQ(stream_rig_round(site->sequencer, NOW_US).appended, KEYS, "in the stream");
}

struct stopper {
    struct rebuild_listener listener; /* first */
    int pages;                        /* until it stops */
};

static bool count_page(struct rebuild_listener *listener, const struct rebuild_result *so_far)
{
    struct stopper *stopper = (struct stopper *)listener;

    (void)so_far;
    return --stopper->pages > 0;
}

static bool run(struct site *site, struct rebuild_listener *listener, struct rebuild_result *result,
                bool *swapped)
{
    struct store *sink = contract_open(site->rig.dsn);
    const struct rebuild_request request = { .store = site->store,
                                             .sink = sink,
                                             .spec = &site->rig.spec,
                                             .hash = str_of(site->rig.text.hash),
                                             .clock = &site->clock,
                                             .listener = listener };
    const bool ok = rebuild(&site->page, &request, result, swapped, &site->rig.err);

    store_close(sink);
    return ok;
}

#define SHOWN                                                             \
    "SELECT count(*), sum(version), sum(n), (SELECT count(*) FROM kids)," \
    " (SELECT sum(v) FROM kids), (SELECT count(*) FROM things__gone) FROM things"

TEST(a_rebuild_is_what_the_stream_says)
{
    struct rebuild_result result;
    struct site site;
    bool swapped;

    begin(&site);
    publish(&site, "Set", "{\"n\":1,\"kids\":[1,2]}");
    publish(&site, "Patch", "{\"n\":2}");
    REQUIRE_OK(run(&site, NULL, &result, &swapped), site.rig.err);
    CHECK(swapped, "swapped");
    CHECK_EQ(result.events, 2 * KEYS, "all events");
    CHECK_EQ(result.live_keys, 0, "it was empty");
    CHECK_EQ(result.new_keys, KEYS, "and is not");
    CHECK_STR(sink_rig_rows(&site.rig, SHOWN), STR("200|400|400|400|600|0\n"), "every row");
    contract_sql(site.rig.dsn, "UPDATE things SET n = 99 WHERE aggregate_id = 'k007'");
    contract_sql(site.rig.dsn, "DELETE FROM things WHERE aggregate_id = 'k008'");
    REQUIRE_OK(run(&site, NULL, &result, &swapped), site.rig.err);
    CHECK_EQ(result.buckets_differ, 1, "what is missing is seen");
    CHECK_STR(sink_rig_rows(&site.rig, SHOWN), STR("200|400|400|400|600|0\n"), "and healed");
    end(&site);
}

TEST(a_rebuild_that_was_stopped_continues_and_leaves_the_live_tables_alone)
{
    struct rebuild_result result;
    struct site site;
    bool swapped;

    begin(&site);
    for (int i = 0; i < 5; i++)
        publish(&site, "Set", "{\"n\":1,\"kids\":[1]}");
    REQUIRE_OK(run(&site, NULL, &result, &swapped), site.rig.err);
    publish(&site, "Set", "{\"n\":7,\"kids\":[7]}");
    for (int pages = 1; pages <= 3; pages++) {
        struct stopper stopper = { { count_page }, 1 };

        REQUIRE_OK(run(&site, &stopper.listener, &result, &swapped), site.rig.err);
        CHECK(!swapped, "stopped");
        CHECK_EQ(result.is_continued, pages > 1, "the next one continues");
        CHECK_STR(sink_rig_rows(&site.rig, SHOWN), STR("200|1000|200|200|200|0\n"), "as it was");
        if (pages > 1)
            break;
    }
    REQUIRE_OK(run(&site, NULL, &result, &swapped), site.rig.err);
    CHECK(swapped && result.is_continued, "to its end");
    CHECK(result.events < 6 * KEYS, "not from the beginning");
    CHECK_STR(sink_rig_rows(&site.rig, SHOWN), STR("200|1200|1400|200|1400|0\n"), "everything");
    end(&site);
}

TEST(the_old_tables_come_back_with_the_events_since)
{
    struct rebuild_result result;
    struct site site;
    bool swapped;

    begin(&site);
    publish(&site, "Set", "{\"n\":1,\"kids\":[1]}");
    REQUIRE_OK(run(&site, NULL, &result, &swapped), site.rig.err);
    contract_sql(site.rig.dsn, "UPDATE things SET n = 50 WHERE aggregate_id = 'k000'");
    REQUIRE_OK(run(&site, NULL, &result, &swapped), site.rig.err);
    publish(&site, "Patch", "{\"kids\":[2]}");
    CHECK_STR(sink_rig_rows(&site.rig, SHOWN), STR("200|200|200|200|200|0\n"), "rebuilt");
    REQUIRE_OK(rebuild_back(&site.page,
                            &(struct rebuild_request){ .store = site.store,
                                                       .sink = site.rig.sink,
                                                       .spec = &site.rig.spec,
                                                       .hash = str_of(site.rig.text.hash),
                                                       .clock = &site.clock },
                            &result, &site.rig.err),
               site.rig.err);
    CHECK_STR(sink_rig_rows(&site.rig, SHOWN), STR("200|400|249|200|400|0\n"),
              "what was there before, and what came since");
    end(&site);
}

TEST(events_that_cannot_be_applied_are_left_out_and_counted)
{
    struct rebuild_result result;
    struct site site;
    bool swapped;

    begin(&site);
    publish(&site, "Set", "{\"n\":1,\"kids\":[1]}");
    publish(&site, "Set", "{\"n\":\"many\"}");
    REQUIRE_OK(run(&site, NULL, &result, &swapped), site.rig.err);
    CHECK_EQ(result.skipped, KEYS, "counted");
    CHECK(strstr(result.skipped_example.text, "column n ($.n)") != NULL,
          result.skipped_example.text);
    CHECK_STR(sink_rig_rows(&site.rig, SHOWN), STR("200|200|200|200|200|0\n"), "the others");
    end(&site);
}

TEST(events_that_break_a_rule_of_the_table_are_left_out_too)
{
    struct rebuild_result result;
    struct site site;
    bool swapped;

    begin(&site);
    REQUIRE_OK(store_sink_remove(site.rig.sink, &site.rig.arena, &site.rig.spec, &site.rig.err),
               site.rig.err);
    REQUIRE_OK(sink_rig_apply(&site.rig,
                              "projection: things\ntables:\n  things:\n    columns: { n: "
                              "{ type: integer, path: $.n, not_null: true } }\n" SOURCES),
               site.rig.err);
    publish(&site, "Patch", "{\"kids\":[1]}");
    REQUIRE_OK(run(&site, NULL, &result, &swapped), site.rig.err);
    CHECK_EQ(result.skipped, KEYS, "each is counted");
    CHECK(strstr(result.skipped_example.text, "k0") != NULL, result.skipped_example.text);
    publish(&site, "Set", "{\"n\":3,\"kids\":[3]}");
    REQUIRE_OK(run(&site, NULL, &result, &swapped), site.rig.err);
    CHECK_STR(sink_rig_rows(&site.rig, SHOWN), STR("200|400|600|200|600|0\n"), "the others");
    end(&site);
}

TEST(where_the_stream_lacks_its_beginning_foreign_events_are_not_guessed)
{
    struct rebuild_result result;
    struct site site;
    bool swapped;

    begin(&site);
    publish(&site, "Set", "{\"n\":1}");
    publish(&site, "Set", "{\"n\":2}");
    contract_sql(site.rig.dsn, strncmp(site.rig.dsn, "postgres", 8) == 0
                                   ? "DELETE FROM ing_stream WHERE first_pos = 1"
                                   : "DELETE FROM ing_stream WHERE pos = 1");
    CHECK(!run(&site, NULL, &result, &swapped), "refused");
    CHECK(strcmp(site.rig.err.code, "rebuild.pruned") == 0, site.rig.err.text);
    end(&site);
}

/* ---- deaths ---- */

/* The process that rebuilds dies at its n-th call to the database. */
static bool die_at(struct site *site, int64_t number, struct rebuild_result *result)
{
    struct store *sink = contract_open(site->rig.dsn);
    const struct rebuild_request request = { .store = site->store,
                                             .sink = sink,
                                             .spec = &site->rig.spec,
                                             .hash = str_of(site->rig.text.hash),
                                             .clock = &site->clock };
    bool swapped, died;

    fault_store_wrap(sink);
    fault_store_arm(sink, &(struct store_fault){ .effect = FAULT_DEATH, .number = number });
    (void)!rebuild(&site->page, &request, result, &swapped, &site->rig.err);
    died = fault_store_disarm(sink);
    store_close(sink);
    return died;
}

TEST(a_rebuild_that_dies_anywhere_is_continued_or_started_again)
{
    struct rebuild_result result;
    struct site site;
    bool swapped, died = true;
    int64_t step;
    char old[64] = "0|~|~|0|~|0\n";
    int64_t deaths = 0;

    begin(&site);
    step = strncmp(site.rig.dsn, "postgres", 8) == 0 ? 2 : 1;
    for (int64_t number = 1; died; number += step) {
        char body[64], new[64];
        const int64_t version = site.next;
        struct str shown;

        (void)snprintf(body, sizeof(body), "{\"n\":%d,\"kids\":[%d]}", (int)version, (int)version);
        (void)snprintf(new, sizeof(new), "200|%d|%d|200|%d|0\n", (int)(200 * version),
                       (int)(200 * version), (int)(200 * version));
        publish(&site, "Set", body);
        died = die_at(&site, number, &result);
        deaths += died;
        shown = sink_rig_rows(&site.rig, SHOWN);
        CHECK(str_eq(shown, str_of(old)) || str_eq(shown, str_of(new)),
              "what readers see is whole");
        REQUIRE_OK(run(&site, NULL, &result, &swapped), site.rig.err);
        CHECK(swapped, "the next one comes to its end");
        CHECK_STR(sink_rig_rows(&site.rig, SHOWN), str_of(new), "with everything");
        memcpy(old, new, sizeof(old));
    }
    test_note("deaths: %" PRId64, deaths);
    CHECK(deaths > 5, "it has died");
    end(&site);
}

/* ---- readers ---- */

struct reader {
    pthread_t thread;
    const char *dsn;
    atomic_bool is_over;
    int64_t looks;
    int64_t wrong;
};

/* Every event has the same n in all rows and kids: any other sum is a mixture. */
static void *look(void *context)
{
    struct reader *reader = context;

    while (!atomic_load(&reader->is_over)) {
        const int64_t right = sql_number(
            reader->dsn,
            "SELECT CASE WHEN (SELECT count(*) FROM things) = 200"
            " AND (SELECT count(*) FROM kids) = 200 AND (SELECT count(DISTINCT n) FROM things) = 1"
            " AND (SELECT min(n) FROM things) = (SELECT max(v) FROM kids) THEN 1 ELSE 0 END");

        reader->looks++;
        reader->wrong += right != 1;
    }
    return NULL;
}

TEST(readers_see_the_old_rows_or_the_new_ones_and_nothing_between)
{
    struct reader reader = { 0 };
    struct rebuild_result result;
    struct site site;
    bool swapped;
    char body[64];

    begin(&site);
    publish(&site, "Set", "{\"n\":1,\"kids\":[1]}");
    REQUIRE_OK(run(&site, NULL, &result, &swapped), site.rig.err);
    reader.dsn = site.rig.dsn;
    REQUIRE(pthread_create(&reader.thread, NULL, look, &reader) == 0, "a reader");
    for (int i = 2; i < 12; i++) {
        (void)snprintf(body, sizeof(body), "{\"n\":%d,\"kids\":[%d]}", i, i);
        publish(&site, "Set", body);
        REQUIRE_OK(run(&site, NULL, &result, &swapped), site.rig.err);
    }
    atomic_store(&reader.is_over, true);
    (void)pthread_join(reader.thread, NULL);
    test_note("looks of the reader: %" PRId64, reader.looks);
    CHECK(reader.looks > 10, "it has looked");
    CHECK_EQ(reader.wrong, 0, "never a mixture");
    CHECK_EQ(sql_number(site.rig.dsn, "SELECT max(n) FROM things"), 11, "the last one");
    end(&site);
}
