/* Tests: the lane of a key never changes. */
#include "core/lane.h"

#include <stdio.h>

#include "core/limits.h"
#include "test.h"

/* FNV-1a of the two texts, each closed by a byte 0xff, by another program. */
TEST(the_lane_of_a_key_never_changes)
{
    CHECK_EQ(lane_of(STR("crossref/works"), STR("10.1000/182")), 9, "a DOI");
    CHECK_EQ(lane_of(STR("pubmed/records"), STR("30000001")), 50, "a PMID");
    CHECK_EQ(lane_of(STR(""), STR("")), 36, "nothing");
}

TEST(keys_spread_over_all_lanes)
{
    int64_t counts[OUTBOX_LANES] = { 0 };
    char id[32];

    for (int i = 0; i < 64000; i++) {
        const int len = snprintf(id, sizeof(id), "10.1000/%d", i);

        counts[lane_of(STR("crossref/works"), (struct str){ id, (size_t)len })]++;
    }
    for (int i = 0; i < OUTBOX_LANES; i++)
        CHECK(counts[i] > 700 && counts[i] < 1300, "about a thousand each");
}
