/* cursor: how far an operation has progressed, and which of two values is further.
 *
 * The events of a cursor are authoritative; its current value is derived from them. An event is
 * written first, then the current value moves, and only forward. The value can therefore always be
 * rebuilt by reading the events in order (cursor_fold), and losing a race loses nothing:
 *
 *      events      none -> 10    10 -> 20    10 -> 15    20 -> 20 (no forward)    20 -> 35
 *      value       10            20          20          20                       35
 *
 * Only a person may set a cursor back. That is an event too, with the reason RESET: earlier events
 * no longer count, and reading continues from its value.
 *
 * The type defines the order. TIME compares instants. ID compares whole numbers of up to 38 digits,
 * so that "9" comes before "10" and "007" equals "7". TOKENs have no order: any different token
 * counts as progress, and the last one written is the value.
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

/* The namespace key of GLOBAL, in place of a hash: there is nothing to hash. */
#define CURSOR_NAMESPACE_GLOBAL "0000000000000000000000000000000000000000000000000000000000000000"

/* A cursor belongs to an endpoint, and its key says so: two endpoints of a source may use the
 * same name for their dates. "works.updated_at"; an endpoint's name has no dot. */
struct str cursor_key_make(struct arena *arena, struct str endpoint, struct str key) MUST_CHECK;
struct str cursor_key_endpoint(struct str cursor_key); /* '' if the key names none */

/* The key of a cursor that several endpoints share: "*.updated_at". It names no endpoint. */
struct str cursor_key_make_shared(struct arena *arena, struct str key) MUST_CHECK;
bool cursor_key_is_shared(struct str cursor_key);

struct cursor_value {
    enum cursor_type type;
    int64_t instant_us; /* TIME */
    struct str text;    /* ID: decimal digits; TOKEN: any bytes. At most CURSOR_VALUE_MAX. */
};

/* ---- order ---- */

/* 1 to 38 decimal digits and nothing else (leading zeros are not counted). Check values from
 * outside with this before making a cursor_value of type ID. */
bool cursor_id_is_valid(struct str id);
struct str cursor_id_normal(struct str id); /* the same without leading zeros; "0" for zero */
int cursor_id_compare(struct str a, struct str b); /* below, at or above 0 */

/* id + n, and id - n but not below zero; n is not negative. In the arena; data is NULL when it is
 * full. A sum may have one digit more than an id. */
struct str cursor_id_plus(struct arena *arena, struct str id, int64_t n) MUST_CHECK;
struct str cursor_id_minus(struct arena *arena, struct str id, int64_t n) MUST_CHECK;

/* True if a cursor at `current` may move to `next`; NULL: no cursor yet. Both have the same type: a
 * cursor never changes it. */
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
    int64_t gap_count; /* events whose previous value no event reached: an event is missing */
};

void cursor_fold_init(struct cursor_fold *fold, enum cursor_type type);
/* `prev` is NULL for an event that started the cursor. */
void cursor_fold_add(struct cursor_fold *fold, const struct cursor_value *prev,
                     const struct cursor_value *next);
/* The same for an event with the reason RESET: the value becomes `next`. */
void cursor_fold_reset(struct cursor_fold *fold, const struct cursor_value *prev,
                       const struct cursor_value *next);
/* A view into the fold; false when there was no event. */
bool cursor_fold_value(const struct cursor_fold *fold, struct cursor_value *value);
/* The check of `patra cursor verify`: `current` is NULL if there is no cursor row. */
bool cursor_fold_agrees(const struct cursor_fold *fold, const struct cursor_value *current);

/* ---- identity ---- */

/* What identifies an event, so that writing it again has no effect. */
struct cursor_event_identity {
    struct str source;
    enum operation operation;
    struct str cursor_key;
    enum namespace_scope scope;
    struct str namespace_key;
    const struct cursor_value *prev; /* NULL: the first */
    const struct cursor_value *next;
    const struct window *window; /* NULL for ID and TOKEN */
    int64_t version; /* of the cursor it starts from; 0: none yet. After a reset the same move is
                        made again, as another event. */
    int64_t run_id;
    int64_t batch_id;
};

/* Canonical JSON; the event's idempotent_key is its SHA-256. */
void cursor_event_identity_write(const struct cursor_event_identity *identity, struct buf *out);

#endif
