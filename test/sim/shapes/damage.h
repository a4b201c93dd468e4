/* damage: structural changes of an upstream's answers, made on their trees.
 *
 * One change of one kind, chosen by chance: of one response only, of every response from some
 * point on, or of every response to one request.
 */
#ifndef PATRA_TEST_SIM_SHAPES_DAMAGE_H
#define PATRA_TEST_SIM_SHAPES_DAMAGE_H

#include "shape.h"

enum damage_scope {
    DAMAGE_ONCE,    /* one response */
    DAMAGE_LASTING, /* that response and all after it */
    DAMAGE_PAGE,    /* that response, and all others to the same request */
    DAMAGE_SCOPES,
};

struct damage_input {
    const struct shape *shape;
    struct arena *arena;
    struct random *random;
    struct answer *answer; /* to change */
};

/* What a change may look like to a reader who knows only the source. */
enum damage_look {
    LOOK_BROKEN,    /* no valid upstream sends this */
    LOOK_SHORTER,   /* a valid page with fewer records */
    LOOK_EMPTY,     /* a valid page without records */
    LOOK_EMPTY_XML, /* ... in XML, where a container may have elements of several names */
    LOOK_NO_LIST,   /* ... where the source says that an empty page has no list */
};

struct damage_kind {
    const char *name;
    /* False: this answer does not have what would be changed, and is to be sent as it was. */
    bool (*apply)(const struct damage_input *in);
    enum damage_look look;
};

extern const struct damage_kind damage_kinds[];
extern const size_t damage_kind_count;

struct damage {
    size_t kind; /* index of damage_kinds */
    enum damage_scope scope;
    int64_t from; /* the first response that may be changed, by its number */
    bool is_over;
    uint64_t seed;
    char key[2048];    /* PAGE: of the request; empty: not yet known */
    int64_t hits;      /* responses that were changed */
    int64_t list_hits; /* of these, pages of the list */
    int64_t last_hits; /* of these, pages that do not say that there are more */
    int64_t left_out;  /* records that pages lacked in the end, each time */
};

const char *damage_scope_name(enum damage_scope scope);

/* Why nobody can see from outside that records are missing: the changed answers are those of a
 * valid upstream that has fewer. NULL: it can be seen. */
const char *damage_unseen(const struct shape *shape, const struct damage *damage);
/* The most records that may be missing for that reason. */
int64_t damage_unseen_max(const struct shape *shape, const struct damage *damage);

/* The doubts of runs, as bits. */
enum {
    DOUBT_NEXT = 1,
    DOUBT_TOTAL = 2,
    DOUBT_REPEATS = 4,
};
/* 0: there is no doubt of this name. */
unsigned damage_doubt_named(struct str name);
/* The doubts that explain a loss by this damage: those about the part of the response that was
 * damaged, and only where the source cannot know better. */
unsigned damage_doubts(const struct shape *shape, const struct damage *damage);

/* For shape_api.change, with the damage as its context; the api's shape is in `shape`. */
struct damager {
    struct damage damage;
    const struct shape *shape;
};
void damage_answer(void *context, struct arena *arena, struct answer *answer);

#endif
