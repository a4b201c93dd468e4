/* offset_rig: a subscription "works", and what its readers do with their lanes. */
#ifndef PATRA_TEST_CONTRACT_OFFSET_RIG_H
#define PATRA_TEST_CONTRACT_OFFSET_RIG_H

#include "port/store_offset.h"
#include "port/store_stream.h"

extern const struct offset_key OFFSET_KEY;

void offset_rig_subscribe(bool from_latest);

/* A lease of a second. */
struct offset_lane_list offset_rig_claim(struct store *store, const char *owner, int64_t now_us,
                                         int64_t limit);

/* False: overtaken. */
bool offset_rig_save(struct store *store, const struct offset_lane *lane, int64_t pos,
                     int64_t now_us);
bool offset_rig_renew(struct store *store, const struct offset_lane *lanes, size_t count,
                      int64_t until_us);

/* Every event of the outbox gets its position. */
bool offset_rig_check(struct store *store, const struct offset_lane *lanes, size_t count);
void offset_rig_publish(struct store *store);

struct stream_event_list offset_rig_read(struct store *store, const struct stream_read *read);

#endif
