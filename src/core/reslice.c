/* reslice: dividing the rest of a slice by time, pages or ids. */
#include "core/reslice.h"

#include <assert.h>

#include "base/instant.h"
#include "core/align.h"

static struct window rest_of(const struct reslice_request *r)
{
    if (!window_is_valid(r->finished))
        return r->window;
    assert(window_contains(r->window, r->finished));
    if (r->finished.from_us == r->window.from_us)
        return (struct window){ r->finished.to_us, r->window.to_us };
    assert(r->finished.to_us == r->window.to_us);
    return (struct window){ r->window.from_us, r->finished.from_us };
}

/* The number of equal parts: a power of two. */
static int64_t part_count(enum reslice_reason reason, int64_t total, int64_t record_cap)
{
    int64_t parts = 2;

    if (reason != RESLICE_OVER_CAP || total <= 0 || record_cap <= 0)
        return parts;
    while (parts < RESLICE_CHILDREN_MAX && total / parts > record_cap / 4 * 3)
        parts *= 2;
    return parts;
}

/* A cut near `at` that leaves `least` on both sides: on a calendar boundary if possible, else on a
 * step of the source's granularity. Returns `from` if there is none. */
static int64_t cut_near(int64_t at_us, struct window rest, const struct slice_cut *cut,
                        int64_t least_us)
{
    const int64_t granule_us = granularity_us(cut->granularity);
    const int64_t candidates[] = {
        align_floor(at_us, cut->align),
        align_ceil(at_us, cut->align),
        instant_floor(at_us, granule_us),
        instant_floor(at_us, granule_us) + granule_us,
    };

    /* Without a calendar every instant is a boundary. The source's steps still count: otherwise
     * both neighbours would request the step that was cut. */
    for (size_t i = cut->align == ALIGN_NONE ? 2 : 0; i < ARRAY_LEN(candidates); i++) {
        if (candidates[i] - rest.from_us >= least_us && rest.to_us - candidates[i] >= least_us)
            return candidates[i];
    }
    return rest.from_us;
}

void reslice_time(const struct reslice_request *r, struct reslice *out)
{
    const struct window rest = rest_of(r);
    const int64_t granule_us = granularity_us(r->cut.granularity);
    const int64_t least_us = r->cut.min_us > granule_us ? r->cut.min_us : granule_us;
    const int64_t parts = part_count(r->reason, r->total, r->record_cap);
    struct window left = rest; /* not assigned to a child yet */

    assert(window_is_valid(rest));
    assert(least_us > 0);
    assert(window_length_us(rest) <= INT64_MAX / RESLICE_CHILDREN_MAX);
    out->count = 0;
    for (int64_t i = 1; i < parts; i++) {
        const int64_t even_us = rest.from_us + window_length_us(rest) * i / parts;
        const int64_t cut_us = cut_near(even_us, left, &r->cut, least_us);

        if (cut_us == left.from_us)
            continue;
        out->children[out->count++] = (struct window){ left.from_us, cut_us };
        left.from_us = cut_us;
    }
    /* A single child makes sense only if the parent finished something. */
    if (out->count > 0 || window_is_valid(r->finished))
        out->children[out->count++] = left;
}

bool reslice_pages(struct page_range pages, int64_t finished, struct page_range children[2])
{
    const int64_t left = pages.to - finished;

    assert(finished >= pages.from);
    if (left < 2)
        return false;
    children[0] = (struct page_range){ finished, finished + left / 2 };
    children[1] = (struct page_range){ finished + left / 2, pages.to };
    return true;
}

void reslice_ids(const struct reslice_ids_request *r, struct reslice_ids *out)
{
    const struct id_range all = { ID_LOWEST, ID_HIGHEST };
    const struct id_range own = id_range_is_valid(r->ids) ? r->ids : all;
    const int64_t first = own.from > r->id_min ? own.from : r->id_min;
    const int64_t end = own.to <= r->id_max ? own.to : r->id_max + 1;
    const int64_t width = end - first;
    int64_t parts = part_count(r->reason, r->total, r->record_cap);
    int64_t from = own.from;

    assert(0 <= r->id_min && r->id_min <= r->id_max && r->id_max <= ID_VALUE_MAX);
    out->count = 0;
    if (width < 2)
        return;
    if (parts > width)
        parts = width;
    for (int64_t i = 1; i < parts; i++) {
        const int64_t cut = first + width * i / parts;

        out->children[out->count++] = (struct id_range){ from, cut };
        from = cut;
    }
    out->children[out->count++] = (struct id_range){ from, own.to };
}
