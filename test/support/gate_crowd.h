/* gate_crowd: processes and threads that send as fast as the gate lets them, in virtual time, and
 * the truth about when they sent: a brute-force look at every stretch of time.
 *
 * A process is a pool here; its threads have a gate each, on sessions of the same store.
 */
#ifndef PATRA_TEST_SUPPORT_GATE_CROWD_H
#define PATRA_TEST_SUPPORT_GATE_CROWD_H

#include "engine/gate/gate.h"
#include "spec/spec.h"
#include "turn_clock.h"

enum { CROWD_USES_MAX = 20000, CROWD_THREADS_MAX = TURN_THREADS_MAX };

struct crowd_use {
    int64_t at_us; /* monotonic */
    int64_t done_us;
    int process;
    int thread;
    struct str credential; /* '' where there is one at most */
};

struct crowd {
    /* what is wanted */
    struct spec_endpoint endpoint;
    int processes;
    int threads; /* of each */
    int64_t length_us;
    int64_t latency_max_us; /* of a request; at least a tenth of this */
    int64_t idle_max_us;    /* between two requests, one time in ten */
    int64_t late_max_us;    /* of waking up, see turn_clock.h */
    int64_t later_max_us;
    int64_t begin_us; /* virtual time that has passed before */
    uint64_t seed;
    enum operation operations[CROWD_THREADS_MAX];
    /* Fills in what the source says to the n-th request of all, sent at a time; may be NULL. */
    void (*answer)(struct crowd *crowd, size_t number, struct permit_feedback *feedback);
    /* Called before each request, by the thread that sends it; may be NULL. */
    void (*before)(struct crowd *crowd, int64_t at_us);

    /* what came */
    struct store *store;
    struct turn_clock clock;
    struct gate_pool *pools[CROWD_THREADS_MAX];
    struct crowd_use uses[CROWD_USES_MAX];
    size_t count;
    size_t rejects;
    int64_t retry_at_us; /* of the last reject */
};

/* An endpoint "works" of https://api.example.org, with the settings' defaults and this rate. */
struct spec_endpoint crowd_endpoint(double per_second, int64_t burst);

/* Gives the endpoint as many credentials, called "key0" and on, each with the endpoint's rate and
 * this quota a day; their values are known to the crowd as env:KEY_0 and on. */
enum { CROWD_CREDENTIALS_MAX = 3 };
struct crowd_credentials {
    struct spec_endpoint variants[CROWD_CREDENTIALS_MAX];
    size_t count;
    int64_t quota_day;
};
void crowd_give_credentials(struct spec_endpoint *endpoint, struct crowd_credentials *credentials);

/* Runs all threads to the end. The store must be migrated; sessions are made of it. */
void crowd_run(struct crowd *crowd, struct store *store);

/* The largest excess over rate * t + burst in any stretch, in requests of the given cost; not more
 * than 0: none. */
double crowd_excess(const struct crowd *crowd, double per_second, double burst, double cost);

/* The same for the requests that were sent with one credential. */
double crowd_excess_of(const struct crowd *crowd, struct str credential, double per_second,
                       double burst);

/* Requests of `cost` in [from, to), as a part of what the rate allows. */
double crowd_used(const struct crowd *crowd, double per_second, double cost, int64_t from_us,
                  int64_t to_us);

/* The most requests that were under way at once. */
int crowd_peak(const struct crowd *crowd);

#endif
