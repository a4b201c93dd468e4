/* Runs as bars over time. */
#include <inttypes.h>

#include "base/instant.h"
#include "base/list.h"
#include "serve/page/parts.h"

enum { WIDTH = 1000, LANE = 22, LANES_MAX = 40, LEAST = 4 };

static const char *tone_of(enum run_status status)
{
    switch (status) {
    case RUN_SUCCEEDED:
        return "covered";
    case RUN_FAILED:
        return "failed";
    case RUN_PARTIAL:
    case RUN_CANCELLED:
        return "retrying";
    case RUN_PLANNED:
    case RUN_RUNNING:
        break;
    }
    return "live";
}

bool timeline_add(struct timeline *timeline, struct arena *arena, struct str lane,
                  const struct run *run, int64_t now_us)
{
    struct timeline_bar *bar = LIST_ADD(arena, timeline);
    char began[INSTANT_TEXT_MAX];

    if (bar == NULL)
        return false;
    began[instant_format(run->started_us, began)] = '\0';
    *bar = (struct timeline_bar){
        .lane = lane,
        .label = arena_printf(arena, "run %" PRId64 " of task %" PRId64 ", %.*s, began %s", run->id,
                              run->task_id, STR_ARG(code_of(&RUN_STATUS_CODES, (int)run->status)),
                              began),
        .path = arena_printf(arena, "/runs/task/%" PRId64, run->task_id),
        .tone = tone_of(run->status),
        .from_us = run->started_us,
        .to_us = run->finished_us > 0 ? run->finished_us : now_us,
    };
    if (timeline->count == 1 || bar->from_us < timeline->window.from_us)
        timeline->window.from_us = bar->from_us;
    if (timeline->count == 1 || bar->to_us > timeline->window.to_us)
        timeline->window.to_us = bar->to_us;
    return !arena->failed;
}

static int lane_of(struct str lanes[LANES_MAX], int *count, struct str name)
{
    for (int i = 0; i < *count; i++) {
        if (str_eq(lanes[i], name))
            return i;
    }
    if (*count == LANES_MAX)
        return LANES_MAX - 1; /* the last one has the rest */
    lanes[*count] = name;
    return (*count)++;
}

static void write_bar(struct html *h, const struct timeline *timeline,
                      const struct timeline_bar *bar, int lane)
{
    const double length = (double)window_length_us(timeline->window);
    const double from = (double)(bar->from_us - timeline->window.from_us) / length;
    const double to = (double)(bar->to_us - timeline->window.from_us) / length;
    int64_t x = (int64_t)(from * WIDTH), width = (int64_t)(to * WIDTH) - x;

    width = width < LEAST ? LEAST : width;
    x = x + width > WIDTH ? WIDTH - width : x;
    html_start(h, "a");
    html_href(h, bar->path);
    html_attr(h, "aria-label", bar->label);
    html_class(h, "rect", bar->tone);
    html_attrf(h, "x", "%" PRId64, x);
    html_attrf(h, "y", "%d", lane * LANE + 3);
    html_attrf(h, "width", "%" PRId64, width);
    html_attrf(h, "height", "%d", LANE - 6);
    html_element(h, "title", bar->label);
    html_end(h);
    html_end(h);
}

void part_timeline(struct html *h, const struct timeline *timeline, const char *caption)
{
    struct str lanes[LANES_MAX];
    int count = 0;

    if (timeline->count == 0 || !window_is_valid(timeline->window))
        return;
    for (size_t i = 0; i < timeline->count; i++)
        (void)lane_of(lanes, &count, timeline->items[i].lane);
    html_class(h, "div", "timeline");
    html_class(h, "ul", "lanes");
    for (int i = 0; i < count; i++)
        html_element(h, "li", lanes[i]);
    html_end(h);
    html_start(h, "svg");
    html_attrf(h, "viewBox", "0 0 %d %d", WIDTH, count * LANE);
    html_attrf(h, "height", "%d", count * LANE);
    html_attr(h, "preserveAspectRatio", STR("none"));
    html_attr(h, "role", STR("group"));
    html_attr(h, "aria-label", str_of(caption));
    for (size_t i = 0; i < timeline->count; i++)
        write_bar(h, timeline, &timeline->items[i],
                  lane_of(lanes, &count, timeline->items[i].lane));
    html_end(h);
    html_class(h, "p", "scale");
    html_start(h, "span");
    show_instant(h, timeline->window.from_us);
    html_end(h);
    html_start(h, "span");
    show_instant(h, timeline->window.to_us);
    html_end(h);
    html_end(h);
    html_end(h);
}
