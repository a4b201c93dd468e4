/* parts: what several boards show. */
#ifndef PATRA_SERVE_PAGE_PARTS_H
#define PATRA_SERVE_PAGE_PARTS_H

#include "port/store_run.h"
#include "serve/page/page.h"
#include "view/batch.h"
#include "view/gate.h"
#include "view/strip.h"

/* A strip: hand-made SVG. What is not covered is a link to its task; each piece has its words. */
void part_strip(struct html *h, const struct view_strip *strip);
/* The same as a table: the pieces that are not covered. */
void part_holes(struct html *h, const struct view_strip *strip, int64_t now_us);

/* Runs as bars over the time from the first to the last, a lane for each name. */
struct timeline_bar {
    struct str lane;
    struct str label;
    struct str path;
    const char *tone; /* good, warn, bad, busy */
    int64_t from_us;
    int64_t to_us;
};
struct timeline {
    struct timeline_bar *items;
    size_t count;
    struct window window;
};
bool timeline_add(struct timeline *timeline, struct arena *arena, struct str lane,
                  const struct run *run, int64_t now_us) MUST_CHECK;
void part_timeline(struct html *h, const struct timeline *timeline, const char *caption);

/* Texts of errors: personal data is masked, as everywhere. */
void part_error(struct html *h, struct str text);
void table_error(struct table *t, struct str text);

/* "3.20 of 5.00/s", "12 of 50,000", "open". */
void part_rate(struct html *h, const struct view_gate *gate);
void part_quota(struct html *h, const struct gate_view_quota *quota, int64_t now_us);
void part_block(struct html *h, const struct view_gate *gate, int64_t now_us);

/* Name and value, next to each other. */
void facts_open(struct html *h);
void fact(struct html *h, const char *name); /* its value follows, then fact_end() */
void fact_end(struct html *h);
void fact_text(struct html *h, const char *name, struct str text);
void fact_number(struct html *h, const char *name, int64_t number);
void facts_close(struct html *h);

/* Where a trace failed, and what to type next. */
struct view_trace;
void part_failing(struct html *h, const struct view_trace *trace);

/* Operations that several boards have. */
void part_pause(struct html *h, struct call *call, struct str source, bool is_paused);
void part_trigger(struct html *h, struct call *call, struct str source);
void part_update(struct html *h, struct call *call, struct str source, struct str id);

/* A choice of a source, for a form of a filter. */
bool part_source_choice(struct html *h, struct call *call, struct str chosen, bool with_all,
                        struct error *err) MUST_CHECK;
/* A choice of a word of a table. */
void part_code_choice(struct html *h, const char *name, const char *label,
                      const struct code_table *codes, int chosen);

#endif
