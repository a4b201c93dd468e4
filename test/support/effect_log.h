/* effect_log: a target of consumers that writes a row per event into a table of the sink, and fails
 * on demand. The table says what took effect, how often and in which order.
 */
#ifndef PATRA_TEST_SUPPORT_EFFECT_LOG_H
#define PATRA_TEST_SUPPORT_EFFECT_LOG_H

#include "engine/consume/target.h"

struct effect_log {
    struct store *sink;
    const char *refuse;             /* ids that contain this are refused by the table; NULL: none */
    int64_t refuse_from;            /* ... from this version on */
    const char *unfit;              /* ids that contain this cannot be made into rows; NULL: none */
    bool is_broken;                 /* the table is not there (L4) */
    int64_t writes;                 /* calls, also those that failed */
    void (*on_make)(void *context); /* before the transaction; NULL: nothing */
    void *context;
    bool forgets_one; /* a bug: what follows a refusal lacks its last event */
    bool was_refused;
};

void effect_log_make(const char *dsn); /* the table */
struct consume_target effect_log_target(struct effect_log *log);

struct effect {
    struct str aggregate_id;
    int64_t version;
};
struct effect_list {
    struct effect *items; /* in the order in which they were written */
    size_t count;
};
struct effect_list effect_log_read(struct store *store, struct arena *arena);

/* The versions of a key, in that order: "1 2 3". */
struct str effect_log_versions(struct store *store, struct arena *arena, const char *id);

#endif
