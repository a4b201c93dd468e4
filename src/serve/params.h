/* params: the parameters of a request, read as the table of its route says (route.h). */
#ifndef PATRA_SERVE_PARAMS_H
#define PATRA_SERVE_PARAMS_H

#include "serve/route.h"
#include "serve/target.h"

struct param_value {
    bool is_given;
    struct str text;   /* TEXT */
    int64_t number;    /* NUMBER, INSTANT and SPAN (us), CODE; FLAG: 0 or 1 */
    struct str *texts; /* TEXTS; PAIRS: the values */
    struct str *names; /* PAIRS */
    int64_t *rows;     /* ROWS */
    size_t count;
};

struct params_input {
    const struct target *target;
    struct str body;           /* JSON */
    const struct target *form; /* not NULL: it has the parameters of the body */
    int64_t now_us;            /* "7d" is before this */
};

/* What a form has besides parameters: who sent it (session.h), and where the page was. */
#define FORM_KEY "form-key"
#define FORM_BACK "form-back"

/* Whether the path of the target is one of the route's. */
bool route_matches(const struct route *route, const struct target *target);

/* One value for each parameter of the route. "request.parameter" (L2) names the one that is
 * missing, unknown, given twice, or wrong; "request.body" (L2) for a body that is not an object. */
bool params_read(struct arena *arena, const struct route *route, const struct params_input *input,
                 struct param_value values[PARAMS_MAX], struct error *err) MUST_CHECK;

#endif
