/* page: what the protocols share when they fill in a response.
 *
 * Content faults that mean the same for every protocol are made here: which page is served instead
 * of the right one, which of its records is faulty, how far a total is off.
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

/* The world at the time of the request, with results in the call's arena. */
struct world_at page_at(struct sim_world *world, const struct http_call *call);

/* Sets status 200 and the type; returns the buffer for the body. */
struct buf *page_begin(struct http_call *call, struct str content_type);

/* Reserves memory for a body of about that size, so that it is not moved while it grows. */
void page_reserve(struct http_call *call, size_t bytes);

/* Reads a non-negative integer parameter. False when it is not a number; when absent, *value stays.
 */
bool page_param_number(const struct http_call *call, struct str name, size_t *value);

/* Where the page begins, after REPEAT_PAGE and SHIFT_PAGE. `size` > 0. */
size_t page_skip(const struct http_call *call, size_t skip, size_t size);

/* The total, after MOVING_TOTAL. */
size_t page_total(const struct http_call *call, size_t total);

/* How many of the page's records are written: none with EMPTY_PAGE. */
size_t page_count(const struct http_call *call, size_t count);

/* The flaw of the i-th of `count` records. */
enum body_flaw page_flaw(const struct http_call *call, size_t i, size_t count);

/* Whether the i-th requested id is left out: MISSING_DETAILS. */
bool page_omits_id(const struct http_call *call, size_t i);

/* The current version of the record with that id; CORPUS_NONE: there is none, or it is deleted or
 * merged. */
uint32_t page_find(const struct sim_world *world, const struct http_call *call,
                   enum id_scheme scheme, struct str id);

/* "http://host:port", or the other host with NEXT_ELSEWHERE. */
void page_add_base_url(struct http_call *call, struct buf *out);

/* Writes the records of a page in that form, separated by `between`. */
void page_add_records(struct sim_world *world, struct http_call *call, const struct body_form *form,
                      const struct world_page *page, struct str between);

#endif
