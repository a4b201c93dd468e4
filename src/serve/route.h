/* route: the API as a table.
 *
 * A route is a row: method, path, parameters, who may call it, what it does. The same rows find the
 * function of a request, check its parameters, and make the OpenAPI description (openapi.h), so
 * that these always agree.
 */
#ifndef PATRA_SERVE_ROUTE_H
#define PATRA_SERVE_ROUTE_H

#include "base/attr.h"
#include "base/error.h"
#include "core/codes.h"

enum param_place { IN_PATH, IN_QUERY, IN_BODY };

enum param_kind {
    PARAM_TEXT,
    PARAM_NUMBER,  /* whole, from `least` to `most` */
    PARAM_INSTANT, /* a date, or how long ago (7d) */
    PARAM_SPAN,    /* a duration */
    PARAM_CODE,    /* a word of `codes`, in any case */
    PARAM_FLAG,
    PARAM_TEXTS, /* body only: an array of texts */
    PARAM_ROWS,  /* body only: an array of numbers from 1 */
    PARAM_PAIRS, /* body only: an object whose values are texts */
};

struct param {
    const char *name;
    enum param_place place;
    enum param_kind kind;
    bool is_required; /* those of a path always are */
    int64_t least;    /* NUMBER */
    int64_t most;     /* NUMBER; of texts: bytes, 0 = PARAM_TEXT_MAX; of arrays: items */
    int64_t otherwise;
    const struct code_table *codes;
    const char *help; /* one sentence */
};

enum { PARAMS_MAX = 14, PARAM_TEXT_MAX = 1024, PARAM_ITEMS_MAX = 10000 };

enum route_access {
    ROUTE_FREE,    /* whether it lives: everybody */
    ROUTE_READS,   /* scope read; on this machine without a token */
    ROUTE_CHANGES, /* scope operate */
};

struct call;

#define PAGE_TYPE "text/html; charset=utf-8"

struct route {
    const char *method;
    const char *path;    /* "/v1/tasks/{task}" */
    const char *name;    /* operationId: "showTask" */
    const char *summary; /* one line */
    const char *command; /* the same on the command line: "patra task show TASK --json" */
    const char *type;    /* of the response; NULL: application/json */
    enum route_access access;
    struct param params[PARAMS_MAX]; /* ends at the first without a name */
    bool (*run)(struct call *call, struct error *err);
};

/* Whether it is a page for people; OpenAPI describes the others. */
bool route_is_page(const struct route *route);

/* All routes; a group is those of one file. */
struct route_group {
    const char *name;
    const struct route *routes;
    size_t count;
};
extern const struct route_group *const ROUTE_GROUPS[]; /* ends with NULL */

extern const struct route_group ROUTES_HEALTH;
extern const struct route_group ROUTES_WORK; /* sources, status, plans, tasks, runs, batches */
extern const struct route_group ROUTES_CURSORS;
extern const struct route_group ROUTES_RECORDS; /* records, why, quarantine, signals */
extern const struct route_group ROUTES_EVENTS;  /* the outbox and who reads it */
extern const struct route_group ROUTES_ALERTS;
extern const struct route_group ROUTES_CONTRACT;   /* aggregates for boards */
extern const struct route_group ROUTES_OPERATIONS; /* whatever changes something */
extern const struct route_group ROUTES_TRACE;      /* lineage, batches in full, coverage, changes */
extern const struct route_group ROUTES_PAGES;      /* the dashboard */

#endif
