/* The quarantine: an item is added once, listed, counted, and resolved once with who, when and why.
 */
#include "contract.h"
#include "port/store_quarantine.h"
#include "rows.h"

static const struct quarantined BAD = { .source = STR_INIT("crossref"),
                                        .endpoint = STR_INIT("works"),
                                        .reason = STR_INIT("id.missing"),
                                        .detail = STR_INIT("$.DOI"),
                                        .lineage = { 1, 2, 3, 4, 5, 6 },
                                        .created_us = NOW_US,
                                        .payload = STR_INIT("\xff\0{") };

static struct quarantined bad_at(int64_t position)
{
    struct quarantined record = BAD;

    record.position = position;
    return record;
}

static int64_t add(struct store *store, const struct quarantined *records, size_t count)
{
    struct error err = { 0 };
    int64_t added;

    REQUIRE_OK(store_quarantine_add(store, records, count, &added, &err), err);
    return added;
}

static struct quarantined_list list_of(struct store *store, struct quarantine_filter filter)
{
    struct quarantined_list list;
    struct error err = { 0 };

    if (filter.limit == 0)
        filter.limit = 100;
    REQUIRE_OK(store_quarantine_list(store, contract_arena(), &filter, &list, &err), err);
    return list;
}

static struct quarantined get(struct store *store, int64_t id)
{
    struct quarantined record = { 0 };
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_quarantine_get(store, contract_arena(), id, &record, &found, &err), err);
    REQUIRE(found, "it is there");
    return record;
}

static bool resolve(struct store *store, int64_t id, enum quarantine_resolution resolution)
{
    const struct quarantine_resolve how = { id, resolution, STR("ada"), STR("a test"), NOW_US + 7 };
    struct error err = { 0 };
    bool resolved;

    REQUIRE_OK(store_quarantine_resolve(store, &how, &resolved, &err), err);
    return resolved;
}

TEST(a_bad_record_is_put_aside_once)
{
    struct store *store = contract_store();
    const struct quarantined records[] = { bad_at(0), bad_at(1), bad_at(2) };
    struct quarantined_list list;
    struct quarantined record;

    CHECK_EQ(add(store, records, 2), 2, "new");
    CHECK_EQ(add(store, records, 3), 1, "one more");
    list = list_of(store, (struct quarantine_filter){ .source = STR("crossref"), .limit = 2 });
    REQUIRE(list.count == 2, "a page");
    CHECK_STR(list.items[0].reason, STR("id.missing"), "reason");
    CHECK_STR(list.items[0].detail, STR("$.DOI"), "detail");
    CHECK_EQ(list.items[1].position, 1, "position");
    CHECK_EQ(list.items[1].lineage.batch_id, 6, "lineage");
    CHECK_EQ(list.items[0].created_us, NOW_US, "when");
    CHECK_EQ(list.items[0].bytes, 3, "how many bytes");
    CHECK_EQ(list.items[0].payload.len, 0, "not which");
    record = get(store, list.items[0].id);
    CHECK_STR(record.payload, STR("\xff\0{"), "every byte");
    CHECK_EQ(record.resolution, QUARANTINE_OPEN, "open");
    CHECK_EQ(record.resolved_us, 0, "nobody did anything");
    list = list_of(store, (struct quarantine_filter){ .after_id = list.items[1].id });
    CHECK_EQ(list.count, 1, "the rest");
    contract_end();
}

TEST(a_bad_record_that_comes_again_is_put_aside_once)
{
    struct store *store = contract_store();
    struct quarantined again = bad_at(0), other;
    int64_t id;

    CHECK_EQ(add(store, &again, 1), 1, "first");
    id = list_of(store, (struct quarantine_filter){ 0 }).items[0].id;
    again.lineage.run_id += 100; /* a later run of the task */
    again.lineage.batch_id = 7;
    again.position = 3;
    CHECK_EQ(add(store, &again, 1), 0, "the same bytes, the same fault");
    other = again;
    other.payload = STR("\xff\0}");
    CHECK_EQ(add(store, &other, 1), 1, "other bytes");
    other = again;
    other.position = 4;
    other.reason = STR("date.missing");
    CHECK_EQ(add(store, &other, 1), 1, "another fault");
    other = again;
    other.position = 5;
    other.provider_id = STR("10.1/x");
    CHECK_EQ(add(store, &other, 1), 1, "another record");
    other = again;
    other.position = 6;
    other.source = STR("pubmed");
    CHECK_EQ(add(store, &other, 1), 1, "another source");
    CHECK(resolve(store, id, QUARANTINE_DROPPED), "somebody says that it is nothing");
    again.lineage.batch_id = 8;
    CHECK_EQ(add(store, &again, 1), 0, "and it stays so");
    CHECK_EQ(list_of(store, (struct quarantine_filter){ 0 }).count, 4, "four are open");
    contract_end();
}

TEST(equal_items_without_an_id_on_two_pages_of_a_plan_are_two)
{
    struct store *store = contract_store();
    struct quarantined page = bad_at(0);

    page.provider_id = STR("");
    CHECK_EQ(add(store, &page, 1), 1, "first");
    page.lineage.batch_id += 100;
    CHECK_EQ(add(store, &page, 1), 1, "on another page of the run");
    page.lineage.batch_id += 100;
    page.lineage.run_id += 100;
    page.lineage.task_id += 100;
    CHECK_EQ(add(store, &page, 1), 1, "on a page of another task");
    page.lineage.batch_id += 100;
    page.lineage.run_id += 100;
    CHECK_EQ(add(store, &page, 1), 0, "again, in a later run of that task");
    page.lineage.batch_id += 100;
    page.lineage.plan_id += 100;
    CHECK_EQ(add(store, &page, 1), 0, "again, in a later plan");
    contract_end();
}

TEST(a_bad_record_that_was_read_after_all_is_put_aside_anew)
{
    struct store *store = contract_store();
    struct quarantined record = bad_at(0);

    CHECK_EQ(add(store, &record, 1), 1, "first");
    CHECK(resolve(store, list_of(store, (struct quarantine_filter){ 0 }).items[0].id,
                  QUARANTINE_RETRIED),
          "read by a source that was mended");
    record.lineage.batch_id = 7;
    CHECK_EQ(add(store, &record, 1), 1, "it is broken again");
    contract_end();
}

TEST(what_is_meant_is_listed)
{
    struct store *store = contract_store();
    struct quarantined records[] = { bad_at(0), bad_at(1), bad_at(2), bad_at(3) };

    records[1].endpoint = STR("details");
    records[2].reason = STR("date.syntax");
    records[3].source = STR("pubmed");
    CHECK_EQ(add(store, records, 4), 4, "all");
    CHECK_EQ(list_of(store, (struct quarantine_filter){ 0 }).count, 4, "of any source");
    CHECK_EQ(list_of(store, (struct quarantine_filter){ .source = STR("crossref") }).count, 3,
             "of one");
    CHECK_EQ(list_of(store, (struct quarantine_filter){ .endpoint = STR("works") }).count, 3,
             "of an endpoint");
    CHECK_EQ(list_of(store, (struct quarantine_filter){ .reason = STR("date.syntax") }).count, 1,
             "of a reason");
    CHECK_EQ(list_of(store, (struct quarantine_filter){ .source = STR("openalex") }).count, 0,
             "of none");
    contract_end();
}

TEST(records_that_came_well_replace_what_is_open_of_them)
{
    struct store *store = contract_store();
    struct quarantined records[] = { bad_at(0), bad_at(1), bad_at(2), bad_at(3), bad_at(4) };
    const struct str ids[] = { STR("a"), STR("b"), STR("") };
    struct quarantine_replace replace = { .source = STR("crossref"),
                                          .endpoint = STR("works"),
                                          .provider_ids = ids,
                                          .count = 3,
                                          .by = STR("executor"),
                                          .note = STR("task 7"),
                                          .now_us = NOW_US + 7 };
    struct error err = { 0 };
    struct quarantined_list list;
    struct quarantined record;
    int64_t resolved = -1;

    records[0].provider_id = records[1].provider_id = records[2].provider_id = STR("a");
    records[2].endpoint = STR("details");
    records[3].provider_id = STR("c");
    CHECK_EQ(add(store, records, 5), 5, "the last without an id");
    list = list_of(store, (struct quarantine_filter){ 0 });
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_quarantine_replace(store, &replace, &resolved, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(resolved, 2, "all of a, of this endpoint");
    record = get(store, list.items[1].id);
    CHECK_EQ(record.resolution, QUARANTINE_REPLACED, "how");
    CHECK_STR(record.resolved_by, STR("executor"), "by whom");
    CHECK_STR(record.note, STR("task 7"), "with what");
    CHECK_EQ(record.resolved_us, NOW_US + 7, "when");
    list = list_of(store, (struct quarantine_filter){ 0 });
    REQUIRE(list.count == 3, "the others are open");
    CHECK_STR(list.items[0].endpoint, STR("details"), "another endpoint's");
    CHECK_STR(list.items[1].provider_id, STR("c"), "another record");
    CHECK_STR(list.items[2].provider_id, STR(""), "none");
    replace.source = STR("arxiv");
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_quarantine_replace(store, &replace, &resolved, &err), err);
    store_rollback(store);
    CHECK_EQ(resolved, 0, "of another source");
    contract_end();
}

TEST(a_record_is_resolved_once_and_leaves_a_trail)
{
    struct store *store = contract_store();
    const struct quarantined records[] = { bad_at(0), bad_at(1), bad_at(2) };
    struct quarantined_list list;
    struct quarantined record;

    CHECK_EQ(add(store, records, 3), 3, "three");
    list = list_of(store, (struct quarantine_filter){ 0 });
    CHECK(resolve(store, list.items[0].id, QUARANTINE_DROPPED), "the first to come");
    CHECK(!resolve(store, list.items[0].id, QUARANTINE_RETRIED), "and no other");
    CHECK(resolve(store, list.items[1].id, QUARANTINE_RETRIED), "another one");
    CHECK(!resolve(store, 4711, QUARANTINE_DROPPED), "nothing of that number");
    CHECK_EQ(list_of(store, (struct quarantine_filter){ 0 }).count, 1, "one is open");
    CHECK_EQ(list_of(store, (struct quarantine_filter){ .with_resolved = true }).count, 3,
             "and all are there");
    record = get(store, list.items[0].id);
    CHECK_EQ(record.resolution, QUARANTINE_DROPPED, "how");
    CHECK_EQ(record.resolved_us, NOW_US + 7, "when");
    CHECK_STR(record.resolved_by, STR("ada"), "by whom");
    CHECK_STR(record.note, STR("a test"), "why");
    CHECK_EQ(get(store, list.items[1].id).resolution, QUARANTINE_RETRIED, "the other way");
    contract_end();
}

TEST(what_is_rolled_back_is_not_resolved)
{
    struct store *store = contract_store();
    const struct quarantined record = bad_at(0);
    struct error err = { 0 };
    int64_t id;

    CHECK_EQ(add(store, &record, 1), 1, "one");
    id = list_of(store, (struct quarantine_filter){ 0 }).items[0].id;
    REQUIRE_OK(store_begin(store, &err), err);
    CHECK(resolve(store, id, QUARANTINE_RETRIED), "in the transaction");
    store_rollback(store);
    CHECK(resolve(store, id, QUARANTINE_RETRIED), "and outside of it again");
    contract_end();
}

TEST(open_ones_are_summed_up_by_source_endpoint_and_reason)
{
    struct store *store = contract_store();
    struct quarantined records[] = { bad_at(0), bad_at(1), bad_at(2), bad_at(3), bad_at(4) };
    struct quarantine_sum_list sums;
    struct error err = { 0 };

    records[0].source = STR("pubmed");
    records[2].created_us = NOW_US - 5;
    records[3].reason = STR("date.syntax");
    CHECK_EQ(add(store, records, 5), 5, "five");
    CHECK(resolve(store, list_of(store, (struct quarantine_filter){ 0 }).items[4].id,
                  QUARANTINE_DROPPED),
          "one is done");
    REQUIRE_OK(store_quarantine_sums(store, contract_arena(), STR(""), &sums, &err), err);
    REQUIRE(sums.count == 3, "three kinds");
    CHECK_STR(sums.items[0].reason, STR("date.syntax"), "in order");
    CHECK_EQ(sums.items[0].count, 1, "one");
    CHECK_STR(sums.items[1].reason, STR("id.missing"), "in order");
    CHECK_EQ(sums.items[1].count, 2, "two");
    CHECK_EQ(sums.items[1].first_us, NOW_US - 5, "the first");
    CHECK_EQ(sums.items[1].last_us, NOW_US, "the last");
    CHECK_STR(sums.items[2].source, STR("pubmed"), "the other source");
    CHECK(!window_is_valid(sums.items[1].window), "without a task there is no window");
    REQUIRE_OK(store_quarantine_sums(store, contract_arena(), STR("pubmed"), &sums, &err), err);
    CHECK_EQ(sums.count, 1, "of one source");
    contract_end();
}
