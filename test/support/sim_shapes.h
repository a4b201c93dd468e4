/* sim_shapes: the sources that are tried against patra-sim, and the faults they are tried with.
 *
 * A shape is a source's file, pointed at the simulator and made quick: small pages, retries within
 * milliseconds. There is one for every way of paging (test/data/sim-sources) and one for each
 * source that is shipped.
 */
#ifndef PATRA_TEST_SUPPORT_SIM_SHAPES_H
#define PATRA_TEST_SUPPORT_SIM_SHAPES_H

#include "child.h"
#include "core/codes.h"
#include "core/window.h"
#include "page_need.h"
#include "port/http.h"
#include "sim_truth.h"
#include "spec/edit.h"

/* The window that is tried; the world is SIM_WORLD. */
#define SIM_FROM "2026-01-10T00:00:00Z"
#define SIM_TO "2026-01-13T00:00:00Z"
#define SIM_TO_SHORT "2026-01-11T00:00:00Z" /* where a day will do */

#define SIM_WORLD "--records", "6000", "--burst-ppm", "300000", "--audit-off", "repeat"

enum { SIM_SHAPES = 23, SIM_FAULTS = 52 };

/* Where a response has what a fault changes (kind=reshape): names of members or elements, "" for
 * the whole body; NULL: it has none. */
struct sim_members {
    const char *list;
    const char *total;
    const char *next;
    const char *title; /* any content of a record */
};

struct sim_shape {
    const char *name;
    const char *file;
    const char *source;          /* its code */
    const char *endpoint;        /* whose records are kept */
    const char *path;            /* base_url, after the server's */
    const char *protocol;        /* of the truth */
    const char *detail_protocol; /* of its records by id, where that differs; else NULL */
    int64_t date_us;             /* to which the answers tell dates; 0: they tell none */
    const char *to;
    const char *long_slices; /* the setting that makes slices a day long; NULL: they are */
    const char *update;      /* the operation by id; NULL: there is none */
    const char *page_path;   /* of the requests that page, where there are others; else NULL */
    const char *total_path;  /* of those that tell a total; NULL: the same */
    enum cursor_type feed;   /* what a feed is read by; TIME: it is none */
    struct sim_members members;
    struct page_need need; /* of a slice; records is not set */
    int64_t overlap_us;    /* how long before their slice its queries begin */
    struct edit edits[3];  /* with small pages, so that a day has one in the middle */
};

struct sim_fault {
    const char *name;
    const char *rule;
    bool is_slow; /* waits of real seconds: not tried on every shape by walks on real time */
};

extern const struct sim_shape sim_shapes[SIM_SHAPES];
extern const struct sim_fault sim_faults[SIM_FAULTS];

/* The changes that make a source this shape. They live in the arena. */
struct edit_list sim_shape_edits(struct arena *arena, const struct sim *sim,
                                 const struct sim_shape *shape, bool with_long_slices);

/* The requests that a slice needs, by the truth. A window that is not valid: all records. */
int64_t sim_shape_need(const struct sim_shape *shape, const struct sim_truth *truth,
                       struct window window);

/* The fault's rule for this shape. LIST, TOTAL, NEXT and TITLE stand for its members of these
 * names, ID for the id of a record. A fault of a member that it does not have hits nothing. What is
 * wrong with a page affects pages, not the requests between them. Every scroll has a token of its
 * own, so that "the first attempt at each page" would be each page of each scroll for ever: there
 * the second and third requests are spoilt.
 */
struct str sim_fault_rule(struct arena *arena, const struct sim_shape *shape,
                          const struct sim_fault *fault, struct str id);

/* What cannot be seen from outside, so that a harvest under this fault may hold it unnoticed;
 * NULL: all of it can be seen. */
const char *sim_fault_unseen(const struct sim_shape *shape, const struct sim_fault *fault);

/* Why this fault changes nothing for this shape, or nothing that matters; NULL: it must be noticed.
 */
const char *sim_fault_idle(const struct sim_shape *shape, const struct sim_fault *fault);

/* Whether a name is in a list of names between blanks. */
bool sim_names_have(const char *names, const char *name);

/* Asks the simulator; the test ends when it does not answer 200. */
struct str sim_ask(struct http *http, struct arena *arena, const struct sim *sim,
                   const char *method, const char *path, const char *body);
/* Forgets all rules, and follows this one unless it is NULL. */
void sim_set_fault(struct http *http, struct arena *arena, const struct sim *sim, const char *rule);

#endif
