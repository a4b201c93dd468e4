/* Walks the archived batches of a source. */
#include "engine/reharvest/reharvest.h"

#include "core/limits.h"

enum { PAGE_BATCHES = 100 };

static bool run(struct reharvesting *r, struct error *err)
{
    const struct str source = r->request->source->registry.code;
    struct store_page page = { .limit = PAGE_BATCHES };
    struct archived_batch_list list;

    do {
        arena_reset(&r->list);
        if (!store_archive_batches(r->store, &r->list, source, page, &list, err))
            return false;
        for (size_t i = 0; i < list.count; i++) {
            if (!reharvest_batch(r, &list.items[i], err))
                return error_wrap(err, "batch %lld/%lld", (long long)list.items[i].run_id,
                                  (long long)list.items[i].number);
            page.after = list.items[i].id;
        }
    } while (list.count == PAGE_BATCHES);
    return true;
}

bool reharvest(struct store *store, const struct reharvest_request *request,
               struct reharvest_result *result, struct error *err)
{
    struct reharvesting r = { .store = store, .request = request, .result = result };
    bool ok;

    *result = (struct reharvest_result){ 0 };
    arena_init(&r.own, (size_t)PAGE_BYTES_MAX);
    arena_init(&r.page, (size_t)BATCH_BYTES_MAX);
    arena_init(&r.list, (size_t)PAGE_BYTES_MAX);
    ok = run(&r, err);
    arena_release(&r.list);
    arena_release(&r.page);
    arena_release(&r.own);
    return ok || error_wrap(err, "read the archive of %.*s again",
                            STR_ARG(request->source->registry.code));
}
