/* answer: what the protocols have in common when they fill an exchange.
 *
 * Twists are made here where they mean the same everywhere: which page is served in place of the
 * right one, which record of it is spoilt, how far a total is off.
 */
#ifndef PATRA_SIM_PROTOCOL_PAGE_H
#define PATRA_SIM_PROTOCOL_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "sim/http/call.h"
#include "sim/protocol/body.h"
#include "sim/world/world.h"

/* Status 200 and the type; the body follows in exchange->reply. Returns the buffer. */
struct buf *answer_begin(struct exchange *exchange, struct str content_type);

/* Makes room at once for a body of about that size, so that it need not be moved while it grows. */
void answer_reserve(struct exchange *exchange, size_t bytes);

/* A non-negative whole number. False when it is given and is none; absent keeps *value. */
bool answer_number(const struct exchange *exchange, struct str name, size_t *value);

/* Where the page begins, after the twists REPEAT_PAGE and SHIFT_PAGE. `size` > 0. */
size_t answer_skip(const struct exchange *exchange, size_t skip, size_t size);

/* The total, after MOVING_TOTAL. */
size_t answer_total(const struct exchange *exchange, size_t total);

/* How many of the page's records are written: none with EMPTY_PAGE. */
size_t answer_count(const struct exchange *exchange, size_t count);

/* What is wrong with the i-th of `count` records. */
enum body_flaw answer_flaw(const struct exchange *exchange, size_t i, size_t count);

/* Whether the i-th asked id is left out: MISSING_DETAILS. */
bool answer_omits(const struct exchange *exchange, size_t i);

/* "http://host:port", or the other host with NEXT_ELSEWHERE. */
void answer_add_base(struct exchange *exchange, struct buf *out);

/* The records of a page, written in that form with `between` in the middle. */
void answer_records(struct sim_world *world, struct exchange *exchange,
                    const struct body_form *form, const struct world_page *page,
                    struct str between);

/* Percent-encodes what is not unreserved. */
void answer_add_escaped(struct buf *out, struct str text);

enum base64 {
    BASE64,            /* + and /, padded */
    BASE64_URL,        /* - and _, not padded */
    BASE64_URL_PADDED, /* - and _, padded */
};
void answer_add_base64(struct buf *out, struct str bytes, enum base64 kind);
/* Either alphabet, padding optional; false when it is none. */
bool answer_decode_base64(struct arena *arena, struct str text, struct str *bytes);

#endif
