/* plan: plans and what became of them, as people and programs see them. */
#ifndef PATRA_VIEW_PLAN_H
#define PATRA_VIEW_PLAN_H

#include "core/id_range.h"
#include "data/json_write.h"
#include "port/store_plan.h"
#include "port/store_schedule.h"
#include "view/plan_rest.h"
#include "view/reader.h"

/* ---- a list ---- */

struct view_plan_row {
    struct plan plan;
    struct plan_progress progress;
    struct plan_rest rest;
};

struct view_plan_list {
    struct view_plan_row *items; /* the newest first */
    size_t count;
    bool is_full; /* as many as filter.limit allows: there may be older ones */
};

/* "source.unknown" where the filter names a source that does not exist. */
bool view_plan_list(const struct view_reader *reader, const struct plan_filter *filter,
                    struct view_plan_list *list, struct error *err) MUST_CHECK;
void view_plan_list_write(struct json_writer *w, const struct view_plan_list *list);

/* Whether a plan chose its records by id. Its window then only paces it, and says nothing about
 * what it covers. */
bool view_plan_is_by_id(const struct plan *plan);

/* ---- one plan ---- */

struct view_slice {
    struct plan_slice slice;
    struct id_range ids; /* the ids of its window that it covers; not valid: all of them */
};

struct view_slice_list {
    struct view_slice *items; /* by number */
    size_t count;
    bool has_ids; /* at least one slice covers only some ids of its window */
};

/* Why a plan has no slices, or fewer than its window needs: words of its remarks, '' where they do
 * not say. */
struct view_plan_remarks {
    struct str empty;   /* its window came out empty */
    struct str idle;    /* there was nothing to plan */
    struct str stopped; /* the budget that ended planning */
    struct str error;
    struct str feed;  /* of a feed: ID or TOKEN */
    struct str after; /* of a feed: what it continues from; '' = the beginning */
};

struct view_plan {
    struct plan plan;
    struct plan_progress progress;
    struct plan_rest rest;
    bool has_trigger;
    struct schedule_instance trigger; /* what fired it */
    struct view_plan_remarks remarks;
    struct view_slice_list slices;
};

struct view_plan_filter {
    int64_t id;
    int64_t after_number; /* slices from the first above this number */
    int64_t slices_max;
};

/* Only the plan's row. "plan.id" (L2) when there is no such plan. */
bool view_plan_find(const struct view_reader *reader, int64_t id, struct plan *plan,
                    struct error *err) MUST_CHECK;

bool view_plan(const struct view_reader *reader, const struct view_plan_filter *filter,
               struct view_plan *view, struct error *err) MUST_CHECK;
void view_plan_write(struct json_writer *w, const struct view_plan *view);

#endif
