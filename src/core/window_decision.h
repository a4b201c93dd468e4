/* window_decision: the window of a plan, and the reason for each bound.
 *
 * Every bound is the smallest (or largest) of a few candidates, then rounded down to a calendar
 * boundary in CALENDAR mode:
 *
 *                    from                                     to
 *      HARVEST       max(cursor - lookback, user.from)        min(user.to, now - lag)
 *                    no cursor: user.from, else start, else now - lag - size
 *      BACKFILL      max(cursor, user.from), at most `to`     min(user.to, forward, now - lag)
 *                    no cursor: user.from, else to - size     and, resumed, its first `to`
 *      UPDATE TIME   max(cursor, user.from)                   min(user.to, now - lag)
 *                    neither: start, else now - lag - size
 *      UPDATE ID     user.from, else now - lag - size         min(user.to, now - lag)
 *      METRICS       as UPDATE, with a cursor of its own
 *      REPLAY        user.from, else now - lag - size         min(user.to, now - lag)
 *
 * The cursor is the operation's own: HARVEST's forward watermark, BACKFILL's progress within its
 * campaign, UPDATE's refresh_checked_at. `forward` is HARVEST's, and only BACKFILL uses it.
 * REPLAY uses no cursor. `start` is the source's own first instant (start_at, HARVEST only), or
 * where a former query of the operation started. Overlap and the
 * longest slice do not affect the window; they belong to the slices (core/slice.h).
 *
 * The decision keeps every input and every candidate, so that it can be explained to a person
 * (window_decision_explain) and stored for audit (window_decision_json) without further queries.
 *
 * If a decision has `starts_cursor`, coverage begins at window.from_us, and the caller must save it
 * as the cursor's first value together with the plan. Otherwise the default lower bound would move
 * with the clock, and a first slice that failed would drop out of the window and never be fetched.
 * For a BACKFILL campaign the caller also saves the end of the first window and passes it as
 * campaign_to when the campaign is resumed. Without it the upper bound would rise with the forward
 * watermark, and the campaign would fetch what HARVEST has fetched since.
 */
#ifndef PATRA_CORE_WINDOW_DECISION_H
#define PATRA_CORE_WINDOW_DECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/instant.h"
#include "core/codes.h"
#include "core/source_codes.h"
#include "core/window.h"

/* An instant that may be absent: { .is_set = true, .at_us = ... }. */
/* All instants lie within INSTANT_MIN and INSTANT_MAX; durations are at most WINDOW_SPAN_MAX_US. */
struct window_request {
    enum operation operation;
    enum update_drive drive; /* UPDATE and METRICS; others ignore it */
    int64_t now_us;
    struct maybe_instant user_from; /* --from, --to */
    struct maybe_instant user_to;
    struct maybe_instant cursor;
    struct maybe_instant forward;
    struct maybe_instant campaign_to; /* a resumed BACKFILL: the end of its first window */
    struct maybe_instant start;       /* HARVEST, UPDATE TIME: where to start without a cursor */
    enum beyond_now beyond;           /* what to do with a --to after now - lag */
    int64_t lag_us;                   /* more recent data may not be complete at the source yet */
    int64_t lookback_us; /* HARVEST: how far before the cursor late records are looked for */
    int64_t size_us; /* more than 0: the length of the window if nothing else says where to begin */
    enum window_mode mode;
    enum align_unit align; /* CALENDAR */
};

enum window_rule { /* where a bound came from */
                   WINDOW_RULE_USER_FROM,
                   WINDOW_RULE_USER_TO,
                   WINDOW_RULE_NOW_LAG,
                   WINDOW_RULE_CURSOR,
                   WINDOW_RULE_CURSOR_LOOKBACK,
                   WINDOW_RULE_FORWARD,
                   WINDOW_RULE_CAMPAIGN_TO,
                   WINDOW_RULE_START,
                   WINDOW_RULE_DEFAULT_SIZE,
                   WINDOW_RULE_UPPER_ANCHOR,
};
extern const struct code_table WINDOW_RULE_CODES;

enum window_empty { /* why there is nothing to do */
                    WINDOW_EMPTY_NOT,
                    WINDOW_EMPTY_USER_INVERTED, /* --from is not before --to */
                    WINDOW_EMPTY_NOTHING_NEW,   /* the cursor has reached the upper bound */
                    WINDOW_EMPTY_REFUSED, /* --to is after now - lag, and the source refuses that */
                    WINDOW_EMPTY_FUTURE,  /* --from is not before now - lag */
                    WINDOW_EMPTY_BEFORE_CURSOR,  /* --to is not after the cursor (less the lookback)
                                                  */
                    WINDOW_EMPTY_BEFORE_DEFAULT, /* --to is not after the default lower bound */
                    WINDOW_EMPTY_AFTER_FORWARD,  /* BACKFILL: --from is not before the forward
                                                    watermark */
                    WINDOW_EMPTY_ALIGNED, /* both bounds fall on the same calendar boundary */
};
extern const struct code_table WINDOW_EMPTY_CODES;

struct window_candidate {
    enum window_rule rule;
    int64_t at_us;
};

enum { WINDOW_CANDIDATES_MAX = 4 };

struct window_bound {
    int64_t at_us;                                             /* the bound itself, aligned */
    enum window_rule rule;                                     /* the candidate that decided */
    int64_t candidate_us;                                      /* its value, before alignment */
    struct window_candidate candidates[WINDOW_CANDIDATES_MAX]; /* all that were considered */
    size_t candidate_count;
};

struct window_decision {
    struct window_request request;
    int64_t now_safe_us; /* now - lag */
    struct window_bound from;
    struct window_bound to;
    struct window window;    /* meaningless when empty */
    enum window_empty empty; /* WINDOW_EMPTY_NOT: there is work */
    bool starts_cursor;      /* there was no cursor, and this operation keeps one */
};

struct window_decision window_decide(const struct window_request *request);

/* Three or more lines for a terminal, such as
 *
 *      window  2026-03-01T00:00:00Z .. 2026-03-02T00:00:00Z
 *      from    2026-03-01T00:00:00Z: the cursor less the lookback
 *              2026-03-01T07:30:00Z, rounded down to DAY
 *              also considered: --from (2026-02-01T00:00:00Z)
 *      to      ...
 */
void window_decision_explain(const struct window_decision *decision, struct buf *out);

/* One JSON object, keys sorted, for record_remarks. Instants are ISO 8601, durations _us. */
void window_decision_json(const struct window_decision *decision, struct buf *out);

#endif
