/* lane_share: how many lanes of a subscription a reader may hold.
 *
 * Each of n readers takes up to ⌈lanes / n⌉ and gives back what it has beyond that, so that a new
 * reader finds some. No lane is without a reader, and no two readers differ by more than the last
 * one's remainder.
 */
#ifndef PATRA_CORE_LANE_SHARE_H
#define PATRA_CORE_LANE_SHARE_H

#include <stdint.h>

/* With fewer readers than one (this one's own sign was lost) as with one. */
int64_t lane_share(int64_t lanes, int64_t readers);

#endif
