/* results: what a server remembers between requests.
 *
 * Crossref's scroll and the history of E-utilities are lists of hits which the server holds under a
 * name, with a position, until they have been idle for too long. A table of them; the least
 * recently used go when it is full. Not for two threads at once.
 */
#ifndef PATRA_SIM_WORLD_KEPT_RESULTS_H
#define PATRA_SIM_WORLD_KEPT_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/world/view.h"

enum { KEPT_RESULTS_MAX = 512, KEPT_RESULTS_BYTES_MAX = 64 << 20 };

struct kept_result {
    uint64_t name;   /* 0: free */
    uint32_t number; /* a query's number inside a history; 0 for a scroll */
    struct hit *hits;
    size_t count;
    size_t position;
    size_t size; /* of a page */
    int64_t used_us;
};

struct kept_results {
    struct kept_result items[KEPT_RESULTS_MAX];
    size_t bytes;
    uint64_t made;
};

void kept_results_close(struct kept_results *results);

/* A name nobody has yet, in the order of asking always the same. */
uint64_t kept_results_name(struct kept_results *results, uint64_t seed);

/* Room for `count` hits under that name; the caller fills them. NULL: no memory. */
struct kept_result *kept_results_add(struct kept_results *results, uint64_t name, uint32_t number,
                                     size_t count, int64_t now_us);

/* The result, and it counts as used now; NULL when it never was, or was idle for longer. */
struct kept_result *kept_results_find(struct kept_results *results, uint64_t name, uint32_t number,
                                      int64_t now_us, int64_t idle_us);

/* The number the next query of that history gets. */
uint32_t kept_results_next_number(const struct kept_results *results, uint64_t name);

#endif
