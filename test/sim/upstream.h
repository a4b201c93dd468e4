/* upstream: a fake API, and the truth about it.
 *
 * Records with an id, a date and a revision, listed by date a page at a time, with a cap: no more
 * than API_CAP of a query can be read. Faults come by chance; the truth is the array itself.
 */
#ifndef PATRA_TEST_SIM_UPSTREAM_H
#define PATRA_TEST_SIM_UPSTREAM_H

#include "core/window.h"
#include "random.h"
#include "scripted_http.h"
#include "virtual_clock.h"

enum { API_RECORDS_MAX = 2000, API_CAP = 60, API_PAGE = 10 };

struct api_record {
    int64_t updated_us;
    int revision;
};

struct upstream {
    struct scripted_http http;
    struct virtual_clock *clock;
    struct random random;
    struct api_record records[API_RECORDS_MAX]; /* by number; "r17" is the 18th */
    int count;
    int fault_percent;     /* of the responses */
    struct window refused; /* queries that begin in it get 400; not valid: none do */
    bool ignores_window;   /* every query is for all records */
    int wait_s;            /* every request gets 503 and this Retry-After; 0: none does */
    int64_t requests;
    int64_t spoiled;                  /* of these, got a fault for a response */
    int64_t fetched[API_RECORDS_MAX]; /* how often each was returned whole */
    /* Called before each response, for what is to happen in the middle of a walk. */
    void (*before)(void *context, struct upstream *api);
    void *context;
    struct http_watch *watch; /* of the current request */
};

void upstream_init(struct upstream *api, struct virtual_clock *clock, uint64_t seed);
void upstream_release(struct upstream *api);

/* A new record, or a new revision of an old one, of this instant. */
void upstream_change(struct upstream *api, int64_t at_us);

/* A source file for it. */
extern const char UPSTREAM_SOURCE[];
/* The same for windows of whole days; within one, a range of numbers can be requested. */
extern const char UPSTREAM_SOURCE_BY_DAY[];
/* The cap of both, and how often the ids of the second can be halved: they are up to 99999. */
enum { UPSTREAM_CAP = 60, UPSTREAM_ID_HALVINGS = 17 };

#endif
