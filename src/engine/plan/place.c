/* Compiles and names an operation as a trigger would, and reads its cursor. */
#include "engine/plan/place.h"

#include "core/align.h"
#include "engine/plan/draft.h"

static int64_t align_us_of(const struct spec_window *window, int64_t now_us)
{
    if (window->align == ALIGN_NONE)
        return 0;
    return align_next(now_us, window->align) - align_floor(now_us, window->align);
}

static bool describe(struct store *store, struct arena *arena, const struct plan_draft *draft,
                     struct plan_place *place, struct error *err)
{
    const struct spec_window *window = &draft->spec->endpoint.window;
    const struct plan *plan = &draft->plan;
    const struct cursor_name name = { plan->source, plan->operation, plan->cursor_key, plan->scope,
                                      plan->namespace_key };

    *place = (struct plan_place){
        .of = plan_namespace(plan),
        .dimension = draft->spec->operation.slice_by,
        .lag_us = window->lag_us,
        .align_us = align_us_of(window, draft->request->now_us),
    };
    place->of.late_us = spec_late_us(draft->spec);
    return plan->cursor_key.len == 0 ||
           store_cursor_load(store, arena, &name, &place->cursor, &place->has_cursor, err);
}

bool plan_place(struct store *store, struct arena *arena, const struct plan_request *request,
                struct plan_place *place, struct error *err)
{
    struct plan_draft *draft = ARENA_NEW(arena, struct plan_draft);
    bool ok;

    if (draft == NULL)
        return arena_error(arena, err);
    ok = draft_compile(store, arena, request, draft, err) && draft_name(arena, draft, err) &&
         describe(store, arena, draft, place, err);
    draft_release(draft);
    return ok;
}
