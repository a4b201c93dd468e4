/* A retry whose commit is refused is tried again; only what was committed is reported. */
#include "engine/execute/quarantine_retry.h"
#include "fault_store.h"
#include "planning.h"
#include "port/store_record.h"
#include "seeded_random.h"

TEST(a_retry_whose_commit_meets_a_conflict_is_done_again)
{
    const struct quarantined bad = { .source = STR("demo"),
                                     .endpoint = STR("works"),
                                     .provider_id = STR("w1"),
                                     .reason = STR("date.syntax"),
                                     .lineage = { 1, 2, 3, 0, 5, 6 },
                                     .created_us = NOW_US,
                                     .payload = STR("{\"id\":\"w1\",\"updated\":\"2026-01-02\"}") };
    struct store *store = contract_store();
    struct quarantine_retried retried;
    struct quarantined_list list;
    struct stored_record record;
    struct seeded_random random;
    struct error err = { 0 };
    int64_t added;
    bool found;

    seeded_random_init(&random, 7);
    planning_apply(store, &(struct planning_source){ 0 });
    REQUIRE_OK(store_quarantine_add(store, &bad, 1, &added, &err), err);
    REQUIRE_OK(store_quarantine_list(store, contract_arena(),
                                     &(struct quarantine_filter){ .limit = 1 }, &list, &err),
               err);
    fault_store_wrap(store);
    fault_store_arm(store, &(struct store_fault){ .number = 2, /* the first reads the source */
                                                  .call = FAULT_COMMIT,
                                                  .code = "store.conflict" });
    REQUIRE_OK(quarantine_retry(store, contract_arena(), &random.source,
                                &(struct quarantine_retry_request){
                                    .id = list.items[0].id, .by = STR("ada"), .now_us = NOW_US },
                                &retried, &err),
               err);
    CHECK(fault_store_disarm(store), "a commit was refused");
    CHECK_EQ(retried.outcome, QUARANTINE_STORED, "reported as stored");
    REQUIRE_OK(store_record_get(store, contract_arena(),
                                &(struct record_key){ STR("demo"), STR("works"), STR("w1") },
                                &record, &found, &err),
               err);
    CHECK(found, "and it is");
    contract_end();
}
