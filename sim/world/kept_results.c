/* A fixed table of result lists; the least recently used one makes room. */
#include "sim/world/kept_results.h"

#include <stdlib.h>

#include "sim/util/hash.h"

static void drop(struct kept_results *results, struct kept_result *result)
{
    results->bytes -= result->count * sizeof(*result->hits);
    free(result->hits);
    *result = (struct kept_result){ 0 };
}

void kept_results_close(struct kept_results *results)
{
    for (size_t i = 0; i < KEPT_RESULTS_MAX; i++)
        drop(results, &results->items[i]);
}

uint64_t kept_results_name(struct kept_results *results, uint64_t seed)
{
    return hash_of(seed, ++results->made, 0x726573) | 1;
}

static struct kept_result *oldest(struct kept_results *results)
{
    struct kept_result *found = NULL;

    for (size_t i = 0; i < KEPT_RESULTS_MAX; i++) {
        struct kept_result *result = &results->items[i];

        if (result->name != 0 && (found == NULL || result->used_us < found->used_us))
            found = result;
    }
    return found;
}

static struct kept_result *free_place(struct kept_results *results)
{
    for (size_t i = 0; i < KEPT_RESULTS_MAX; i++) {
        if (results->items[i].name == 0)
            return &results->items[i];
    }
    return NULL;
}

struct kept_result *kept_results_add(struct kept_results *results, uint64_t name, uint32_t number,
                                     size_t count, int64_t now_us)
{
    struct hit *hits = calloc(count > 0 ? count : 1, sizeof(*hits));
    struct kept_result *result;

    if (hits == NULL)
        return NULL;
    while (results->bytes > 0 && results->bytes + count * sizeof(*hits) > KEPT_RESULTS_BYTES_MAX)
        drop(results, oldest(results));
    while ((result = free_place(results)) == NULL)
        drop(results, oldest(results));
    *result = (struct kept_result){
        .name = name, .number = number, .hits = hits, .count = count, .used_us = now_us
    };
    results->bytes += count * sizeof(*hits);
    return result;
}

struct kept_result *kept_results_find(struct kept_results *results, uint64_t name, uint32_t number,
                                      int64_t now_us, int64_t idle_us)
{
    for (size_t i = 0; i < KEPT_RESULTS_MAX; i++) {
        struct kept_result *result = &results->items[i];

        if (result->name != name || result->number != number)
            continue;
        if (now_us - result->used_us > idle_us) {
            drop(results, result);
            return NULL;
        }
        result->used_us = now_us;
        return result;
    }
    return NULL;
}

uint32_t kept_results_next_number(const struct kept_results *results, uint64_t name)
{
    uint32_t number = 0;

    for (size_t i = 0; i < KEPT_RESULTS_MAX; i++) {
        if (results->items[i].name == name && results->items[i].number > number)
            number = results->items[i].number;
    }
    return number + 1;
}
