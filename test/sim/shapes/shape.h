/* shape: a source by chance, and the upstream that it describes.
 *
 * All ways of paging, in JSON and XML, with and without a total, has_more, dates, a namespace and
 * a second phase. The upstream knows the truth: its records. It writes each response as a tree
 * (tree.h), hands the tree to `change`, which may damage it, and sends what is left.
 */
#ifndef PATRA_TEST_SIM_SHAPES_SHAPE_H
#define PATRA_TEST_SIM_SHAPES_SHAPE_H

#include "core/window.h"
#include "page_need.h"
#include "random.h"
#include "scripted_http.h"
#include "tree.h"

enum shape_end { END_NULL, END_ABSENT, END_EMPTY, SHAPE_ENDS };

struct shape {
    enum need_paging paging;
    bool is_xml;
    bool has_space;        /* XML: all elements are of a namespace */
    int depth;             /* of the list: 0 the body itself, 1 $.items, 2 $.data.items */
    bool has_total;        /* the source declares it */
    bool total_first_only; /* only the first page has one */
    bool has_more;         /* the source declares it */
    enum shape_end end;    /* how the last page says that there is no next one */
    bool omits_empty_list; /* a page without records has no list */
    bool is_wild;          /* JSON: the path of the list selects its elements, $.items[*] */
    bool has_dates;
    bool two_phases;
    bool bare_ids; /* two phases: the list has ids, not objects with one */
    bool number_ids;
    bool has_error_rule;
    int size;
    int id_batch;
};

#define SHAPE_SPACE "urn:example:list"

void shape_random(struct shape *shape, struct random *random);
/* The source's file, of code "demo"; its records are of the endpoint shape_endpoint(). */
struct str shape_source(const struct shape *shape, struct arena *arena);
const char *shape_endpoint(const struct shape *shape);
struct str shape_describe(const struct shape *shape, struct arena *arena);

/* ---- the upstream ---- */

enum { SHAPE_RECORDS_MAX = 200 };

struct shape_record {
    int64_t updated_us;
    int64_t revision; /* a number that its content has and no other */
};

struct answer { /* a response before it is written */
    struct tree *root;
    const char *space; /* XML: NULL for none */
    bool is_detail;    /* of phase two */
    bool in_header;    /* next is in a header, not in the tree */
    struct str next;   /* then: its value; data NULL: no header */
    struct str sent;   /* the token or URL that was requested; data NULL: none */
    struct str key;    /* equal for equal requests */
    int64_t number;    /* of all responses, from 1 */
};

struct shape_api {
    struct scripted_http http;
    const struct shape *shape;
    struct shape_record records[SHAPE_RECORDS_MAX];
    int count;
    int64_t requests;
    /* Called for each response; may change it. */
    void (*change)(void *context, struct arena *arena, struct answer *answer);
    void *context;
};

void shape_api_init(struct shape_api *api, const struct shape *shape, struct clock *clock);
void shape_api_release(struct shape_api *api);

struct str shape_id(const struct shape *shape, struct arena *arena, int number);
/* The list of an answer; NULL: it has none (any more). */
struct tree *shape_list(const struct shape *shape, const struct answer *answer);
/* The first answer to a request for this window. */
void shape_first_answer(const struct shape_api *api, struct arena *arena, struct window window,
                        struct answer *answer);

/* The requests that a walk over these windows needs. */
int64_t shape_need(const struct shape_api *api, const struct window *windows, size_t count);

#endif
