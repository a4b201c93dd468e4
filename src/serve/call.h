/* call: one request on its way through its route. What a route's function gets, and gives back.
 *
 *      static bool show_task(struct call *call, struct error *err)
 *      {
 *          const struct view_task_filter filter = { .id = call_number(call, "task") };
 *          struct view_task view;
 *
 *          if (!view_task(&call->reader, &filter, &view, err))
 *              return false;
 *          view_task_write(&call->w, &view);
 *          return true;
 *      }
 */
#ifndef PATRA_SERVE_CALL_H
#define PATRA_SERVE_CALL_H

#include "data/json_write.h"
#include "serve/access.h"
#include "serve/api.h"
#include "serve/params.h"
#include "view/reader.h"

struct call {
    struct api *api;
    int seat;
    const struct route *route;
    const struct web_request *request;
    struct target target;
    bool is_form; /* a page's form: its body is `form`, and a page answers it */
    struct target form;
    struct param_value values[PARAMS_MAX];
    struct access access;
    struct view_reader reader; /* the seat's store, the request's arena */
    struct web_response *response;
    struct buf body;      /* the response's */
    struct json_writer w; /* into it; routes of another type than JSON write into the body */
};

/* Parameters, by the name in the route's table. */
bool call_has(const struct call *call, const char *name);
struct str call_text(const struct call *call, const char *name); /* '': not given */
int64_t call_number(const struct call *call, const char *name);
bool call_flag(const struct call *call, const char *name);
const struct param_value *call_value(const struct call *call, const char *name);

/* The list goes on: `Link: <...?after=AFTER>; rel="next"`, with the other parameters as they were.
 * The place is the route's parameter `name`. */
void call_next(struct call *call, const char *name, struct str place);
void call_next_row(struct call *call, const char *name, int64_t row);

/* The store's clock, which leases and quotas are kept by. */
bool call_clock(struct call *call, int64_t *now_us, struct error *err) MUST_CHECK;

/* The same, to plan by: refused where it cannot be believed (engine/session/store_time.h). */
bool call_time(struct call *call, int64_t *now_us, struct error *err) MUST_CHECK;

/* Who asks, for what is written down: "token ops". */
struct str call_who(const struct call *call);

/* Several routes have these. */
#define PARAM_LIMIT(most_, otherwise_)                                                       \
    {                                                                                        \
        .name = "limit", .place = IN_QUERY, .kind = PARAM_NUMBER, .least = 1, .most = most_, \
        .otherwise = otherwise_, .help = "At most this many."                                \
    }
#define PARAM_AFTER(help_)                                                                         \
    {                                                                                              \
        .name = "after", .place = IN_QUERY, .kind = PARAM_NUMBER, .most = INT64_MAX, .help = help_ \
    }
#define PARAM_ROW(name_, help_)                                                               \
    {                                                                                         \
        .name = name_, .place = IN_PATH, .kind = PARAM_NUMBER, .least = 1, .most = INT64_MAX, \
        .help = help_                                                                         \
    }
#define PARAM_WORD(name_, place_, help_)                                  \
    {                                                                     \
        .name = name_, .place = place_, .kind = PARAM_TEXT, .help = help_ \
    }
#define PARAM_SWITCH(name_, place_, help_)                                \
    {                                                                     \
        .name = name_, .place = place_, .kind = PARAM_FLAG, .help = help_ \
    }

#endif
