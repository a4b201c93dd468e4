/* A corpus with its view, texts and kept results, behind one lock. */
#include "sim/world/world.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct sim_world {
    struct corpus corpus;
    struct texts texts;
    pthread_mutex_t lock; /* view, results and files */
    struct view view;
    struct kept_results results;
    struct kept_files files;
};

struct sim_world *world_open(const struct world_options *options, struct block_list blocks,
                             struct error *err)
{
    struct sim_world *world;

    if (!world_options_check(options, err))
        return NULL;
    world = calloc(1, sizeof(*world));
    if (world == NULL) {
        (void)error_set(err, ERROR_FATAL, "memory", "no memory for a world");
        return NULL;
    }
    (void)pthread_mutex_init(&world->lock, NULL);
    if (!corpus_open(&world->corpus, options, err) ||
        !view_open(&world->view, &world->corpus, err) ||
        !texts_open(&world->texts, blocks, (uint64_t)options->seed, err)) {
        world_close(world);
        return NULL;
    }
    return world;
}

void world_close(struct sim_world *world)
{
    if (world == NULL)
        return;
    kept_results_close(&world->results);
    kept_files_close(&world->files);
    texts_close(&world->texts);
    view_close(&world->view);
    corpus_close(&world->corpus);
    (void)pthread_mutex_destroy(&world->lock);
    free(world);
}

const struct world_options *world_options_of(const struct sim_world *world)
{
    return &world->corpus.options;
}

const struct corpus *world_corpus(const struct sim_world *world)
{
    return &world->corpus;
}

const struct texts *world_texts(const struct sim_world *world)
{
    return &world->texts;
}

static void lock(struct world_at at)
{
    (void)pthread_mutex_lock(&at.world->lock);
    view_seek(&at.world->view, at.now_us);
}

static void unlock(struct world_at at)
{
    (void)pthread_mutex_unlock(&at.world->lock);
}

/* The total of a query does not need its order: the cheapest one that has a range counts fastest.
 */
static size_t count_all(const struct view *view, const struct view_query *query)
{
    struct view_query whole = *query;

    whole.has_after = false;
    for (int i = 0; i < ORDER_COUNT; i++) {
        if (query->ranges[i].from_us != INT64_MIN || query->ranges[i].to_us != INT64_MAX) {
            whole.order = (enum view_order)i;
            break;
        }
    }
    return view_count(view, &whole);
}

size_t world_position(struct world_at at, const struct view_query *query)
{
    struct view_query whole = *query;
    size_t position;

    whole.has_after = false;
    lock(at);
    position = view_count(&at.world->view, &whole) - view_count(&at.world->view, query);
    unlock(at);
    return position;
}

int64_t world_sequence_of(const struct sim_world *world, uint32_t version)
{
    return view_sequence_of(&world->view, version); /* it never changes: no lock */
}

int64_t world_sequence_last(struct world_at at)
{
    int64_t last;

    lock(at);
    last = at.world->view.event_pos;
    unlock(at);
    return last;
}

static bool page_alloc(struct arena *arena, size_t limit, struct world_page *page,
                       struct error *err)
{
    page->hits = ARENA_ARRAY(arena, struct hit, limit > 0 ? limit : 1);
    return page->hits != NULL || arena_error(arena, err);
}

bool world_page(struct world_at at, const struct view_query *query, struct world_part part,
                struct world_page *page, struct error *err)
{
    if (!page_alloc(at.arena, part.limit, page, err))
        return false;
    lock(at);
    page->total = count_all(&at.world->view, query);
    page->count = view_page(&at.world->view, query, part.skip, part.limit, page->hits);
    unlock(at);
    return true;
}

static bool keep(struct world_at at, size_t count, struct world_name *name,
                 struct kept_result **result, struct error *err)
{
    if (name->name == 0)
        name->name = kept_results_name(&at.world->results, (uint64_t)at.world->corpus.options.seed);
    name->number = kept_results_next_number(&at.world->results, name->name);
    *result = kept_results_add(&at.world->results, name->name, name->number, count, at.now_us);
    return *result != NULL ||
           error_set(err, ERROR_FATAL, "memory", "no memory to keep %zu hits", count);
}

bool world_keep(struct world_at at, const struct view_query *query, size_t page_size,
                struct world_name *name, struct error *err)
{
    struct kept_result *result;
    size_t total;
    bool ok;

    lock(at);
    total = count_all(&at.world->view, query);
    ok = keep(at, total, name, &result, err);
    if (ok) {
        result->size = page_size;
        (void)view_page(&at.world->view, query, 0, total, result->hits);
    }
    unlock(at);
    return ok;
}

bool world_keep_hits(struct world_at at, const struct hit *hits, size_t count,
                     struct world_name *name, struct error *err)
{
    struct kept_result *result;
    bool ok;

    lock(at);
    ok = keep(at, count, name, &result, err);
    if (ok && count > 0)
        memcpy(result->hits, hits, count * sizeof(*hits));
    unlock(at);
    return ok;
}

static void copy_hits(const struct kept_result *result, struct world_part part,
                      struct world_page *page)
{
    page->total = result->count;
    page->count = part.skip < result->count ? result->count - part.skip : 0;
    if (page->count > part.limit)
        page->count = part.limit;
    if (page->count > 0)
        memcpy(page->hits, result->hits + part.skip, page->count * sizeof(*page->hits));
}

bool world_kept(struct world_at at, const struct world_kept_query *query, struct world_page *page,
                bool *found, struct error *err)
{
    const struct kept_result *result;

    if (!page_alloc(at.arena, query->part.limit, page, err))
        return false;
    lock(at);
    result = kept_results_find(&at.world->results, query->name.name, query->name.number, at.now_us,
                               query->idle_us);
    *found = result != NULL;
    if (*found)
        copy_hits(result, query->part, page);
    unlock(at);
    return true;
}

bool world_scroll(struct world_at at, uint64_t name, bool advance, struct world_scrolled *scrolled,
                  struct error *err)
{
    struct kept_result *result;
    bool ok = true;

    *scrolled = (struct world_scrolled){ 0 };
    lock(at);
    result = kept_results_find(&at.world->results, name, 1, at.now_us,
                               at.world->corpus.options.scroll_idle_us);
    scrolled->found = result != NULL;
    if (scrolled->found) {
        const struct world_part part = { result->position, result->size };

        scrolled->position = result->position;
        ok = page_alloc(at.arena, part.limit, &scrolled->page, err);
        if (ok)
            copy_hits(result, part, &scrolled->page);
        if (ok && advance)
            result->position += scrolled->page.count;
    }
    unlock(at);
    return ok;
}

/* ---- files ---- */

bool world_file(struct world_at at, struct str name, struct str *bytes)
{
    const struct kept_file *file;

    (void)pthread_mutex_lock(&at.world->lock);
    file = kept_files_find(&at.world->files, name, at.now_us);
    if (file != NULL)
        *bytes = (struct str){ file->bytes, file->len };
    (void)pthread_mutex_unlock(&at.world->lock);
    return file != NULL;
}

bool world_file_keep(struct world_at at, struct str name, char *bytes, size_t len)
{
    bool is_kept;

    (void)pthread_mutex_lock(&at.world->lock);
    if (kept_files_find(&at.world->files, name, at.now_us) != NULL) {
        free(bytes); /* another thread was faster */
        is_kept = true;
    } else
        is_kept = kept_files_add(&at.world->files, name, at.now_us, bytes, len);
    (void)pthread_mutex_unlock(&at.world->lock);
    return is_kept;
}
