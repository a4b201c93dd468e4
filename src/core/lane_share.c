/* A fair share, rounded up. */
#include "core/lane_share.h"

int64_t lane_share(int64_t lanes, int64_t readers)
{
    const int64_t n = readers < 1 ? 1 : readers;

    return (lanes + n - 1) / n;
}
