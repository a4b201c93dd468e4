/* The parts of audit.h. */
#ifndef PATRA_ENGINE_AUDIT_AUDIT_INTERNAL_H
#define PATRA_ENGINE_AUDIT_AUDIT_INTERNAL_H

#include "engine/audit/audit.h"
#include "port/store_record_read.h"

/* ---- one table ---- */

struct record_type_list {
    struct record_type *items;
    size_t count;
};

struct audit {
    const struct audit_request *request;
    struct arena *arena; /* of the result */
    size_t table;
    const struct projection_table *spec;
    struct record_type_list types; /* of the records that it shows */
    struct key_buckets buckets;
    struct audit_result *result;
};

/* Keys of other services are not compared; those of a type that nothing takes are extra. */
bool audit_is_compared(const struct audit *audit, struct str type);

/* ---- both sides of some buckets ---- */

/* How many keys are read at once, and the room for both sides of them. */
enum { AUDIT_PICKED_KEYS = 500000 };
#define AUDIT_BYTES_MAX ((size_t)1 << 30)

struct audit_sides {
    struct sink_seen_list wanted; /* by key */
    struct sink_seen_list found;
};

bool audit_sides_read(const struct audit *audit, struct arena *arena, struct str marks,
                      struct audit_sides *sides, struct error *err) MUST_CHECK;

/* By type and id, by bytes. */
int audit_key_order(const struct sink_key *a, const struct sink_key *b);

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
