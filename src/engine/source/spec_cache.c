/* Specs in a list, the one used last in front. */
#include "engine/source/spec_cache.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

/* A snapshot has some kilobytes; what is compiled from it has a few times as many. */
enum { SPEC_BYTES_MAX = 64 << 20 };

struct entry {
    struct spec spec; /* first: a holder has its address */
    struct entry *next;
    struct str snapshot;
    struct arena arena;
    size_t holders;
};

struct spec_cache {
    pthread_mutex_t lock;
    struct entry *entries;
};

bool spec_cache_open(struct spec_cache **out, struct error *err)
{
    struct spec_cache *cache = calloc(1, sizeof(*cache));

    *out = cache;
    if (cache != NULL && pthread_mutex_init(&cache->lock, NULL) == 0)
        return true;
    free(cache);
    *out = NULL;
    return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a cache of specs");
}

static void entry_free(struct entry *entry)
{
    arena_release(&entry->arena);
    free(entry);
}

void spec_cache_close(struct spec_cache *cache)
{
    struct entry *next;

    if (cache == NULL)
        return;
    for (struct entry *entry = cache->entries; entry != NULL; entry = next) {
        assert(entry->holders == 0);
        next = entry->next;
        entry_free(entry);
    }
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static struct entry *entry_read(struct str snapshot, struct error *err)
{
    struct entry *entry = calloc(1, sizeof(*entry));

    if (entry == NULL) {
        (void)error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a spec");
        return NULL;
    }
    arena_init(&entry->arena, SPEC_BYTES_MAX);
    entry->snapshot = arena_copy(&entry->arena, snapshot);
    if (entry->snapshot.data == NULL)
        (void)arena_error(&entry->arena, err);
    else if (spec_read(&entry->arena, entry->snapshot, &entry->spec, err))
        return entry;
    entry_free(entry);
    return NULL;
}

/* ---- the list; the lock is held ---- */

/* Takes the entry out of the list; NULL when there is none. */
static struct entry *take_out(struct spec_cache *cache, struct str snapshot)
{
    for (struct entry **at = &cache->entries; *at != NULL; at = &(*at)->next) {
        struct entry *entry = *at;

        if (!str_eq(entry->snapshot, snapshot))
            continue;
        *at = entry->next;
        return entry;
    }
    return NULL;
}

static void trim(struct spec_cache *cache)
{
    size_t kept = 0;

    for (struct entry **at = &cache->entries; *at != NULL;) {
        struct entry *entry = *at;

        if (entry->holders > 0 || ++kept <= SPECS_KEPT) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        entry_free(entry);
    }
}

/* ---- holding ---- */

bool spec_cache_hold(struct spec_cache *cache, struct str snapshot, const struct spec **spec,
                     struct error *err)
{
    struct entry *entry;

    *spec = NULL;
    if (cache == NULL) {
        entry = entry_read(snapshot, err);
        *spec = entry != NULL ? &entry->spec : NULL;
        return entry != NULL;
    }
    pthread_mutex_lock(&cache->lock);
    entry = take_out(cache, snapshot);
    if (entry == NULL)
        entry = entry_read(snapshot, err);
    if (entry != NULL) {
        entry->next = cache->entries;
        cache->entries = entry;
        entry->holders++;
        *spec = &entry->spec;
    }
    pthread_mutex_unlock(&cache->lock);
    return entry != NULL;
}

void spec_cache_release(struct spec_cache *cache, const struct spec *spec)
{
    struct entry *entry = (struct entry *)spec;

    if (entry == NULL)
        return;
    if (cache == NULL) {
        entry_free(entry);
        return;
    }
    pthread_mutex_lock(&cache->lock);
    assert(entry->holders > 0);
    entry->holders--;
    trim(cache);
    pthread_mutex_unlock(&cache->lock);
}
