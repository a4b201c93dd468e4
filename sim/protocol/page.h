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

/* Status 200 and the type; the body follows in call->response. Returns the buffer. */
struct buf *page_begin(struct http_call *call, struct str content_type);

/* Makes room at once for a body of about that size, so that it need not be moved while it grows. */
void page_reserve(struct http_call *call, size_t bytes);

/* A non-negative whole number. False when it is given and is none; absent keeps *value. */
bool page_param_number(const struct http_call *call, struct str name, size_t *value);

/* Where the page begins, after the twists REPEAT_PAGE and SHIFT_PAGE. `size` > 0. */
size_t page_skip(const struct http_call *call, size_t skip, size_t size);

/* The total, after MOVING_TOTAL. */
size_t page_total(const struct http_call *call, size_t total);

/* How many of the page's records are written: none with EMPTY_PAGE. */
size_t page_count(const struct http_call *call, size_t count);

/* What is wrong with the i-th of `count` records. */
enum body_flaw page_flaw(const struct http_call *call, size_t i, size_t count);

/* Whether the i-th asked id is left out: MISSING_DETAILS. */
bool page_omits_id(const struct http_call *call, size_t i);

/* "http://host:port", or the other host with NEXT_ELSEWHERE. */
void page_add_base_url(struct http_call *call, struct buf *out);

/* The records of a page, written in that form with `between` in the middle. */
void page_add_records(struct sim_world *world, struct http_call *call, const struct body_form *form,
                      const struct world_page *page, struct str between);

#endif
