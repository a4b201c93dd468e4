/* Where the event of a record is missing at a subscription. */
#include "core/lane.h"
#include "port/store_offset.h"
#include "port/store_parked.h"
#include "port/store_subscription.h"
#include "why_rig.h"

static const struct offset_key HOOK = { { "patra", 5 }, { "hook", 4 } };

static void not_read(struct store *store)
{
    why_plant_sequenced(store);
    why_relay(store, "");
}

static void attend(struct store *store, const char *error)
{
    struct error err = { 0 };
    int64_t readers;

    REQUIRE_OK(store_offset_attend(
                   store,
                   &(struct offset_attend){ HOOK, STR("r"), NOW_US, WHY_LATE_US, str_of(error) },
                   &readers, &err),
               err);
}

static void being_read(struct store *store)
{
    not_read(store);
    attend(store, "");
}

static void unreachable(struct store *store)
{
    not_read(store);
    attend(store, "connection refused");
}

static void set_state(struct store *store, enum subscription_state state)
{
    struct error err = { 0 };
    bool changed;

    REQUIRE_OK(store_subscription_set_state(
                   store,
                   &(struct subscription_change){ STR("hook"), state, STR("maintenance"), NOW_US },
                   &changed, &err),
               err);
}

static void relay_paused(struct store *store)
{
    not_read(store);
    set_state(store, SUBSCRIPTION_PAUSED);
}

static void relay_stopped(struct store *store)
{
    not_read(store);
    set_state(store, SUBSCRIPTION_STOPPED);
}

static void delivered(struct store *store)
{
    not_read(store);
    why_reads(store, "hook");
}

static void delivered_and_paused(struct store *store)
{
    delivered(store);
    set_state(store, SUBSCRIPTION_PAUSED);
}

static void put_parked(struct store *store, int64_t next_retry_us)
{
    const struct parked parked = { .aggregate_type = STR("demo/works"),
                                   .aggregate_id = STR(WHY_ID),
                                   .record_id = 1,
                                   .lane = 1,
                                   .head_version = 1,
                                   .seen_version = 2,
                                   .attempts_begun = 3,
                                   .attempts_ended = 3,
                                   .policy = POLICY_WAIT,
                                   .next_retry_us = next_retry_us,
                                   .last_error = STR("status 422"),
                                   .parked_us = NOW_US };
    struct error err = { 0 };

    delivered(store);
    REQUIRE_OK(store_parked_put(store, &HOOK, &parked, &err), err);
}

static void parked(struct store *store)
{
    put_parked(store, WHY_LATE_US);
}

static void parked_and_due(struct store *store)
{
    put_parked(store, NOW_US - 1);
}

static void bury(struct store *store, int64_t version)
{
    const struct dead_letter letter = { .event_id = STR("00000002-0000-7000-8000-000000000000"),
                                        .aggregate_type = STR("demo/works"),
                                        .aggregate_id = STR(WHY_ID),
                                        .version = version,
                                        .reason = STR("skipped by ada"),
                                        .attempts = 3,
                                        .envelope = STR("{}"),
                                        .dead_us = NOW_US };
    struct error err = { 0 };

    delivered(store);
    REQUIRE_OK(store_parked_bury(store, &HOOK, &letter, &err), err);
}

static void dead(struct store *store)
{
    bury(store, 2);
}

static void earlier_one_is_dead(struct store *store)
{
    bury(store, 1);
}

static void seek(struct store *store, int64_t pos)
{
    struct error err = { 0 };
    bool found;

    for (int64_t lane = 0; lane < OUTBOX_LANES; lane++)
        REQUIRE_OK(store_offset_seek(store,
                                     &(struct offset_seek){ HOOK, lane, pos, STR("start over"),
                                                            STR("ada"), NOW_US + 1 },
                                     &found, &err),
                   err);
}

static void dead_and_read_again(struct store *store)
{
    dead(store);
    seek(store, 0);
    why_reads(store, "hook");
}

static void skipped(struct store *store)
{
    why_number = lane_of(STR("demo/works"), STR(WHY_ID));
    not_read(store);
    seek(store, 2);
}

static void skipped_and_back(struct store *store)
{
    skipped(store);
    seek(store, 0);
    why_reads(store, "hook");
}

static void begins_later(struct store *store)
{
    why_number = lane_of(STR("demo/works"), STR(WHY_ID));
    why_plant_sequenced(store);
    why_relay(store, "start: latest\n");
}

static void filtered(struct store *store)
{
    why_plant_sequenced(store);
    why_relay(store, "events: { types: [RecordDeleted] }\n");
}

static void other_source(struct store *store)
{
    why_plant_sequenced(store);
    why_relay(store, "events: { sources: [crossref] }\n");
}

/* ---- the table ---- */

#define RESET "patra offset reset hook --lane # --to 1 --reason 'patra why' --yes"

static const struct why_case CASES[] = {
    { "nobody reads", not_read, NULL, "subscription", "subscription.idle", "patra publish --once" },
    { "somebody reads", being_read, NULL, "subscription", "subscription.behind",
      "patra outbox status" },
    { "the bus is out of reach", unreachable, NULL, "subscription", "subscription.error",
      "patra bus test hook" },
    { "relay paused", relay_paused, NULL, "subscription", "subscription.paused",
      "patra outbox resume hook" },
    { "relay stopped", relay_stopped, NULL, "subscription", "subscription.stopped",
      "patra outbox resume hook" },
    { "delivered", delivered, NULL, "", "", "" },
    { "delivered, then paused", delivered_and_paused, NULL, "", "", "" },
    { "parked", parked, NULL, "subscription", "subscription.parked", "patra outbox retry hook w1" },
    { "parked, to be tried", parked_and_due, NULL, "subscription", "subscription.parked",
      "patra publish --once" },
    { "dead letter", dead, NULL, "subscription", "subscription.dead",
      "patra outbox redrive hook w1" },
    { "an earlier version is dead", earlier_one_is_dead, NULL, "", "", "" },
    { "given up, read again", dead_and_read_again, NULL, "", "", "" },
    { "moved past it", skipped, NULL, "subscription", "subscription.skipped", RESET },
    { "moved past it and back", skipped_and_back, NULL, "", "", "" },
    { "began later", begins_later, NULL, "subscription", "subscription.earlier", RESET },
    { "not of its types", filtered, NULL, "subscription", "subscription.filtered",
      "patra bus show hook" },
    { "not of its sources", other_source, NULL, "subscription", "subscription.filtered",
      "patra bus show hook" },
};

TEST(a_subscription_is_named_with_the_command_that_delivers)
{
    why_check("demo", WHY_ID, CASES, ARRAY_LEN(CASES));
}
