/* fake_source: a source with records r000, r001, ..., for walks from the first request to the
 * verdict. It serves every way of paging, and misbehaves as a test wants it to.
 */
#ifndef PATRA_TEST_SUPPORT_FAKE_SOURCE_H
#define PATRA_TEST_SUPPORT_FAKE_SOURCE_H

#include "fetch_rig.h"

#define GENERIC "test/data/fetch/generic.yaml"
#define DETAILS "test/data/fetch/details.yaml"
#define BASE "http://sim.example.org"

struct fake_source {
    int records;
    int64_t total;   /* reported; -1: none */
    int served;      /* requests so far */
    int scroll_at;   /* a scroll's place */
    int scrolls;     /* begun */
    int page_cap;    /* larger pages are too large; 0: none */
    int64_t took_us; /* each response */
    size_t kept;     /* bytes of the first response; 0: all */
    int64_t padding; /* blanks in each of them, per item requested */
    int page_max;    /* the most items of a page, even if more are requested; 0: any number */
    int poison;      /* the record that cannot be fetched; -1: none */
    int poison_status;
    int gone; /* the record that details do not have; -1: none */
    int session;
    int session_dies_at; /* request number; 0: never */
    int per_minute;      /* by time: records of one instant; 0: one */
    bool is_exclusive;   /* by time: only what comes after the instant that was sent */
    bool sticks;         /* after the last page, that page again */
    bool moves;          /* a record comes in front with each request */
    /* Spoils the n-th request, counted from 1; true: *reply is the response. */
    bool (*spoil)(struct fake_source *fake, int n, struct scripted_reply *reply);
    struct rig *rig;
};

/* A rig whose requests the source serves, correctly until the test changes that. */
void fake_source_begin(struct fake_source *fake, struct rig *rig, const char *file,
                       const char *operation, int records);

/* Every record was fetched, and the verdict says so. */
void fake_source_require_complete(const struct fake_source *fake, const struct rig *rig,
                                  const char *label);

#endif
