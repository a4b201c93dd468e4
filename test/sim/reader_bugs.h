/* reader_bugs: what a store would do wrong for those who read the stream. Switches of the
 * simulations of relays and consumers: with each of them some history must fail.
 */
#ifndef PATRA_TEST_SIM_READER_BUGS_H
#define PATRA_TEST_SIM_READER_BUGS_H

#include "port/store_offset.h"
#include "port/store_parked.h"

/* A simulation has more, from READER_BUGS on. */
enum reader_bug {
    BUG_NONE,
    BUG_SAVE_WITHOUT_EPOCH, /* 8 of the design's list */
    BUG_PARKED_HEAD_ONLY,   /* 10: what was passed over is not read again */
    BUG_SEEK_KEEPS_PARKED,  /* 11 */
    BUG_PASS_BLIND,         /* a key is passed over though it is not parked any more */
    READER_BUGS,
};

#define READER_BUG_NAMES \
    "none", "save without epoch", "parked head only", "seek keeps parked keys", "blind pass"

struct reader_bugs {
    const struct store_offset_ops *real_offset;
    const struct store_parked_ops *real_parked;
    struct store_offset_ops offset; /* of all stores that have a bug; a simulation may change it */
    struct store_parked_ops parked;
};

/* From now on the store does it wrong; a bug that is not above changes nothing. */
struct reader_bugs *reader_bugs_plant(struct store *store, int bug);

#endif
