/* world: a corpus, what is visible of it, and what its servers keep.
 *
 * One world is shared by all threads of a server. The corpus and the texts are read-only; functions
 * that use the view or the kept results take the world's lock. The time is always a parameter: the
 * world has no clock.
 */
#ifndef PATRA_SIM_WORLD_WORLD_H
#define PATRA_SIM_WORLD_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "sim/world/corpus.h"
#include "sim/world/kept_files.h"
#include "sim/world/kept_results.h"
#include "sim/world/texts.h"
#include "sim/world/view.h"
#include "sim/world/world_options.h"

struct sim_world;

/* NULL with an error: bad options, or no memory. `blocks` are the text blocks that record bodies
 * are built from; protocol/body.h opens a world with those of all APIs. */
struct sim_world *world_open(const struct world_options *options, struct block_list blocks,
                             struct error *err) MUST_CHECK;
void world_close(struct sim_world *world); /* accepts NULL */

const struct world_options *world_options_of(const struct sim_world *world);
const struct corpus *world_corpus(const struct sim_world *world);
const struct texts *world_texts(const struct sim_world *world);

/* A world at one time, and where results are allocated. */
struct world_at {
    struct sim_world *world;
    struct arena *arena;
    int64_t now_us;
};

/* Where a page begins, and how many hits it has at most. */
struct world_part {
    size_t skip;
    size_t limit;
};

struct world_page {
    size_t total;     /* of the query without its `after` */
    struct hit *hits; /* in the arena */
    size_t count;
};

/* The result of the query at that time. */
bool world_page(struct world_at at, const struct view_query *query, struct world_part part,
                struct world_page *page, struct error *err) MUST_CHECK;
/* How many hits come up to the query's `after`, included: where its page begins. */
size_t world_position(struct world_at at, const struct view_query *query);

/* The sequence number of a version (view.h), and the highest that there is at that time; 0: none.
 */
int64_t world_sequence_of(const struct sim_world *world, uint32_t version);
int64_t world_sequence_last(struct world_at at);

/* ---- files that a server has made ---- */

/* False: it was not made yet at that time. The bytes live as long as the world. */
bool world_file(struct world_at at, struct str name, struct str *bytes);
/* Takes over the bytes, from malloc. False: there are too many, and they are the caller's. */
bool world_file_keep(struct world_at at, struct str name, char *bytes, size_t len) MUST_CHECK;

/* ---- lists that a server keeps ---- */

struct world_name {
    uint64_t name;   /* 0: none yet */
    uint32_t number; /* of the list under that name, from 1 */
};

/* Keeps the query's hits: under a new name, or as the next number under a given name. */
bool world_keep(struct world_at at, const struct view_query *query, size_t page_size,
                struct world_name *name, struct error *err) MUST_CHECK;
/* Keeps a list from elsewhere (epost). */
bool world_keep_hits(struct world_at at, const struct hit *hits, size_t count,
                     struct world_name *name, struct error *err) MUST_CHECK;

/* Reads a kept list. *found: it still exists. */
struct world_kept_query {
    struct world_name name;
    int64_t idle_us; /* it expires when unused for longer */
    struct world_part part;
};
bool world_kept(struct world_at at, const struct world_kept_query *query, struct world_page *page,
                bool *found, struct error *err) MUST_CHECK;

/* The next page of a scroll, of the size it was kept with. `advance`: the position advances. */
struct world_scrolled {
    bool found; /* it still exists; else all below is zero */
    size_t position;
    struct world_page page;
};
bool world_scroll(struct world_at at, uint64_t name, bool advance, struct world_scrolled *scrolled,
                  struct error *err) MUST_CHECK;

#endif
