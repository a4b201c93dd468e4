/* quota_left: what is left of a provider's hour and day, by a source's settings and the store's
 * counts. The planner books by it, the gate spends by it.
 */
#ifndef PATRA_ENGINE_GATE_QUOTA_LEFT_H
#define PATRA_ENGINE_GATE_QUOTA_LEFT_H

#include "port/store_rate.h"
#include "spec/spec.h"

/* Requests per window; 0: there is no quota. */
int64_t quota_limit_of(const struct spec_rate *rate, enum quota_window window);

/* The window that holds an instant, and its end. */
struct quota_key quota_key_at(struct str rate_key, enum quota_window window, int64_t now_us);
int64_t quota_end_us(enum quota_window window, int64_t now_us);

/* What an operation may still book or, without a booking, send. Where the source file has shares,
 * no operation has more than its own. */
int64_t quota_left(const struct spec_rate *rate, enum operation operation, enum quota_window window,
                   const struct quota_count *count);

/* What was not sent yet of the window, less its margin. */
int64_t quota_unused(const struct spec_rate *rate, enum quota_window window,
                     const struct quota_count *count);

#endif
