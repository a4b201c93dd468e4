/* Where the row of a record is missing in the tables of a projection. */
#include <inttypes.h>
#include <string.h>

#include "base/instant.h"
#include "core/limits.h"
#include "why_rig.h"

#define WORKS "{ aggregates: [demo/works] }"

static void not_applied(struct store *store)
{
    why_plant_sequenced(store);
    why_projection(store, "", WORKS);
}

static void row_is(struct store *store, const char *version, const char *is_deleted)
{
    not_applied(store);
    why_reads(store, "shelf");
    if (version != NULL)
        why_sql("INSERT INTO shelf (id, version, deleted, title) VALUES ('" WHY_ID "', %s, %s, '')",
                version, is_deleted);
}

static void row_current(struct store *store)
{
    row_is(store, "2", "FALSE");
}

static void row_absent(struct store *store)
{
    row_is(store, NULL, NULL);
}

static void row_older(struct store *store)
{
    row_is(store, "1", "FALSE");
}

static void row_left_out(struct store *store)
{
    row_is(store, "2", "TRUE");
}

/* Copies were being filled, last at this instant. */
static void rebuild_at(struct store *store, int64_t at_us)
{
    char positions[2 * OUTBOX_LANES + 1] = "";

    for (int lane = 0; lane < OUTBOX_LANES; lane++)
        (void)strcat(positions, lane > 0 ? ",0" : "0");
    row_absent(store);
    why_sql("UPDATE ing_projection SET rebuild = '{\"hash\":\"h\",\"run\":1,\"at\":%" PRId64
            ",\"hasRecords\":false,\"recordsDone\":false,\"isSwapped\":false,\"source\":\"\","
            "\"endpoint\":\"\",\"recordId\":0,\"positions\":[%s]}'",
            at_us, positions);
}

static void rebuilding(struct store *store)
{
    rebuild_at(store, WHY_LATE_US);
}

static void rebuild_stopped(struct store *store)
{
    rebuild_at(store, NOW_US - US_PER_DAY);
}

static void other_aggregates(struct store *store)
{
    why_plant_sequenced(store);
    why_projection(store, "", "{ aggregates: [video] }");
}

static void other_events(struct store *store)
{
    why_plant_sequenced(store);
    why_projection(store, "", "{ aggregates: [demo/works], events: [RecordDeleted] }");
    why_reads(store, "shelf");
}

static void out_of_reach(struct store *store)
{
    why_plant_sequenced(store);
    why_projection(store, "database: env:NOWHERE\n", WORKS);
}

/* ---- the table ---- */

static const struct why_case CASES[] = {
    { "not applied", not_applied, NULL, "subscription", "subscription.idle",
      "patra consume shelf --once" },
    { "its row is current", row_current, NULL, "", "", "" },
    { "it has no row", row_absent, NULL, "projection", "projection.absent",
      "patra audit shelf --repair" },
    { "its row is older", row_older, NULL, "projection", "projection.older",
      "patra audit shelf --repair" },
    { "a rebuild is running", rebuilding, NULL, "projection", "projection.rebuilding",
      "patra projection show shelf" },
    { "a rebuild was stopped", rebuild_stopped, NULL, "projection", "projection.rebuild_stopped",
      "patra projection rebuild shelf" },
    { "a filter leaves it out", row_left_out, NULL, "projection", "projection.filtered",
      "patra projection show shelf" },
    { "not of its aggregates", other_aggregates, NULL, "subscription", "subscription.filtered",
      "patra projection show shelf" },
    { "not of its events", other_events, NULL, "", "", "" },
    { "its database is out of reach", out_of_reach, NULL, "projection", "projection.unreachable",
      "patra projection show shelf" },
};

TEST(a_table_is_named_with_the_command_that_repairs_it)
{
    why_check("demo", WHY_ID, CASES, ARRAY_LEN(CASES));
}
