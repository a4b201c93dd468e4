/* Records: checked, then written by compare-and-set; candidates in pages; events. */
#include <stdio.h>
#include <string.h>

#include "contract.h"
#include "port/store_outbox.h"
#include "port/store_record.h"
#include "port/store_signal.h"
#include "rows.h"

enum { MANY = 250 };

static struct record_context context_at(int64_t now_us)
{
    return (struct record_context){ .source = STR("crossref"),
                                    .endpoint = STR("works"),
                                    .expr_hash = STR(HASH_A),
                                    .lineage = { 1, 2, 3, 4, 5, 6 },
                                    .now_us = now_us };
}

static struct record_write write_of(const char *id, const char *payload)
{
    return (struct record_write){ .version = 1,
                                  .provider_id = str_of(id),
                                  .has_updated = true,
                                  .updated_us = NOW_US - 5,
                                  .provider_version = STR("v7"),
                                  .content_hash = STR(HASH_B),
                                  .payload = str_of(payload) };
}

/* Writes in a transaction of its own; false when not all of them could be written. */
static bool write_all(struct store *store, int64_t now_us, const struct record_write *records,
                      size_t count)
{
    const struct record_context context = context_at(now_us);
    struct error err = { 0 };
    bool written = false;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(rows_write(store, &context, records, count, &written, &err), err);
    if (written)
        REQUIRE_OK(store_commit(store, &err), err);
    else
        store_rollback(store);
    return written;
}

static struct stored_record get(struct store *store, const char *id)
{
    struct stored_record record = { 0 };
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_record_get(store, contract_arena(),
                                &(struct record_key){ STR("crossref"), STR("works"), str_of(id) },
                                &record, &found, &err),
               err);
    CHECK(found, id);
    return record;
}

TEST(a_record_comes_back_with_every_byte)
{
    struct store *store = contract_store();
    char bytes[256 + 70000];
    struct record_write write = write_of("10.1/\xe6\x96\x87", "");
    struct stored_record record;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(i * 31 + i / 256);
    write.payload = (struct str){ bytes, sizeof(bytes) };
    CHECK(write_all(store, NOW_US, &write, 1), "new");
    record = get(store, "10.1/\xe6\x96\x87");
    CHECK(record.id > 0, "id");
    CHECK_STR(record.source, STR("crossref"), "source");
    CHECK_STR(record.endpoint, STR("works"), "endpoint");
    CHECK(record.has_updated, "a date");
    CHECK_EQ(record.updated_us, NOW_US - 5, "date");
    CHECK_STR(record.provider_version, STR("v7"), "the provider's version");
    CHECK_EQ(record.version, 1, "version");
    CHECK(!record.is_deleted, "alive");
    CHECK_STR(record.content_hash, STR(HASH_B), "content hash");
    CHECK_STR(record.expr_hash, STR(HASH_A), "expression");
    CHECK_EQ(record.checked_us, NOW_US, "checked");
    CHECK_EQ(record.created_us, NOW_US, "created");
    CHECK_EQ(record.lineage.batch_id, 6, "lineage");
    CHECK_EQ(record.payload.len, sizeof(bytes), "all bytes");
    CHECK(str_eq(record.payload, write.payload), "every byte");
    contract_end();
}

TEST(records_are_checked_in_the_order_asked)
{
    struct store *store = contract_store();
    const struct record_context context = context_at(NOW_US);
    const struct str ids[] = { STR("c"), STR("missing"), STR("a"), STR("A") };
    struct record_write writes[] = { write_of("a", "1"), write_of("c", "2") };
    struct record_state states[4];
    struct error err = { 0 };

    writes[1].has_updated = false;
    writes[1].is_deleted = true;
    CHECK(write_all(store, NOW_US - 1, writes, 2), "new");
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_record_check(store, contract_arena(), &context, (struct record_ids){ ids, 4 },
                                  states, &err),
               err);
    store_rollback(store);
    CHECK(states[0].id > 0, "c");
    CHECK(!states[0].has_updated, "no date");
    CHECK(states[0].is_deleted, "deleted");
    CHECK_EQ(states[0].version, 1, "version");
    CHECK_STR(states[0].provider_version, STR("v7"), "the provider's version");
    CHECK_STR(states[0].content_hash, STR(HASH_B), "hash");
    CHECK_STR(states[0].expr_hash, STR(HASH_A), "expression");
    CHECK_EQ(states[0].checked_us, NOW_US - 1, "checked");
    CHECK_EQ(states[1].id, 0, "missing");
    CHECK(states[2].id > 0 && states[2].has_updated && !states[2].is_deleted, "a");
    CHECK_EQ(states[2].updated_us, NOW_US - 5, "date");
    CHECK_EQ(states[3].id, 0, "ids differ by case");
    contract_end();
}

/* A record that is there, to be changed to `payload` as that version. */
static struct record_write change_of(struct store *store, const char *id, int64_t version,
                                     const char *payload)
{
    struct record_write write = write_of(id, payload);

    write.id = get(store, id).id;
    write.version = version;
    return write;
}

TEST(a_write_is_a_compare_and_set)
{
    struct store *store = contract_store();
    struct record_write writes[3] = { write_of("a", "1"), write_of("b", "1") };

    CHECK(write_all(store, NOW_US, writes, 2), "new");
    CHECK(!write_all(store, NOW_US, writes, 2), "here already");
    writes[0] = write_of("d", "1");
    writes[1] = change_of(store, "a", 2, "2");
    writes[2] = change_of(store, "b", 3, "9");
    CHECK(!write_all(store, NOW_US + 7, writes, 3), "one is two versions on");
    writes[2].version = 2;
    CHECK(write_all(store, NOW_US + 7, writes, 3), "one version on, and a new one");
    CHECK(!write_all(store, NOW_US + 8, &writes[1], 1), "once");
    CHECK_STR(get(store, "a").payload, STR("2"), "changed");
    CHECK_EQ(get(store, "a").version, 2, "version");
    CHECK_EQ(get(store, "a").checked_us, NOW_US + 7, "checked");
    CHECK_EQ(get(store, "a").created_us, NOW_US, "created");
    CHECK_EQ(get(store, "d").created_us, NOW_US + 7, "new");
    contract_end();
}

/* More than any store writes by one statement. The first 120 are here and are changed, the others
 * are new, and come first: in the middle of what a store may take at once one kind follows the
 * other. */
enum { OLD = 120 };

static void make_many(struct store *store, int set, char ids[MANY][8], struct record_write *writes)
{
    for (int i = 0; i < MANY; i++) {
        const int number = i < MANY - OLD ? i + OLD : i - (MANY - OLD);

        (void)snprintf(ids[i], sizeof(ids[i]), "%d-%03d", set, number);
        writes[i] = number < OLD ? change_of(store, ids[i], 2, ids[i]) : write_of(ids[i], ids[i]);
    }
}

static void add_old(struct store *store, int set)
{
    struct record_write writes[OLD];
    char ids[OLD][8];

    for (int i = 0; i < OLD; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%d-%03d", set, i);
        writes[i] = write_of(ids[i], "old");
    }
    CHECK(write_all(store, NOW_US, writes, OLD), "new");
}

TEST(many_records_are_written_at_once)
{
    struct store *store = contract_store();
    struct record_write writes[MANY];
    struct stored_event_list list;
    struct error err = { 0 };
    char ids[MANY][8];

    add_old(store, 0);
    make_many(store, 0, ids, writes);
    CHECK(write_all(store, NOW_US + 1, writes, MANY), "all");
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(get(store, ids[i]).version, i < MANY - OLD ? 1 : 2, ids[i]);
        CHECK_STR(get(store, ids[i]).payload, str_of(ids[i]), ids[i]);
        REQUIRE_OK(store_outbox_of(store, contract_arena(),
                                   &(struct outbox_query){ get(store, ids[i]).id, 0, 9 }, &list,
                                   &err),
                   err);
        CHECK_EQ(list.count, i < MANY - OLD ? 1 : 2, "an event for each version");
    }
    contract_end();
}

/* Wherever among many it stands: a new one that another worker has added, a changed one that
 * another worker has changed. */
TEST(one_that_another_wrote_first_is_noticed_among_many)
{
    static const int PLACES[] = { 0, 40, MANY - OLD - 1, MANY - OLD, MANY - 1 };
    struct store *store = contract_store();
    struct record_write writes[MANY];
    struct record_write theirs;
    char ids[MANY][8];

    for (int set = 0; set < (int)ARRAY_LEN(PLACES); set++) {
        const int place = PLACES[set];
        const int other = place > MANY - OLD ? MANY - OLD : MANY - 1; /* one that is here too */

        add_old(store, set);
        make_many(store, set, ids, writes);
        theirs = writes[place];
        theirs.payload = STR("theirs");
        CHECK(write_all(store, NOW_US + 1, &theirs, 1), "they were first");
        CHECK(!write_all(store, NOW_US + 2, writes, MANY), "noticed");
        CHECK_STR(get(store, ids[place]).payload, STR("theirs"), "theirs stands");
        CHECK_STR(get(store, ids[other]).payload, STR("old"), "nothing of ours does");
    }
    contract_end();
}

/* Wherever among many it stands, the session can be used after it. */
TEST(one_that_can_not_be_kept_among_many_is_told)
{
    static const int PLACES[] = { 0, 40, MANY - 1 };
    struct store *store = contract_store();
    const struct record_context context = context_at(NOW_US);
    struct record_write writes[MANY];
    char ids[MANY][8];
    bool written;

    for (size_t place = 0; place < ARRAY_LEN(PLACES); place++) {
        struct error err = { 0 };

        for (int i = 0; i < MANY; i++) {
            (void)snprintf(ids[i], sizeof(ids[i]), "1%d", i);
            writes[i] = write_of(ids[i], ids[i]);
        }
        writes[PLACES[place]].provider_version = STR("a\0b");
        REQUIRE_OK(store_begin(store, &err), err);
        CHECK(!rows_write(store, &context, writes, MANY, &written, &err), "refused");
        CHECK_STR(str_of(err.code), STR("store.text"), "why");
        store_rollback(store);
    }
    CHECK(write_all(store, NOW_US, writes, 1), "nothing of it was left");
    contract_end();
}

TEST(a_touched_record_was_looked_at)
{
    struct store *store = contract_store();
    struct record_write writes[2] = { write_of("a", "1"), write_of("b", "1") };
    struct record_context context = context_at(NOW_US + 9);
    struct error err = { 0 };
    int64_t ids[2];

    CHECK(write_all(store, NOW_US, writes, 2), "new");
    ids[0] = get(store, "a").id;
    ids[1] = 999999;
    context.expr_hash = STR(HASH_B);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_record_touch(store, &context, ids, 2, &err), err);
    context.now_us = NOW_US + 1;
    REQUIRE_OK(store_record_touch(store, &context, ids, 1, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(get(store, "a").checked_us, NOW_US + 9, "never back");
    CHECK_STR(get(store, "a").expr_hash, STR(HASH_B), "expression");
    CHECK_EQ(get(store, "a").version, 1, "no new version");
    CHECK_EQ(get(store, "b").checked_us, NOW_US, "the other one is as it was");
    contract_end();
}

TEST(a_confirmed_record_was_observed_again)
{
    struct store *store = contract_store();
    struct record_write writes[2] = { write_of("a", "1"), write_of("b", "1") };
    struct record_context context = context_at(NOW_US + 9);
    struct record_version versions[2] = { { 0, 1 }, { 0, 1 } };
    struct error err = { 0 };
    bool confirmed;

    writes[0].observed_us = writes[1].observed_us = NOW_US - 3;
    CHECK(write_all(store, NOW_US, writes, 2), "new");
    versions[0].id = get(store, "a").id;
    versions[1].id = get(store, "b").id;
    context.observed_us = NOW_US + 5;
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_record_confirm(store, &context, versions, 1, &confirmed, &err), err);
    CHECK(confirmed, "it has that version");
    context.expr_hash = STR(HASH_B);
    context.observed_us = NOW_US + 4;
    REQUIRE_OK(store_record_confirm(store, &context, versions, 2, &confirmed, &err), err);
    CHECK(confirmed, "both");
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(get(store, "a").observed_us, NOW_US + 5, "never back");
    CHECK_EQ(get(store, "b").observed_us, NOW_US + 4, "observed");
    CHECK_EQ(get(store, "b").checked_us, NOW_US + 9, "checked");
    CHECK_STR(get(store, "a").expr_hash, STR(HASH_B), "expression");
    versions[1].version = 2;
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_record_lock(store, versions, 2, &err), err);
    REQUIRE_OK(store_record_confirm(store, &context, versions, 2, &confirmed, &err), err);
    CHECK(!confirmed, "one of them has another version");
    store_rollback(store);
    contract_end();
}

/* Reads all pages, checks their order, and gives the provider's ids in one line. */
static struct str pages(struct store *store, struct candidate_query query)
{
    struct candidate_list list;
    struct error err = { 0 };
    struct buf line;

    buf_init(&line, contract_arena(), 1 << 20);
    query.source = STR("crossref");
    query.endpoint = STR("works");
    query.limit = 3;
    for (;;) {
        REQUIRE_OK(store_candidate_list(store, contract_arena(), &query, &list, &err), err);
        CHECK(list.count <= 3, "a page");
        if (list.count == 0)
            return buf_str(&line);
        for (size_t i = 0; i < list.count; i++) {
            buf_add(&line, list.items[i].provider_id);
            buf_add_char(&line, ' ');
        }
        query.after = &list.items[list.count - 1];
    }
}

/* The week of the last check is what stale records are found by. */
TEST(a_look_in_a_later_week_counts)
{
    const int64_t later_us = NOW_US + 15 * US_PER_DAY;
    struct store *store = contract_store();
    struct record_write writes[] = { write_of("a", "1"), write_of("b", "1"), write_of("c", "1") };
    struct record_context context = context_at(later_us);
    struct record_version seen = { 0, 1 };
    struct error err = { 0 };
    int64_t touched;
    bool confirmed;

    CHECK(write_all(store, NOW_US, writes, 3), "new");
    seen.id = get(store, "a").id;
    touched = get(store, "b").id;
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_record_confirm(store, &context, &seen, 1, &confirmed, &err), err);
    REQUIRE_OK(store_record_touch(store, &context, &touched, 1, &err), err);
    context.now_us = NOW_US + 1;
    REQUIRE_OK(store_record_confirm(store, &context, &seen, 1, &confirmed, &err), err);
    CHECK(confirmed, "by a clock that is behind, too");
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(get(store, "a").checked_us, later_us, "never back");
    CHECK_STR(pages(store, (struct candidate_query){ .reason = CANDIDATE_STALENESS,
                                                     .checked_before_us = later_us }),
              STR("c "), "the one that nobody looked at");
    CHECK_STR(pages(store, (struct candidate_query){ .reason = CANDIDATE_STALENESS,
                                                     .checked_before_us = later_us + 1 }),
              STR("c a b "), "all, the oldest first");
    contract_end();
}

static void write_one(struct store *store, const char *endpoint, const char *expr, bool commits)
{
    struct record_write write = write_of("a", endpoint);
    struct record_context context = context_at(NOW_US);
    struct error err = { 0 };
    bool written;

    context.endpoint = str_of(endpoint);
    context.expr_hash = str_of(expr);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(rows_write(store, &context, &write, 1, &written, &err), err);
    CHECK(written, endpoint);
    if (commits)
        REQUIRE_OK(store_commit(store, &err), err);
    else
        store_rollback(store);
}

/* Rows have numbers for these. One that was drawn in a transaction that is gone is somebody else's
 * now. */
TEST(an_endpoint_and_an_expression_begin_with_the_record_that_is_kept)
{
    static const char *const names[] = { "first", "second" };
    struct store *store = contract_store();
    struct store *other = contract_another(store);
    struct error err = { 0 };

    write_one(store, "first", HASH_A, false);
    write_one(other, "second", HASH_B, true);
    write_one(store, "first", HASH_A, true);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct stored_record record = { 0 };
        bool found;

        REQUIRE_OK(
            store_record_get(other, contract_arena(),
                             &(struct record_key){ STR("crossref"), str_of(names[i]), STR("a") },
                             &record, &found, &err),
            err);
        CHECK(found, names[i]);
        CHECK_STR(record.payload, str_of(names[i]), "its content");
        CHECK_STR(record.expr_hash, i == 0 ? STR(HASH_A) : STR(HASH_B), "its expression");
    }
    contract_end();
}

TEST(ids_that_can_not_be_are_refused)
{
    struct store *store = contract_store();
    const struct record_context context = context_at(NOW_US);
    char long_id[PROVIDER_ID_MAX + 2];
    struct record_write write = write_of("", "1");
    struct error err = { 0 };
    bool written;

    memset(long_id, 'x', sizeof(long_id));
    for (int i = 0; i < 4; i++) {
        write.provider_id = i == 0   ? STR("")
                            : i == 1 ? (struct str){ long_id, PROVIDER_ID_MAX + 1 }
                            : i == 2 ? STR("a\0b")
                                     : (struct str){ long_id, PROVIDER_ID_MAX };
        REQUIRE_OK(store_begin(store, &err), err);
        CHECK_EQ(rows_write(store, &context, &write, 1, &written, &err), i == 3, "refused");
        if (i < 3)
            CHECK_EQ(err.level, i == 2 ? ERROR_DATA : ERROR_REQUEST, err.text);
        store_rollback(store);
    }
    contract_end();
}

TEST(candidates_are_read_in_pages)
{
    struct store *store = contract_store();
    struct record_write write;
    struct record_context context;
    struct error err = { 0 };
    int64_t added;
    bool written;

    for (int i = 0; i < 12; i++) {
        write = write_of("", "x");
        write.provider_id = arena_printf(contract_arena(), "r%02d", i);
        write.is_deleted = i == 5;
        context = context_at(NOW_US + i / 4); /* four at a time have the same instant */
        context.expr_hash = i % 3 == 0 ? STR(HASH_B) : i % 3 == 1 ? STR("c") : STR(HASH_A);
        REQUIRE_OK(store_begin(store, &err), err);
        REQUIRE_OK(rows_write(store, &context, &write, 1, &written, &err), err);
        REQUIRE_OK(store_commit(store, &err), err);
    }
    CHECK_STR(pages(store, (struct candidate_query){ .reason = CANDIDATE_STALENESS,
                                                     .checked_before_us = NOW_US + 2 }),
              STR("r00 r01 r02 r03 r04 r06 r07 "), "not looked at since; not the deleted one");
    CHECK_STR(pages(store, (struct candidate_query){ .reason = CANDIDATE_STALENESS,
                                                     .checked_before_us = NOW_US }),
              STR(""), "none is so old");
    CHECK_STR(pages(store, (struct candidate_query){ .reason = CANDIDATE_EXPR_CHANGE,
                                                     .expr_hash = STR(HASH_A) }),
              STR("r00 r03 r06 r09 r01 r04 r07 r10 "), "by another expression");
    CHECK_STR(pages(store, (struct candidate_query){ .reason = CANDIDATE_EXPR_CHANGE,
                                                     .expr_hash = STR(HASH_B) }),
              STR("r01 r04 r07 r10 r02 r08 r11 "), "by another expression");
    for (int i = 0; i < 5; i++) {
        const struct signal signal = { .source = STR("crossref"),
                                       .endpoint = i == 2 ? STR("other") : STR("works"),
                                       .provider_id = arena_printf(contract_arena(), "s%d", i),
                                       .created_us = NOW_US };

        REQUIRE_OK(store_signal_add(store, &signal, 1, &added, &err), err);
    }
    CHECK_STR(pages(store, (struct candidate_query){ .reason = CANDIDATE_SIGNAL }),
              STR("s0 s1 s3 s4 "), "signals of the endpoint");
    contract_end();
}

/* Checked so many days ago; in no order, and some weeks with more of them than a page has. */
TEST(all_that_is_stale_is_found_once_over_weeks)
{
    static const int DAYS_AGO[] = { 9, 40, 12, 5, 6, 11, 4, 10, 30, 0, 13, 12, 5, 8, 33 };
    struct store *store = contract_store();
    struct str line;

    for (size_t i = 0; i < ARRAY_LEN(DAYS_AGO); i++) {
        struct record_write write = write_of("", "x");

        write.provider_id = arena_printf(contract_arena(), "<%zu>", i);
        CHECK(write_all(store, NOW_US - DAYS_AGO[i] * US_PER_DAY, &write, 1), "new");
    }
    line = pages(store, (struct candidate_query){ .reason = CANDIDATE_STALENESS,
                                                  .checked_before_us = NOW_US - 5 * US_PER_DAY });
    for (size_t i = 0; i < ARRAY_LEN(DAYS_AGO); i++) {
        const struct str name = arena_printf(contract_arena(), "<%zu>", i);
        const size_t at = str_find(line, name);
        const struct str rest = at < line.len ? str_slice(line, at + 1, line.len) : STR("");

        CHECK_EQ(at<line.len, DAYS_AGO[i]> 5, "is stale");
        CHECK_EQ(str_find(rest, name), rest.len, "once");
    }
    CHECK(str_find(line, STR("<1>")) < str_find(line, STR("<0>")), "the oldest weeks first");
    contract_end();
}

static bool write_change(struct store *store, struct record_change *change, struct error *err)
{
    const struct record_context context = context_at(NOW_US);
    bool written = false;

    return store_record_write(store, &context, change, 1, &written, err) && written;
}

TEST(an_event_comes_back_with_every_byte)
{
    const struct record_context context = context_at(NOW_US);
    struct store *store = contract_store();
    struct record_change change = { .record = write_of("10.1/x", "1") };
    struct stored_event_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    for (int64_t version = 1; version <= 3; version++) {
        change.record.version = version;
        change.event = rows_event(&context, &change.record);
        change.event.lane = 3;
        change.event.occurred_us = NOW_US + version;
        change.event.body = STR("{\0}");
        REQUIRE_OK(write_change(store, &change, &err), err);
        change.record.id = get(store, "10.1/x").id;
    }
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_outbox_of(store, contract_arena(),
                               &(struct outbox_query){ get(store, "10.1/x").id, 1, 10 }, &list,
                               &err),
               err);
    REQUIRE(list.count == 2, "above version 1");
    CHECK_EQ(list.items[0].event.version, 2, "by version");
    CHECK_EQ(list.items[1].event.version, 3, "by version");
    CHECK_STR(list.items[1].event.event_id, change.event.event_id, "id");
    CHECK_STR(list.items[0].event.event_type, STR("RecordUpdated"), "type");
    CHECK_EQ(list.items[0].event.lane, 3, "lane");
    CHECK_EQ(list.items[0].event.occurred_us, NOW_US + 2, "when");
    CHECK_STR(list.items[0].event.body, STR("{\0}"), "every byte");
    CHECK_STR(list.items[0].source, STR("crossref"), "whose");
    CHECK_STR(list.items[0].provider_id, STR("10.1/x"), "whose");
    CHECK_EQ(list.items[0].event.batch_id, 6, "of which batch");
    contract_end();
}

/* A version that another event has taken: no race, but rows that contradict each other. */
TEST(there_is_one_event_per_version)
{
    const struct record_context context = context_at(NOW_US);
    struct store *store = contract_store();
    struct record_change first = { .record = write_of("a", "1") };
    struct record_change second = { 0 };
    struct error err = { 0 };

    first.event = rows_event(&context, &first.record);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(write_change(store, &first, &err), err);
    second.record = change_of(store, "a", 2, "2");
    second.event = rows_event(&context, &first.record); /* of version 1 */
    CHECK(!write_change(store, &second, &err), "the version has its event");
    CHECK_EQ(err.level, ERROR_REQUEST, "a broken key");
    CHECK(str_find(str_of(err.text), STR("uk_outbox_version")) < strlen(err.text), err.text);
    store_rollback(store);
    contract_end();
}

/* One in the middle is refused after others were sent: the session can be used after it. */
TEST(changes_that_fail_half_way_leave_nothing)
{
    const struct record_context context = context_at(NOW_US);
    struct store *store = contract_store();
    struct record_write writes[MANY];
    struct error err = { 0 };
    bool written;

    for (int i = 0; i < MANY; i++) {
        writes[i] = write_of("", "1");
        writes[i].provider_id = arena_printf(contract_arena(), "%03d", i);
    }
    writes[MANY / 2].provider_version = STR("\xff");
    REQUIRE_OK(store_begin(store, &err), err);
    CHECK(!rows_write(store, &context, writes, MANY, &written, &err), "refused");
    CHECK_STR(str_of(err.code), STR("store.text"), err.text);
    store_rollback(store);
    writes[MANY / 2].provider_version = STR("");
    CHECK(write_all(store, NOW_US, writes, MANY), "nothing of it was left");
    contract_end();
}
