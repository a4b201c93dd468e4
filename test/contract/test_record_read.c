/* Records as people and exports read them: order, pages, filters, changes, counts. */
#include <stdio.h>
#include <string.h>

#include "contract.h"
#include "port/store_prune.h"
#include "port/store_record_read.h"
#include "port/store_stream.h"
#include "rows.h"

struct put {
    const char *endpoint;
    const char *id;
    int64_t version;
    bool is_deleted;
    int64_t at_us;
};

static struct stored_record stored(struct store *store, const char *endpoint, const char *id)
{
    const struct record_key key = { STR("crossref"), str_of(endpoint), str_of(id) };
    struct stored_record record = { 0 };
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_record_get(store, contract_arena(), &key, &record, &found, &err), err);
    return found ? record : (struct stored_record){ 0 };
}

/* Writes one version and its event, named as the engine names them. */
static void put(struct store *store, const struct put *put)
{
    const struct record_context context = { .source = STR("crossref"),
                                            .endpoint = str_of(put->endpoint),
                                            .expr_hash = STR(HASH_A),
                                            .observed_us = put->at_us,
                                            .now_us = put->at_us };
    const struct stored_record before = stored(store, put->endpoint, put->id);
    struct record_change change = { .record = { .id = before.id,
                                                .was_deleted = before.is_deleted,
                                                .version = put->version,
                                                .provider_id = str_of(put->id),
                                                .is_deleted = put->is_deleted,
                                                .observed_us = put->at_us,
                                                .content_hash = STR(HASH_B),
                                                .payload = str_of(put->id) } };
    struct error err = { 0 };
    bool written;

    change.event = rows_event(&context, &change.record);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_record_write(store, &context, &change, 1, &written, &err), err);
    REQUIRE(written, "written");
    REQUIRE_OK(store_commit(store, &err), err);
}

/* works: d c b(deleted) a, journals: x; a has two versions, c was deleted and came back. */
static struct store *filled(void)
{
    struct store *store = contract_store();

    put(store, &(struct put){ "works", "d", 1, false, NOW_US + 1 });
    put(store, &(struct put){ "works", "c", 1, false, NOW_US + 2 });
    put(store, &(struct put){ "works", "b", 1, false, NOW_US + 3 });
    put(store, &(struct put){ "journals", "x", 1, false, NOW_US + 4 });
    put(store, &(struct put){ "works", "a", 1, false, NOW_US + 5 });
    put(store, &(struct put){ "works", "c", 2, true, NOW_US + 6 });
    put(store, &(struct put){ "works", "b", 2, true, NOW_US + 7 });
    put(store, &(struct put){ "works", "a", 2, false, NOW_US + 8 });
    put(store, &(struct put){ "works", "c", 3, false, NOW_US + 9 });
    return store;
}

/* The ids of a whole walk, page by page: "x d c a". */
static const char *walked(struct store *store, struct record_walk walk)
{
    static char ids[256];
    struct record_entry_list list;
    struct error err = { 0 };
    size_t len = 0;

    walk.source = STR("crossref");
    ids[0] = '\0';
    do {
        REQUIRE_OK(store_record_walk(store, contract_arena(), &walk, &list, &err), err);
        for (size_t i = 0; i < list.count; i++)
            len += (size_t)snprintf(ids + len, sizeof(ids) - len, "%s%.*s", len > 0 ? " " : "",
                                    STR_ARG(list.items[i].provider_id));
        if (list.count > 0)
            walk.after = (struct record_place){ list.items[list.count - 1].endpoint,
                                                list.items[list.count - 1].id };
    } while (!list.is_end);
    return ids;
}

#define CHECK_WALK(store, wanted, label, ...) \
    CHECK_STR(str_of(walked(store, (struct record_walk){ __VA_ARGS__ })), STR(wanted), label)

TEST(a_walk_has_the_order_of_endpoint_and_arrival)
{
    struct store *store = filled();

    CHECK_WALK(store, "x d c a", "in one page", .limit = 10);
    CHECK_WALK(store, "x d c a", "a record a page", .limit = 1);
    CHECK_WALK(store, "x d c a", "two a page", .limit = 2);
    CHECK_WALK(store, "x d c a", "pages end by bytes", .limit = 10, .bytes_max = 1,
               .with_payload = true);
    CHECK_WALK(store, "d c a", "one endpoint", .limit = 2, .endpoint = STR("works"));
    CHECK_WALK(store, "", "no such endpoint", .limit = 2, .endpoint = STR("work"));
    contract_end();
}

TEST(a_walk_keeps_to_its_filters)
{
    struct store *store = filled();

    CHECK_WALK(store, "b", "the deleted", .limit = 1, .states = RECORDS_DELETED);
    CHECK_WALK(store, "x d c b a", "all, in the same order", .limit = 1, .states = RECORDS_ALL);
    CHECK_WALK(store, "c a", "by version", .limit = 3, .version_from = 2);
    CHECK_WALK(store, "x d a", "to a version", .limit = 3, .version_to = 2);
    CHECK_WALK(store, "c a", "changed since", .limit = 3, .by_change = true,
               .changed_from_us = NOW_US + 5, .changed_to_us = NOW_US + 100);
    CHECK_WALK(store, "x b", "changed between", .limit = 3, .by_change = true,
               .states = RECORDS_ALL, .changed_from_us = NOW_US + 4, .changed_to_us = NOW_US + 8);
    contract_end();
}

TEST(an_entry_has_what_was_asked_for)
{
    struct store *store = filled();
    struct record_walk walk = {
        .source = STR("crossref"), .endpoint = STR("works"), .version_from = 2, .limit = 10
    };
    struct record_entry_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_record_walk(store, contract_arena(), &walk, &list, &err), err);
    REQUIRE(list.count == 2, "c and a");
    CHECK(list.is_end, "nothing after");
    CHECK_EQ(list.items[0].version, 3, "version");
    CHECK(!list.items[0].has_updated, "the source has no date");
    CHECK_EQ(list.items[0].bytes, 1, "bytes");
    CHECK_EQ(list.items[0].payload.len, 0, "no payload");
    CHECK_EQ(list.items[0].changed_us, 0, "no change");
    CHECK_EQ(list.items[0].created_us, NOW_US + 2, "when it came");
    walk.with_payload = walk.with_changed = true;
    REQUIRE_OK(store_record_walk(store, contract_arena(), &walk, &list, &err), err);
    CHECK_STR(list.items[0].payload, STR("c"), "payload");
    CHECK_EQ(list.items[0].changed_us, NOW_US + 9, "when version 3 was stored");
    contract_end();
}

/* "endpoint/id@version=payload " of each record that was given. */
struct given {
    struct record_taker taker; /* first */
    char text[512];
    size_t len;
    int fail_at; /* the how-manieth; 0: none */
    int count;
};

static bool take(struct record_taker *taker, const struct record_entry *entry, struct error *err)
{
    struct given *given = (struct given *)taker;

    if (++given->count == given->fail_at)
        return error_set(err, ERROR_REQUEST, "test.taker", "no more");
    CHECK_EQ(entry->bytes, (int64_t)entry->payload.len, "as many bytes as there are");
    CHECK_EQ(entry->created_us > 0, true, "when it came");
    given->len += (size_t)snprintf(given->text + given->len, sizeof(given->text) - given->len,
                                   "%.*s/%.*s@%d=%.*s%s ", STR_ARG(entry->endpoint),
                                   STR_ARG(entry->provider_id), (int)entry->version,
                                   STR_ARG(entry->payload), entry->is_deleted ? "!" : "");
    return true;
}

TEST(a_taker_is_given_each_record_with_its_payload)
{
    const struct str live = STR("journals/x@1=x works/d@1=d works/c@3=c works/a@2=a ");
    struct store *store = filled();
    struct error err = { 0 };

    REQUIRE_OK(store_record_read_once(store, &err), err);
    for (int64_t limit = 1; limit < 6; limit++) {
        struct given plain = { .taker = { take } }, dated = { .taker = { take } };
        struct given all = { .taker = { take } };

        CHECK_WALK(store, "x d c a", "the list goes on", .limit = limit, .with_payload = true,
                   .taker = &plain.taker);
        CHECK_STR(str_of(plain.text), live, "plain");
        CHECK_WALK(store, "x d c a", "the list goes on", .limit = limit, .with_payload = true,
                   .with_changed = true, .taker = &dated.taker);
        CHECK_STR(str_of(dated.text), live, "with more columns");
        CHECK_WALK(store, "x d c b a", "the list goes on", .limit = limit, .with_payload = true,
                   .states = RECORDS_ALL, .taker = &all.taker);
        CHECK_STR(str_of(all.text),
                  STR("journals/x@1=x works/d@1=d works/c@3=c works/b@2=b! works/a@2=a "),
                  "deleted ones, too");
    }
    contract_end();
}

TEST(a_taker_that_fails_ends_the_walk_and_leaves_the_store_usable)
{
    struct store *store = filled();
    struct given given = { .taker = { take }, .fail_at = 2 };
    const struct record_walk walk = {
        .source = STR("crossref"), .limit = 10, .with_payload = true, .taker = &given.taker
    };
    struct record_entry_list list;
    struct error err = { 0 };

    CHECK(!store_record_walk(store, contract_arena(), &walk, &list, &err), "it failed");
    CHECK_STR(str_of(err.code), STR("test.taker"), err.text);
    CHECK_EQ(given.count, 2, "and was asked no more");
    CHECK_WALK(store, "x d c a", "the next walk", .limit = 10);
    contract_end();
}

TEST(endpoints_that_have_an_id_are_found)
{
    struct store *store = filled();
    struct record_entry_list list;
    struct error err = { 0 };

    put(store, &(struct put){ "journals", "a", 1, false, NOW_US });
    REQUIRE_OK(
        store_record_endpoints(store, contract_arena(), STR("crossref"), STR("a"), &list, &err),
        err);
    REQUIRE(list.count == 2, "two");
    CHECK_STR(list.items[0].endpoint, STR("journals"), "by name");
    REQUIRE_OK(
        store_record_endpoints(store, contract_arena(), STR("pubmed"), STR("a"), &list, &err), err);
    CHECK_EQ(list.count, 0, "of another source");
    contract_end();
}

TEST(changes_come_in_the_order_of_events_and_give_the_present_record)
{
    struct store *store = filled();
    const struct record_change_walk walk = { .source = STR("crossref"),
                                             .upto = INT64_MAX,
                                             .limit = 100 };
    struct record_changed_list list;
    struct record_entry entries[16];
    struct error err = { 0 };
    char live[64] = "";

    REQUIRE_OK(store_record_changes(store, contract_arena(), &walk, &list, &err), err);
    REQUIRE(list.count == 9, "an event each");
    REQUIRE_OK(store_record_as_of(store, contract_arena(), STR("crossref"), &list, entries, &err),
               err);
    for (size_t i = 0; i < list.count; i++) {
        CHECK(i == 0 || list.items[i].event > list.items[i - 1].event, "in order");
        if (entries[i].id == 0)
            continue;
        strncat(live, entries[i].provider_id.data, 1);
        CHECK_STR(entries[i].provider_id, list.items[i].provider_id, "the record of the event");
        CHECK_EQ(entries[i].changed_us, list.items[i].changed_us, "when");
        CHECK_STR(entries[i].payload, list.items[i].provider_id, "its payload");
    }
    CHECK_STR(str_of(live), STR("dxbac"), "each record once, at its last event");
    contract_end();
}

TEST(changes_keep_to_their_bounds)
{
    struct store *store = filled();
    struct record_change_walk walk = {
        .source = STR("crossref"), .endpoint = STR("journals"), .upto = INT64_MAX, .limit = 100
    };
    struct record_changed_list list, some;
    struct error err = { 0 };

    REQUIRE_OK(store_record_changes(store, contract_arena(), &walk, &list, &err), err);
    REQUIRE(list.count == 1, "one endpoint");
    CHECK_STR(list.items[0].endpoint, STR("journals"), "its name");
    walk.endpoint = STR("");
    walk.after = list.items[0].event;
    walk.upto = list.items[0].event + 2;
    REQUIRE_OK(store_record_changes(store, contract_arena(), &walk, &some, &err), err);
    CHECK_EQ(some.count, 2, "after, and up to");
    walk.source = STR("cross");
    REQUIRE_OK(store_record_changes(store, contract_arena(), &walk, &some, &err), err);
    CHECK_EQ(some.count, 0, "the beginning of another source's name");
    contract_end();
}

TEST(records_are_counted)
{
    struct store *store = filled();
    struct record_count_list list;
    struct error err = { 0 };
    int64_t count = 0;

    REQUIRE_OK(store_record_counts(store, contract_arena(), STR(""), &list, &err), err);
    REQUIRE(list.count == 2, "two endpoints");
    CHECK_STR(list.items[0].endpoint, STR("journals"), "by name");
    CHECK_EQ(list.items[1].live, 3, "live");
    CHECK_EQ(list.items[1].deleted, 1, "deleted");
    REQUIRE_OK(store_record_counts(store, contract_arena(), STR("pubmed"), &list, &err), err);
    CHECK_EQ(list.count, 0, "another source");
    REQUIRE_OK(store_record_count_live(store, STR("crossref"), &count, &err), err);
    CHECK_EQ(count, 4, "of a source");
    contract_end();
}

/* As retention does it. */
static int64_t fold(struct store *store)
{
    int64_t removed, all = 0;
    struct error err = { 0 };

    do {
        REQUIRE_OK(store_prune_tidy(store, 0, 500, &removed, &err), err);
        all += removed;
    } while (removed > 0);
    return all;
}

TEST(counts_are_the_same_when_what_is_kept_of_them_is_added_up)
{
    enum { FEW = 20, MANY = 2200 };
    struct store *store = filled();
    struct record_count_list list;
    struct error err = { 0 };
    uint64_t before;
    char id[16];

    for (int i = 0; i < FEW; i++) {
        (void)snprintf(id, sizeof(id), "w%d", i);
        put(store, &(struct put){ "works", id, 1, i % 3 == 0, NOW_US + 10 + i });
    }
    before = contract_digest();
    CHECK_EQ(fold(store), 0, "few rows stay as they are");
    CHECK(contract_digest() == before, "nothing is written");
    for (int i = 0; i < MANY; i++)
        put(store, &(struct put){ "works", "z", i + 1, i % 2 == 1, NOW_US + 100 + i });
    CHECK_EQ(fold(store), 499, "five hundred become one: few enough");
    CHECK_EQ(fold(store), 0, "once");
    put(store, &(struct put){ "works", "z", MANY + 1, false, NOW_US + 100 + MANY });
    REQUIRE_OK(store_record_counts(store, contract_arena(), STR("crossref"), &list, &err), err);
    REQUIRE(list.count == 2, "two endpoints");
    CHECK_EQ(list.items[0].live, 1, "of another endpoint");
    CHECK_EQ(list.items[1].live, 3 + 13 + 1, "live");
    CHECK_EQ(list.items[1].deleted, 1 + 7, "deleted");
    contract_end();
}

TEST(a_mark_is_at_the_last_event)
{
    struct store *store = contract_store();
    struct record_changed_list list;
    struct stream_mark mark;
    struct error err = { 0 };

    REQUIRE_OK(store_stream_writers(store, contract_arena(), &mark, &err), err);
    CHECK_EQ(mark.writers.count, 0, "nobody writes");
    put(store, &(struct put){ "works", "d", 1, false, NOW_US });
    REQUIRE_OK(store_record_changes(store, contract_arena(),
                                    &(struct record_change_walk){
                                        .source = STR("crossref"), .upto = INT64_MAX, .limit = 2 },
                                    &list, &err),
               err);
    REQUIRE_OK(store_stream_writers(store, contract_arena(), &mark, &err), err);
    CHECK_EQ(mark.last_id, list.items[0].event, "the only event");
    contract_end();
}

TEST(a_store_has_an_identity_that_lasts)
{
    struct store *store = contract_store();
    struct store *again = contract_another(store);
    struct str one, same;
    struct error err = { 0 };

    REQUIRE_OK(store_identity(store, contract_arena(), &one, &err), err);
    REQUIRE_OK(store_identity(again, contract_arena(), &same, &err), err);
    CHECK_EQ(one.len, 32, "its form");
    CHECK_STR(same, one, "in every session");
    contract_end();
}
