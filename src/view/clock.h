/* clock: the time by which a store goes, beside the clock's and the latest it has seen. */
#ifndef PATRA_VIEW_CLOCK_H
#define PATRA_VIEW_CLOCK_H

#include "data/json_write.h"
#include "engine/session/store_time.h"
#include "view/reader.h"

/* "steady", "ahead" or "behind". */
struct str view_clock_word(enum clock_jump jump);

/* What a person is to know of it, and to do; '': it is steady. */
struct str view_clock_need(struct arena *arena, const struct store_time *time);

/* {"clock":"...","seen":"...","now":"...","state":"ahead","byUs":...} */
void view_clock_write(struct json_writer *w, const struct store_time *time);

#endif
