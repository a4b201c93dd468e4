/* An aggregate of another service: where it is missing between its outbox and who reads it. */
#include "core/lane.h"
#include "port/store_offset.h"
#include "port/store_outbox.h"
#include "port/store_parked.h"
#include "port/store_subscription.h"
#include "why_rig.h"

#define TYPE "shop/video"
#define ID "v1"

static const struct offset_key SHOP = { { "patra", 5 }, { "shop", 4 } };

static void idle(struct store *store)
{
    why_import(store, "shop/");
}

static void attend(struct store *store, const char *error)
{
    struct error err = { 0 };
    int64_t readers;

    idle(store);
    REQUIRE_OK(store_offset_attend(
                   store,
                   &(struct offset_attend){ SHOP, STR("i"), NOW_US, WHY_LATE_US, str_of(error) },
                   &readers, &err),
               err);
}

static void read_by_somebody(struct store *store)
{
    attend(store, "");
}

static void out_of_reach(struct store *store)
{
    attend(store, "connection refused");
}

static void paused(struct store *store)
{
    struct error err = { 0 };
    bool changed;

    idle(store);
    REQUIRE_OK(store_subscription_set_state(
                   store,
                   &(struct subscription_change){ STR("shop"), SUBSCRIPTION_PAUSED,
                                                  STR("maintenance"), NOW_US },
                   &changed, &err),
               err);
}

static void park(struct store *store)
{
    const struct parked parked = { .aggregate_type = STR(TYPE),
                                   .aggregate_id = STR(ID),
                                   .lane = 1,
                                   .head_version = 2,
                                   .seen_version = 2,
                                   .attempts_begun = 1,
                                   .attempts_ended = 1,
                                   .policy = POLICY_WAIT,
                                   .next_retry_us = WHY_LATE_US,
                                   .last_error = STR("the payload is not JSON"),
                                   .parked_us = NOW_US };
    struct error err = { 0 };

    REQUIRE_OK(store_parked_put(store, &SHOP, &parked, &err), err);
}

static void refused(struct store *store)
{
    read_by_somebody(store);
    park(store);
}

/* Its type does not say whose it is. */
static void refused_without_prefix(struct store *store)
{
    why_import(store, "");
    park(store);
}

static void imported(struct store *store)
{
    const struct foreign_event event = {
        .aggregate_type = STR(TYPE),
        .aggregate_id = STR(ID),
        .event = { .event_id = STR("00000001-0000-7000-8000-000000000001"),
                   .event_type = STR("VideoPublished"),
                   .version = 1,
                   .schema_version = 1,
                   .lane = lane_of(STR(TYPE), STR(ID)),
                   .occurred_us = NOW_US,
                   .body = STR("not JSON") },
    };
    struct error err = { 0 };
    int64_t added;

    idle(store);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_outbox_add(store, &event, 1, &added, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
}

static void sequenced(struct store *store)
{
    imported(store);
    why_sequence(store);
}

static void later_one_refused(struct store *store)
{
    sequenced(store);
    park(store);
}

static void not_applied(struct store *store)
{
    sequenced(store);
    why_projection(store, "", "{ aggregates: [shop/video] }");
}

static void without_row(struct store *store)
{
    not_applied(store);
    why_reads(store, "shelf");
}

static void slip(struct store *store)
{
    why_import(store, "");
}

static const struct why_case CASES[] = {
    { "no outbox either", why_plant_backfill, NULL, "source", "source.unknown",
      "patra source apply sources/shop/video.yaml" },
    { "an outbox of any type", slip, NULL, "source", "source.unknown",
      "patra source apply sources/shop/video.yaml" },
    { "nobody imports", idle, NULL, "import", "import.idle", "patra publish --once" },
    { "nothing was written", read_by_somebody, NULL, "import", "import.silent",
      "patra outbox import list" },
    { "its database is out of reach", out_of_reach, NULL, "import", "import.error",
      "patra outbox import list" },
    { "paused", paused, NULL, "import", "import.paused", "patra outbox resume shop" },
    { "its row was refused", refused, NULL, "import", "import.refused",
      "patra outbox retry shop v1" },
    { "refused, without a prefix", refused_without_prefix, NULL, "import", "import.refused",
      "patra outbox retry shop v1" },
    { "a later row was refused", later_one_refused, NULL, "import", "import.refused",
      "patra outbox retry shop v1" },
    { "imported, no publisher", imported, NULL, "stream", "stream.idle", "patra publish --once" },
    { "in the stream", sequenced, NULL, "", "", "" },
    { "not applied", not_applied, NULL, "subscription", "subscription.idle",
      "patra consume shelf --once" },
    { "it has no row", without_row, NULL, "projection", "projection.absent",
      "patra audit shelf --repair" },
};

TEST(an_aggregate_of_another_service_has_its_first_missing_step)
{
    why_check(TYPE, ID, CASES, ARRAY_LEN(CASES));
}
