/* The parts of audit.h. */
#ifndef PATRA_ENGINE_AUDIT_AUDIT_INTERNAL_H
#define PATRA_ENGINE_AUDIT_AUDIT_INTERNAL_H

#include "engine/audit/audit.h"

/* ---- a side: keys in the order of type and id, page by page ---- */

struct audit_type {  /* of the records of an endpoint */
    struct str name; /* "crossref/works" */
    struct str source;
    struct str endpoint;
};

struct audit_type_list {
    struct audit_type *items; /* by name, by bytes */
    size_t count;
};

struct audit_side {
    const struct audit_request *request;
    size_t table;
    const struct audit_type_list *types; /* NULL: the table's side */
    size_t type;                         /* that is being read */
    struct arena pages[2];               /* the page that is read, and the key it began after */
    struct sink_key after;
    const struct sink_seen *items; /* of the page */
    size_t count;
    size_t at;
    bool is_last;
};

void audit_side_init(struct audit_side *side, const struct audit_request *request, size_t table,
                     const struct audit_type_list *types);
void audit_side_release(struct audit_side *side);

/* *seen is the next key, or NULL after the last; valid until the next call. */
bool audit_side_next(struct audit_side *side, const struct sink_seen **seen,
                     struct error *err) MUST_CHECK;

/* ---- one key ---- */

struct audit_state {
    int64_t record_id; /* 0: there is no record */
    int64_t wanted;
    bool is_deleted;
    int64_t found; /* 0: the table knows nothing of it */
    bool is_gone;
    bool is_behind;
};

/* As it is now. */
bool audit_look(const struct audit_request *request, struct arena *arena, size_t table,
                const struct sink_key *key, struct audit_state *state,
                struct error *err) MUST_CHECK;

/* Whether the state is a difference, and which. */
bool audit_is_wrong(const struct audit_request *request, size_t table,
                    const struct audit_state *state, enum audit_kind *kind);

/* Whether a filter decides if a key has a row. */
bool audit_has_filter(const struct projection_table *table);

#endif
