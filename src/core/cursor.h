/* cursor: how far an operation is, and which of two values is further.
 *
 * A cursor's current value is a convenience; its events are the truth. An event is written first,
 * then the current value moves, and only forward. So the value can always be had again by
 * reading the events in order (cursor_fold), and whoever loses a race has lost nothing:
 *
 *      events      none -> 10    10 -> 20    10 -> 15    20 -> 20 (no forward)    20 -> 35
 *      value       10            20          20          20                       35
 *
 * Only a person may set a cursor back, and that is an event as well, of reason RESET: whatever came
 * before it no longer counts, and reading goes on from its value.
 *
 * What "further" means is the type's business. TIME compares instants. ID compares whole numbers of
 * up to 38 digits, so that "9" comes before "10" and "007" is "7". TOKENs have no order: any
 * other token is taken for progress, and the last one written stands.
 */
#ifndef PATRA_CORE_CURSOR_H
#define PATRA_CORE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/str.h"
#include "core/codes.h"
#include "core/limits.h"
#include "core/window.h"

/* The namespace key of GLOBAL: what a hash would be, were there anything to hash. */
#define CURSOR_NAMESPACE_GLOBAL "0000000000000000000000000000000000000000000000000000000000000000"

/* A cursor belongs to an endpoint, and its key says so: two endpoints of a source may call their
 * dates alike. "works.updated_at"; an endpoint's name has no dot. */
struct str cursor_key_make(struct arena *arena, struct str endpoint, struct str key) MUST_CHECK;
struct str cursor_key_endpoint(struct str cursor_key); /* '' for a key that names none */

struct cursor_value {
    enum cursor_type type;
    int64_t instant_us; /* TIME */
    struct str text;    /* ID: decimal digits; TOKEN: any bytes. At most CURSOR_VALUE_MAX. */
};

/* ---- order ---- */

/* 1 to 38 decimal digits and nothing else (leading zeros are not counted). Values from outside
 * must be asked before they become a cursor_value of type ID. */
bool cursor_id_is_valid(struct str id);
struct str cursor_id_normal(struct str id); /* the same without leading zeros; "0" for zero */
int cursor_id_compare(struct str a, struct str b); /* below, at or above 0 */

/* True when a cursor at `current` may move to `next`; NULL stands for no cursor yet. Both have the
 * same type: a cursor never changes it. */
bool cursor_is_forward(const struct cursor_value *current, const struct cursor_value *next);
bool cursor_value_eq(const struct cursor_value *a, const struct cursor_value *b);

/* ---- replay ---- */

/* The state of reading a namespace's events one by one, in the order of their ids. Holds copies, so
 * that events may be read page by page. */
struct cursor_fold {
    enum cursor_type type;
    bool has_value;
    int64_t instant_us;
    size_t text_len;
    char text[CURSOR_VALUE_MAX];
    int64_t event_count;
    int64_t no_forward_count; /* events that did not move the value */
    int64_t reset_count;
    int64_t gap_count; /* events whose previous value nobody had reached: one is missing before */
};

void cursor_fold_init(struct cursor_fold *fold, enum cursor_type type);
/* `prev` is NULL for an event that started the cursor. */
void cursor_fold_add(struct cursor_fold *fold, const struct cursor_value *prev,
                     const struct cursor_value *next);
/* The same for an event of reason RESET: the value is `next`, wherever it was. */
void cursor_fold_reset(struct cursor_fold *fold, const struct cursor_value *prev,
                       const struct cursor_value *next);
/* A view into the fold; false when there was no event. */
bool cursor_fold_value(const struct cursor_fold *fold, struct cursor_value *value);
/* The check of `patra cursor verify`: `current` is NULL where there is no cursor row. */
bool cursor_fold_agrees(const struct cursor_fold *fold, const struct cursor_value *current);

/* ---- identity ---- */

/* What makes an event the same event, however often it is written. */
struct cursor_event_identity {
    struct str source;
    enum operation operation;
    struct str cursor_key;
    enum namespace_scope scope;
    struct str namespace_key;
    const struct cursor_value *prev; /* NULL: the first */
    const struct cursor_value *next;
    const struct window *window; /* NULL for ID and TOKEN */
    int64_t version; /* of the cursor it starts from; 0: none yet. After a reset the same way is
                        gone again, and is another event. */
    int64_t run_id;
    int64_t batch_id;
};

/* Canonical JSON; the event's idempotent_key is its SHA-256. */
void cursor_event_identity_write(const struct cursor_event_identity *identity, struct buf *out);

#endif
