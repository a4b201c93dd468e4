/* window_decision: the candidates of each bound, empty windows, and the explanation. */
#include "core/window_decision.h"

#include <assert.h>

#include "base/instant.h"
#include "core/align.h"
#include "core/canon.h"
#include "core/limits.h"

/* ---- candidates ---- */

static int64_t before(int64_t at_us, int64_t span_us)
{
    return at_us - span_us < INSTANT_MIN ? INSTANT_MIN : at_us - span_us;
}

static void consider(struct window_bound *bound, enum window_rule rule, int64_t at_us)
{
    assert(bound->candidate_count < WINDOW_CANDIDATES_MAX);
    bound->candidates[bound->candidate_count++] =
        (struct window_candidate){ .rule = rule, .at_us = at_us };
}

static void consider_maybe(struct window_bound *bound, enum window_rule rule,
                           struct maybe_instant instant)
{
    if (instant.is_set)
        consider(bound, rule, instant.at_us);
}

/* The candidate that wins: the smallest (sign -1) or the largest (sign +1), the first among
 * equals. */
static void decide(struct window_bound *bound, int sign)
{
    const struct window_candidate *best = &bound->candidates[0];

    assert(bound->candidate_count > 0);
    for (size_t i = 1; i < bound->candidate_count; i++) {
        const struct window_candidate *other = &bound->candidates[i];

        if (sign > 0 ? other->at_us > best->at_us : other->at_us < best->at_us)
            best = other;
    }
    bound->rule = best->rule;
    bound->candidate_us = best->at_us;
}

/* ---- the bounds of each operation ---- */

static void decide_to(struct window_decision *d)
{
    consider(&d->to, WINDOW_RULE_NOW_LAG, d->now_safe_us);
    if (d->request.operation == OPERATION_BACKFILL) {
        consider_maybe(&d->to, WINDOW_RULE_FORWARD, d->request.forward);
        consider_maybe(&d->to, WINDOW_RULE_CAMPAIGN_TO, d->request.campaign_to);
    }
    consider_maybe(&d->to, WINDOW_RULE_USER_TO, d->request.user_to);
    decide(&d->to, -1);
}

static bool keeps_cursor(const struct window_request *r)
{
    switch (r->operation) {
    case OPERATION_HARVEST:
    case OPERATION_BACKFILL:
        return true;
    case OPERATION_UPDATE:
    case OPERATION_METRICS:
        return r->drive == UPDATE_BY_TIME;
    case OPERATION_REPLAY:
        return false;
    }
    assert(!"an operation of the enum");
    return false;
}

static void decide_from(struct window_decision *d)
{
    const struct window_request *r = &d->request;
    const bool is_harvest = r->operation == OPERATION_HARVEST;
    const bool is_backfill = r->operation == OPERATION_BACKFILL;

    if (keeps_cursor(r) && r->cursor.is_set) {
        consider(&d->from, is_harvest ? WINDOW_RULE_CURSOR_LOOKBACK : WINDOW_RULE_CURSOR,
                 is_harvest ? before(r->cursor.at_us, r->lookback_us) : r->cursor.at_us);
    }
    consider_maybe(&d->from, WINDOW_RULE_USER_FROM, r->user_from);
    if (!is_backfill && keeps_cursor(r) && d->from.candidate_count == 0)
        consider_maybe(&d->from, WINDOW_RULE_START, r->start);
    if (d->from.candidate_count == 0) {
        /* BACKFILL counts back from its upper bound; the others from now. */
        const int64_t end_us = is_backfill ? d->to.candidate_us : d->now_safe_us;

        consider(&d->from, WINDOW_RULE_DEFAULT_SIZE, before(end_us, r->size_us));
    }
    decide(&d->from, +1);
    if (is_backfill && d->from.candidate_us > d->to.candidate_us) {
        consider(&d->from, WINDOW_RULE_UPPER_ANCHOR, d->to.candidate_us);
        d->from.rule = WINDOW_RULE_UPPER_ANCHOR;
        d->from.candidate_us = d->to.candidate_us;
    }
}

static void align(struct window_decision *d)
{
    const bool is_calendar = d->request.mode == WINDOW_CALENDAR;
    const enum align_unit unit = is_calendar ? d->request.align : ALIGN_NONE;

    d->from.at_us = align_floor(d->from.candidate_us, unit);
    d->to.at_us = align_floor(d->to.candidate_us, unit);
}

/* ---- why it is empty ---- */

/* The candidate that won before BACKFILL's lower bound was clamped to the upper one. */
static enum window_rule lower_rule(const struct window_bound *from)
{
    const struct window_candidate *best = &from->candidates[0];

    for (size_t i = 1; i < from->candidate_count; i++) {
        if (from->candidates[i].rule != WINDOW_RULE_UPPER_ANCHOR &&
            from->candidates[i].at_us > best->at_us)
            best = &from->candidates[i];
    }
    return best->rule;
}

static enum window_empty empty_reason(const struct window_decision *d)
{
    const struct window_request *r = &d->request;

    if (r->user_from.is_set && r->user_to.is_set && r->user_from.at_us >= r->user_to.at_us)
        return WINDOW_EMPTY_USER_INVERTED;
    if (r->beyond == BEYOND_REFUSE && r->user_to.is_set && r->user_to.at_us > d->now_safe_us)
        return WINDOW_EMPTY_REFUSED;
    if (d->from.candidate_us < d->to.candidate_us)
        return d->from.at_us < d->to.at_us ? WINDOW_EMPTY_NOT : WINDOW_EMPTY_ALIGNED;
    switch (lower_rule(&d->from)) {
    case WINDOW_RULE_USER_FROM:
        return d->to.rule == WINDOW_RULE_FORWARD ? WINDOW_EMPTY_AFTER_FORWARD : WINDOW_EMPTY_FUTURE;
    case WINDOW_RULE_START:
        return d->to.rule == WINDOW_RULE_USER_TO ? WINDOW_EMPTY_BEFORE_DEFAULT
                                                 : WINDOW_EMPTY_NOTHING_NEW;
    case WINDOW_RULE_DEFAULT_SIZE:
        return WINDOW_EMPTY_BEFORE_DEFAULT;
    default:
        return d->to.rule == WINDOW_RULE_USER_TO ? WINDOW_EMPTY_BEFORE_CURSOR
                                                 : WINDOW_EMPTY_NOTHING_NEW;
    }
}

static void assert_request(const struct window_request *r)
{
    assert(r->now_us >= INSTANT_MIN && r->now_us <= INSTANT_MAX);
    assert(r->lag_us >= 0 && r->lag_us <= WINDOW_SPAN_MAX_US);
    assert(r->lookback_us >= 0 && r->lookback_us <= WINDOW_SPAN_MAX_US);
    assert(r->size_us > 0 && r->size_us <= WINDOW_SPAN_MAX_US);
}

struct window_decision window_decide(const struct window_request *request)
{
    struct window_decision d = { .request = *request };

    assert_request(request);
    d.now_safe_us = before(request->now_us, request->lag_us);
    decide_to(&d);
    decide_from(&d);
    align(&d);
    d.window = (struct window){ d.from.at_us, d.to.at_us };
    d.empty = empty_reason(&d);
    d.starts_cursor =
        d.empty == WINDOW_EMPTY_NOT && keeps_cursor(request) && !request->cursor.is_set;
    assert(d.empty != WINDOW_EMPTY_NOT || window_is_valid(d.window));
    return d;
}

/* ---- explaining it ---- */

static const struct code_item RULE_ITEMS[] = {
    [WINDOW_RULE_USER_FROM] = CODE_ITEM("USER_FROM", "--from"),
    [WINDOW_RULE_USER_TO] = CODE_ITEM("USER_TO", "--to"),
    [WINDOW_RULE_NOW_LAG] = CODE_ITEM("NOW_LAG", "now less the lag"),
    [WINDOW_RULE_CURSOR] = CODE_ITEM("CURSOR", "the cursor"),
    [WINDOW_RULE_CURSOR_LOOKBACK] = CODE_ITEM("CURSOR_LOOKBACK", "the cursor less the lookback"),
    [WINDOW_RULE_FORWARD] = CODE_ITEM("FORWARD", "the forward watermark"),
    [WINDOW_RULE_CAMPAIGN_TO] = CODE_ITEM("CAMPAIGN_TO", "the end of the campaign's first window"),
    [WINDOW_RULE_START] = CODE_ITEM("START", "the source's start"),
    [WINDOW_RULE_DEFAULT_SIZE] = CODE_ITEM("DEFAULT_SIZE", "one window size back"),
    [WINDOW_RULE_UPPER_ANCHOR] = CODE_ITEM("UPPER_ANCHOR", "not beyond the upper bound"),
};
const struct code_table WINDOW_RULE_CODES =
    CODE_TABLE("ing_window_rule", "what decided a window's bound", RULE_ITEMS);

static const struct code_item EMPTY_ITEMS[] = {
    [WINDOW_EMPTY_NOT] = CODE_ITEM("NOT_EMPTY", "there is work"),
    [WINDOW_EMPTY_USER_INVERTED] = CODE_ITEM("USER_INVERTED", "--from is not before --to"),
    [WINDOW_EMPTY_NOTHING_NEW] =
        CODE_ITEM("NOTHING_NEW", "the cursor (or start) is not before the upper bound"),
    [WINDOW_EMPTY_REFUSED] =
        CODE_ITEM("REFUSED", "--to is after now less the lag, which this source refuses"),
    [WINDOW_EMPTY_FUTURE] = CODE_ITEM("FUTURE", "--from is not before now less the lag"),
    [WINDOW_EMPTY_BEFORE_CURSOR] = CODE_ITEM(
        "BEFORE_CURSOR", "--to is not after the cursor; use backfill or replay for the past"),
    [WINDOW_EMPTY_BEFORE_DEFAULT] = CODE_ITEM(
        "BEFORE_DEFAULT", "--to is not after the default lower bound; give --from as well"),
    [WINDOW_EMPTY_AFTER_FORWARD] = CODE_ITEM(
        "AFTER_FORWARD", "--from is not before the forward watermark; harvest goes there"),
    [WINDOW_EMPTY_ALIGNED] = CODE_ITEM(
        "ALIGNED", "both bounds fall on the same calendar boundary; its period is not over"),
};
const struct code_table WINDOW_EMPTY_CODES =
    CODE_TABLE("ing_window_empty", "why a window is empty", EMPTY_ITEMS);

static void add_instant(struct buf *out, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];
    const size_t len = instant_format(at_us, text);

    buf_add(out, (struct str){ text, len });
}

static void explain_bound(const struct window_decision *d, const char *name,
                          const struct window_bound *bound, struct buf *out)
{
    buf_printf(out, "%-7s ", name);
    add_instant(out, bound->at_us);
    buf_add(out, STR(": "));
    buf_add(out, WINDOW_RULE_CODES.items[bound->rule].meaning);
    if (bound->at_us != bound->candidate_us) {
        buf_add(out, STR("\n        "));
        add_instant(out, bound->candidate_us);
        buf_add(out, STR(", rounded down to "));
        buf_add(out, code_of(&ALIGN_UNIT_CODES, d->request.align));
    }
    for (size_t i = 0; i < bound->candidate_count; i++) {
        if (bound->candidates[i].rule == bound->rule)
            continue;
        buf_add(out, STR("\n        also considered: "));
        buf_add(out, WINDOW_RULE_CODES.items[bound->candidates[i].rule].meaning);
        buf_add(out, STR(" ("));
        add_instant(out, bound->candidates[i].at_us);
        buf_add_char(out, ')');
    }
    buf_add_char(out, '\n');
}

void window_decision_explain(const struct window_decision *d, struct buf *out)
{
    buf_add(out, STR("window  "));
    if (d->empty == WINDOW_EMPTY_NOT) {
        add_instant(out, d->window.from_us);
        buf_add(out, STR(" .. "));
        add_instant(out, d->window.to_us);
    } else {
        buf_add(out, STR("empty: "));
        buf_add(out, WINDOW_EMPTY_CODES.items[d->empty].meaning);
    }
    buf_add_char(out, '\n');
    explain_bound(d, "from", &d->from, out);
    explain_bound(d, "to", &d->to, out);
}

static void json_maybe(struct canon *canon, const char *key, struct maybe_instant instant)
{
    if (instant.is_set)
        canon_instant(canon, key, instant.at_us);
    else
        canon_null(canon, key);
}

static void json_bound(struct canon *canon, const char *key, const struct window_bound *bound)
{
    canon_object(canon, key);
    canon_instant(canon, "at", bound->at_us);
    canon_instant(canon, "candidate", bound->candidate_us);
    canon_array(canon, "considered");
    for (size_t i = 0; i < bound->candidate_count; i++) {
        canon_object(canon, NULL);
        canon_instant(canon, "at", bound->candidates[i].at_us);
        canon_code(canon, "rule", &WINDOW_RULE_CODES, (int)bound->candidates[i].rule);
        canon_close(canon);
    }
    canon_close(canon);
    canon_code(canon, "rule", &WINDOW_RULE_CODES, (int)bound->rule);
    canon_close(canon);
}

static void json_inputs(struct canon *canon, const struct window_request *r)
{
    canon_object(canon, "inputs");
    canon_code(canon, "align", &ALIGN_UNIT_CODES, (int)r->align);
    canon_code(canon, "beyondNow", &BEYOND_NOW_CODES, (int)r->beyond);
    json_maybe(canon, "campaignTo", r->campaign_to);
    json_maybe(canon, "cursor", r->cursor);
    canon_code(canon, "drive", &UPDATE_DRIVE_CODES, (int)r->drive);
    json_maybe(canon, "forward", r->forward);
    canon_i64(canon, "lagUs", r->lag_us);
    canon_i64(canon, "lookbackUs", r->lookback_us);
    canon_code(canon, "mode", &WINDOW_MODE_CODES, (int)r->mode);
    canon_instant(canon, "now", r->now_us);
    canon_code(canon, "operation", &OPERATION_CODES, (int)r->operation);
    canon_i64(canon, "sizeUs", r->size_us);
    json_maybe(canon, "start", r->start);
    json_maybe(canon, "userFrom", r->user_from);
    json_maybe(canon, "userTo", r->user_to);
    canon_close(canon);
}

void window_decision_json(const struct window_decision *d, struct buf *out)
{
    struct canon canon = canon_begin(out);

    canon_code(&canon, "empty", &WINDOW_EMPTY_CODES, (int)d->empty);
    json_bound(&canon, "from", &d->from);
    json_inputs(&canon, &d->request);
    canon_instant(&canon, "nowSafe", d->now_safe_us);
    canon_bool(&canon, "startsCursor", d->starts_cursor);
    json_bound(&canon, "to", &d->to);
    canon_end(&canon);
}
