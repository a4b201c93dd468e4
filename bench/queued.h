/* queued: a store with one task in its queue, for benchmarks of what happens to tasks.
 *
 *      struct store *store = queued_store(dsn);      created and migrated
 *      queued_add(store, window);                    schedule, plan, slice and the task of it
 *
 * Any failure prints its error and ends the program.
 */
#ifndef PATRA_BENCH_QUEUED_H
#define PATRA_BENCH_QUEUED_H

#include "core/window.h"
#include "port/store.h"

#define QUEUED_HASH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define QUEUED_NOW_US INT64_C(1767225600000000) /* 2026-01-01: the time of everything in it */

void must(bool ok, const struct error *err);

struct store *queued_store(const char *dsn);
/* A HARVEST of "works" of "bench", by time; by pages where the window is not valid. */
void queued_add(struct store *store, struct window window);

#endif
