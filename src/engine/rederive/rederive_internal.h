/* What the files of engine/rederive share. */
#ifndef PATRA_ENGINE_REDERIVE_REDERIVE_INTERNAL_H
#define PATRA_ENGINE_REDERIVE_REDERIVE_INTERNAL_H

#include "base/uuid.h"
#include "engine/rederive/rederive.h"
#include "port/store_expr.h"
#include "spec/snapshot.h"
#include "spec/spec.h"

/* Records of one expression, and how they are read now. */
struct rederive_group {
    struct str endpoint; /* under which they are stored */
    struct expr old;
    const struct spec_endpoint *from; /* the mapping that read them */
    const struct spec_endpoint *to;   /* the present one */
    char new_hash[HASH_HEX_MAX];      /* the old query, the present mapping */
};

struct rederiving {
    struct store *store;
    struct arena *arena; /* the caller's: results */
    struct arena page;   /* ended with each page */
    const struct rederive_request *request;
    struct rederive_result *result;
    struct uuid_state event_ids;
};

/* Pages of a group, to its end or to the end of the budget. */
bool rederive_group_run(struct rederiving *r, const struct rederive_group *group,
                        struct error *err) MUST_CHECK;

/* The record that differs, for the examples. */
struct rederive_difference {
    struct str id;
    struct str name;
    struct str from;
    struct str to;
};

/* Counts a value that differs; keeps the first few as examples. */
bool rederive_note(struct rederiving *r, const struct rederive_difference *difference,
                   struct error *err) MUST_CHECK;

/* Compares two objects of output fields and notes each member that differs. '' = no fields. */
bool rederive_compare(struct rederiving *r, struct str id, struct str from, struct str to,
                      bool *differ, struct error *err) MUST_CHECK;

#endif
