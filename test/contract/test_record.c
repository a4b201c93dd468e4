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

/* Writes in a transaction of its own. */
static void write_all(struct store *store, int64_t now_us, const struct record_write *records,
                      size_t count, bool *written)
{
    const struct record_context context = context_at(now_us);
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_record_write(store, &context, records, count, written, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
}

static struct stored_record get(struct store *store, const char *id)
{
    struct stored_record record = { 0 };
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_record_get(store, contract_arena(), STR("crossref"), STR("works"), str_of(id),
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
    bool written = false;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(i * 31 + i / 256);
    write.payload = (struct str){ bytes, sizeof(bytes) };
    write_all(store, NOW_US, &write, 1, &written);
    CHECK(written, "new");
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
    bool written[2];

    writes[1].has_updated = false;
    writes[1].is_deleted = true;
    write_all(store, NOW_US - 1, writes, 2, written);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_record_check(store, contract_arena(), &context, ids, 4, states, &err), err);
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
    CHECK_EQ(states[3].id, 0, "ids are told apart by case");
    contract_end();
}

TEST(a_write_is_a_compare_and_set)
{
    struct store *store = contract_store();
    struct record_write writes[3] = { write_of("a", "1"), write_of("b", "1") };
    bool written[3] = { false };
    int64_t id;

    write_all(store, NOW_US, writes, 2, written);
    CHECK(written[0] && written[1], "new");
    writes[1] = write_of("c", "1");
    write_all(store, NOW_US, writes, 2, written);
    CHECK(!written[0], "here already");
    CHECK(written[1], "new");
    id = get(store, "a").id;
    writes[0] = write_of("a", "2");
    writes[0].id = id;
    writes[0].version = 2;
    writes[1] = write_of("d", "1");
    writes[2] = write_of("b", "9");
    writes[2].id = get(store, "b").id;
    writes[2].version = 3;
    write_all(store, NOW_US + 7, writes, 3, written);
    CHECK(written[0], "one version on");
    CHECK(written[1], "new, in between");
    CHECK(!written[2], "two versions on");
    write_all(store, NOW_US + 8, writes, 1, written);
    CHECK(!written[0], "once");
    CHECK_STR(get(store, "a").payload, STR("2"), "changed");
    CHECK_EQ(get(store, "a").version, 2, "version");
    CHECK_EQ(get(store, "a").checked_us, NOW_US + 7, "checked");
    CHECK_EQ(get(store, "a").created_us, NOW_US, "created");
    CHECK_STR(get(store, "b").payload, STR("1"), "unchanged");
    contract_end();
}

/* More than any store writes by one statement: ids "00" to "0249", by turns new, here already, and
 * changed with the right and with a wrong version. */
TEST(many_records_are_told_apart)
{
    struct store *store = contract_store();
    struct record_write writes[MANY];
    bool written[MANY];
    char ids[MANY][8];

    for (int i = 0; i < MANY; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "0%d", i);
        writes[i] = write_of(ids[i], ids[i]);
        if (i % 4 != 0)
            write_all(store, NOW_US, &writes[i], 1, &written[i]);
        if (i % 4 < 2)
            continue;
        writes[i].id = get(store, ids[i]).id;
        writes[i].version = i % 4 == 2 ? 2 : 3;
    }
    write_all(store, NOW_US + 1, writes, MANY, written);
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(written[i], i % 4 == 0 || i % 4 == 2, ids[i]);
        CHECK_EQ(get(store, ids[i]).version, i % 4 == 2 ? 2 : 1, ids[i]);
        CHECK_STR(get(store, ids[i]).payload, str_of(ids[i]), ids[i]);
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
    bool written[MANY];
    char ids[MANY][8];

    for (size_t place = 0; place < ARRAY_LEN(PLACES); place++) {
        struct error err = { 0 };

        for (int i = 0; i < MANY; i++) {
            (void)snprintf(ids[i], sizeof(ids[i]), "1%d", i);
            writes[i] = write_of(ids[i], ids[i]);
        }
        writes[PLACES[place]].provider_version = STR("a\0b");
        REQUIRE_OK(store_begin(store, &err), err);
        CHECK(!store_record_write(store, &context, writes, MANY, written, &err), "refused");
        CHECK_STR(str_of(err.code), STR("store.text"), "why");
        store_rollback(store);
    }
    write_all(store, NOW_US, writes, 1, written);
    CHECK(written[0], "nothing of it was left");
    contract_end();
}

TEST(a_touched_record_was_looked_at)
{
    struct store *store = contract_store();
    struct record_write writes[2] = { write_of("a", "1"), write_of("b", "1") };
    struct record_context context = context_at(NOW_US + 9);
    struct error err = { 0 };
    int64_t ids[2];
    bool written[2];

    write_all(store, NOW_US, writes, 2, written);
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
        CHECK_EQ(store_record_write(store, &context, &write, 1, &written, &err), i == 3, "refused");
        if (i < 3)
            CHECK_EQ(err.level, i == 2 ? ERROR_DATA : ERROR_REQUEST, err.text);
        store_rollback(store);
    }
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
        REQUIRE_OK(store_record_write(store, &context, &write, 1, &written, &err), err);
        REQUIRE_OK(store_commit(store, &err), err);
    }
    CHECK_STR(pages(store, (struct candidate_query){ .why = CANDIDATE_STALENESS,
                                                     .checked_before_us = NOW_US + 2 }),
              STR("r00 r01 r02 r03 r04 r06 r07 "), "not looked at since; not the deleted one");
    CHECK_STR(pages(store, (struct candidate_query){ .why = CANDIDATE_STALENESS,
                                                     .checked_before_us = NOW_US }),
              STR(""), "none is so old");
    CHECK_STR(pages(store, (struct candidate_query){ .why = CANDIDATE_EXPR_CHANGE,
                                                     .expr_hash = STR(HASH_A) }),
              STR("r00 r03 r06 r09 r01 r04 r07 r10 "), "by another expression");
    CHECK_STR(pages(store, (struct candidate_query){ .why = CANDIDATE_EXPR_CHANGE,
                                                     .expr_hash = STR(HASH_B) }),
              STR("r02 r08 r11 r01 r04 r07 r10 "), "by another expression");
    for (int i = 0; i < 5; i++) {
        const struct signal signal = { .source = STR("crossref"),
                                       .endpoint = i == 2 ? STR("other") : STR("works"),
                                       .provider_id = arena_printf(contract_arena(), "s%d", i),
                                       .created_us = NOW_US };

        REQUIRE_OK(store_signal_add(store, &signal, 1, &added, &err), err);
    }
    CHECK_STR(pages(store, (struct candidate_query){ .why = CANDIDATE_SIGNAL }),
              STR("s0 s1 s3 s4 "), "signals of the endpoint");
    contract_end();
}

static struct outbox_event event_of(int64_t version)
{
    return (struct outbox_event){
        .event_id = arena_printf(contract_arena(), "0190a000-0000-7000-8000-%012" PRId64, version),
        .aggregate_type = STR("crossref/works"),
        .aggregate_id = STR("10.1/x"),
        .event_type = STR("RecordUpdated"),
        .version = version,
        .schema_version = 1,
        .lane = 3,
        .occurred_us = NOW_US + version,
        .payload = STR("{\0}"),
    };
}

TEST(there_is_one_event_per_version)
{
    struct store *store = contract_store();
    struct outbox_event events[3] = { event_of(1), event_of(2), event_of(3) };
    struct outbox_event_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_outbox_add(store, events, 3, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_outbox_of(store, contract_arena(), STR("crossref/works"), STR("10.1/x"), 1, 10,
                               &list, &err),
               err);
    REQUIRE(list.count == 2, "above version 1");
    CHECK_EQ(list.items[0].version, 2, "by version");
    CHECK_STR(list.items[0].event_id, events[1].event_id, "id");
    CHECK_STR(list.items[0].event_type, STR("RecordUpdated"), "type");
    CHECK_EQ(list.items[0].lane, 3, "lane");
    CHECK_EQ(list.items[0].occurred_us, NOW_US + 2, "when");
    CHECK_STR(list.items[0].payload, STR("{\0}"), "every byte");
    events[0] = event_of(4);
    events[0].version = 2;
    REQUIRE_OK(store_begin(store, &err), err);
    CHECK(!store_outbox_add(store, events, 1, &err), "the version has its event");
    CHECK_EQ(err.level, ERROR_REQUEST, "a broken key");
    CHECK(str_find(str_of(err.text), STR("uk_outbox_version")) < strlen(err.text), err.text);
    store_rollback(store);
    contract_end();
}
