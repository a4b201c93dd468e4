/* text: numbers and instants as people read them. */
#ifndef PATRA_BASE_TEXT_H
#define PATRA_BASE_TEXT_H

#include "base/buf.h"

void text_count(struct buf *out, int64_t count);    /* 1,234,567 */
void text_bytes(struct buf *out, int64_t bytes);    /* 512 B, 4.5 MB, 120 GB */
void text_span(struct buf *out, int64_t span_us);   /* 850ms, 4.2s, 1m 05s, 2h 10m, 3d 4h */
void text_rate(struct buf *out, int64_t per_1000s); /* given thousandths per second: 3.2/s */
void text_clock(struct buf *out, int64_t at_us);    /* 14:03:22Z */

/* The text of a span by itself; of less than none that of none. */
struct str text_span_in(struct arena *arena, int64_t span_us);
/* That of an instant, as instant_format() has it. data is NULL when the arena is full. */
struct str text_instant_in(struct arena *arena, int64_t at_us);

#endif
