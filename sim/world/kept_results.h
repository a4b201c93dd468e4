/* kept_results: the result lists that a server keeps between requests.
 *
 * Crossref's scroll and the history of E-utilities are lists of hits, kept under a name with a
 * position until they have been idle for too long. When the table is full, the least recently used
 * list is removed. Not thread-safe.
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

/* A new name; the sequence of names is the same in every run. */
uint64_t kept_results_name(struct kept_results *results, uint64_t seed);

/* Reserves `count` hits under that name; the caller fills them in. NULL: no memory. */
struct kept_result *kept_results_add(struct kept_results *results, uint64_t name, uint32_t number,
                                     size_t count, int64_t now_us);

/* The result, marked as used now; NULL: unknown, or idle for longer than idle_us. */
struct kept_result *kept_results_find(struct kept_results *results, uint64_t name, uint32_t number,
                                      int64_t now_us, int64_t idle_us);

/* The number of the next query in that history. */
uint32_t kept_results_next_number(const struct kept_results *results, uint64_t name);

#endif
