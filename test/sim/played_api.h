/* played_api: an upstream in memory, and what is true about it.
 *
 * Records with an id, a date and a revision, listed by date a page at a time, behind a cap: no more
 * than API_CAP of a query can be read. Faults come by chance; the truth is the array itself.
 */
#ifndef PATRA_TEST_SIM_PLAYED_API_H
#define PATRA_TEST_SIM_PLAYED_API_H

#include "core/window.h"
#include "random.h"
#include "scripted_http.h"
#include "virtual_clock.h"

enum { API_RECORDS_MAX = 2000, API_CAP = 60, API_PAGE = 10 };

struct api_record {
    int64_t updated_us;
    int revision;
};

struct played_api {
    struct scripted_http http;
    struct virtual_clock *clock;
    struct random random;
    struct api_record records[API_RECORDS_MAX]; /* by number; "r17" is the 18th */
    int count;
    int fault_percent;     /* of the replies */
    struct window refused; /* queries that begin in it are answered with 400; not valid: none are */
    int wait_s;            /* all are answered with 503 and this Retry-After; 0: none are */
    int64_t requests;
    int64_t fetched[API_RECORDS_MAX]; /* how often each was handed out whole */
    /* Called before each reply, for what shall happen in the middle of a walk. */
    void (*before)(void *context, struct played_api *api);
    void *context;
    struct http_watch *watch; /* of the request that is answered */
};

void played_api_init(struct played_api *api, struct virtual_clock *clock, uint64_t seed);
void played_api_release(struct played_api *api);

/* A new record, or a new revision of an old one, of this instant. */
void played_api_change(struct played_api *api, int64_t at_us);

/* The source's file that fits it. */
extern const char PLAYED_SOURCE[];
/* The same as if it knew whole days and nothing shorter; but a range of numbers can be asked for.
 */
extern const char PLAYED_SOURCE_BY_DAY[];

#endif
