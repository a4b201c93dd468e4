/* From a source's settings to the terms in which slices are cut. */
#include "engine/slice/slicing.h"

#include "core/limits.h"

/* What an open-ended source lists beyond a slice is read with every slice: one slice is the
 * cheapest, however long it is. */
struct slice_cut slicing_cut(const struct spec *spec)
{
    const struct spec_window *window = &spec->endpoint.window;

    return (struct slice_cut){ .max_us =
                                   spec_is_open_ended(spec) ? WINDOW_SPAN_MAX_US : window->max_us,
                               .min_us = window->min_us,
                               .overlap_us = window->overlap_us,
                               .align = window->align,
                               .granularity = window->granularity };
}

struct slice_cost slicing_cost(const struct spec *spec)
{
    return (struct slice_cost){ .page_size = spec->endpoint.page.size,
                                .id_batch_size =
                                    spec->is_two_phase ? spec->detail.batch.id_batch_size : 0 };
}

bool slicing_ids(const struct spec *spec, struct id_range part, struct reslice_ids_request *request)
{
    const struct spec_page *page = &spec->endpoint.page;

    *request = (struct reslice_ids_request){
        .ids = part, .id_min = page->id_min, .id_max = page->id_max, .record_cap = page->cap
    };
    return page->id_max > 0;
}

bool slicing_can_cut(const struct slice *slice, const struct spec *spec, size_t id_count)
{
    struct page_range children[2];
    struct reslice out;

    switch (slice->dimension) {
    case SLICE_TIME:
        if (id_range_is_valid(slice->part))
            return false; /* its window was already too short to cut */
        if (spec_is_open_ended(spec))
            return false; /* the pieces would cost as much as the whole */
        reslice_time(&(struct reslice_request){ .window = slice->window,
                                                .cut = slicing_cut(spec),
                                                .record_cap = spec->endpoint.page.cap },
                     &out);
        return out.count > 1;
    case SLICE_PAGE:
        return reslice_pages(slice->pages, slice->pages.from, children);
    case SLICE_ID:
        break;
    case SLICE_FEED:
    case SLICE_FILE:
        return false; /* where it could be cut is unknown */
    }
    return id_count > 1;
}

bool slicing_can_cut_ids(const struct slice *slice, const struct spec *spec)
{
    struct reslice_ids_request request;
    struct reslice_ids out;

    if (slice->dimension != SLICE_TIME || !slicing_ids(spec, slice->part, &request))
        return false;
    reslice_ids(&request, &out);
    return out.count > 0;
}
