/* A walk over a feed: where it begins, how far it came, and what a cursor may be moved to.
 *
 * A feed by id may be adopted page by page: its pages are in the order of its ids, so what was
 * received is all there was up to the highest id. Where the source gives a total, only the whole
 * walk can be compared with it, and the cursor waits for that. A feed by token, and one whose pages
 * have another order, is adopted as a whole or not at all.
 */
#include <string.h>

#include "core/cursor.h"
#include "engine/fetch/walk.h"

static bool is_feed(const struct fetch *fetch)
{
    return fetch->order.slice->dimension == SLICE_FEED;
}

static const struct slice_feed *feed_of(const struct fetch *fetch)
{
    return &fetch->order.slice->feed;
}

/* The phase whose pages are the feed. */
static const struct phase *phase_of(const struct fetch *fetch)
{
    return &fetch->phases[0];
}

static struct str text_of(const struct feed_text *text)
{
    return text->is_set ? (struct str){ text->bytes, text->len } : (struct str){ NULL, 0 };
}

static void set_text(struct feed_text *text, struct str value)
{
    assert(value.len <= sizeof(text->bytes));
    text->is_set = value.data != NULL;
    text->len = value.len;
    if (text->is_set)
        memmove(text->bytes, value.data, value.len);
}

void feed_begin(struct fetch *fetch)
{
    /* There was a token, and a person has removed it. */
    if (!is_feed(fetch) || feed_of(fetch)->type != CURSOR_TOKEN ||
        feed_of(fetch)->after.data != NULL || feed_of(fetch)->cursor.data == NULL)
        return;
    fetch->feed.is_full = true;
    fetch->feed.full_us = clock_now_us(fetch->parts.clock);
}

/* ---- requests ---- */

enum cursor_type feed_type(const struct fetch *fetch, const struct phase *phase)
{
    return is_feed(fetch) && phase == phase_of(fetch) ? feed_of(fetch)->type : CURSOR_TIME;
}

struct str feed_after(const struct fetch *fetch, const struct phase *phase)
{
    const struct str none = { NULL, 0 };

    if (!is_feed(fetch))
        return none;
    if (phase->rules.type == PAGINATION_ID)
        return phase->state.token;
    return fetch->feed.is_full ? none : feed_of(fetch)->after;
}

void feed_first(const struct fetch *fetch, const struct phase *phase, struct str *token)
{
    const enum pagination_type type = phase->rules.type;

    switch (feed_type(fetch, phase)) {
    case CURSOR_TIME:
        return;
    case CURSOR_ID:
        if (type == PAGINATION_ID)
            *token = feed_of(fetch)->after;
        return;
    case CURSOR_TOKEN:
        break;
    }
    /* Some sources have one kind of token, for pages and for syncs. */
    if (!phase->form.uses_sync_token && !fetch->feed.is_full &&
        feed_of(fetch)->after.data != NULL && (type == PAGINATION_TOKEN || type == PAGINATION_URL))
        *token = feed_of(fetch)->after;
}

/* ---- pages ---- */

/* Ids; data NULL: unknown, which is not above anything, and which all ids but 0 are above. */
static bool is_above(struct str id, struct str other)
{
    return id.data != NULL && cursor_id_compare(id, other.data != NULL ? other : STR("0")) > 0;
}

/* What the source calls its highest id is not: this page, or one before it, has a higher one, or it
 * has fallen. Nothing is concluded from it then. */
static bool is_latest_wrong(const struct walk_feed *feed, const struct listing *listing)
{
    const struct str latest = listing->feed.latest, before = text_of(&feed->latest);

    if (feed->is_latest_wrong || latest.data == NULL)
        return feed->is_latest_wrong;
    return is_above(listing->feed.highest, latest) ||
           (before.data != NULL && cursor_id_compare(latest, before) < 0);
}

static void see_latest(const struct fetch *fetch, const struct phase *phase,
                       const struct listing *listing, struct page_seen *seen)
{
    const struct str after = phase->state.token, latest = listing->feed.latest;

    if (latest.data == NULL || is_latest_wrong(&fetch->feed, listing))
        return;
    seen->is_latest = seen->next.data != NULL && cursor_id_compare(seen->next, latest) >= 0;
    seen->is_below_latest = is_above(latest, seen->next) && is_above(latest, after);
    if (listing->items == 0 && after.data != NULL && cursor_id_compare(after, latest) >= 0 &&
        seen->more != PAGE_MORE_YES)
        seen->is_declared_empty = true;
}

void feed_see(const struct fetch *fetch, const struct phase *phase, const struct listing *listing,
              struct page_seen *seen)
{
    const struct str after = phase->state.token;

    if (phase->rules.type != PAGINATION_ID)
        return;
    seen->is_unordered = listing->feed.is_unordered;
    see_latest(fetch, phase, listing, seen);
    if (after.data == NULL)
        return;
    if (seen->next.data != NULL && cursor_id_compare(seen->next, after) <= 0)
        seen->place =
            cursor_id_compare(listing->feed.lowest.data != NULL ? listing->feed.lowest : seen->next,
                              after) == 0
                ? PAGE_PLACE_BORDER
                : PAGE_PLACE_BACK;
}

static void note_highest(struct walk_feed *feed, struct str id)
{
    const struct str known = text_of(&feed->seen);

    if (id.data != NULL && (known.data == NULL || cursor_id_compare(id, known) > 0))
        set_text(&feed->seen, id);
}

/* The highest id of the source is below the cursor, and so is all that came. */
static bool went_back(const struct fetch *fetch)
{
    const struct str latest = text_of(&fetch->feed.latest), cursor = feed_of(fetch)->cursor;

    return feed_of(fetch)->type == CURSOR_ID && latest.data != NULL && cursor.data != NULL &&
           cursor_id_compare(latest, cursor) < 0 && !is_above(text_of(&fetch->feed.seen), cursor);
}

static void note_ids(struct fetch *fetch, const struct listing *listing)
{
    struct walk_feed *feed = &fetch->feed;
    const struct phase *phase = phase_of(fetch);
    const struct str latest = listing->feed.latest;
    const bool is_cut = phase->is_done && phase->end == PAGE_CUT_NO_FORWARD;

    feed->is_latest_wrong = is_latest_wrong(feed, listing);
    if (latest.data != NULL)
        set_text(&feed->latest, cursor_id_normal(latest));
    if (is_cut)
        set_text(&feed->behind, listing->feed.highest);
    else
        note_highest(feed,
                     phase->rules.type == PAGINATION_ID ? listing->next : listing->feed.highest);
}

static bool is_same(struct str token, struct str sent)
{
    return token.data != NULL && sent.data != NULL && str_eq(token, sent);
}

/* The token that was sent came back with records: as the token of the next sync, or as that of the
 * next page. A total says whether all came. The state's token is the one that was sent only where
 * the page was the last. */
static void note_token(struct walk_feed *feed, const struct phase *phase,
                       const struct listing *listing)
{
    const struct str token = listing->feed.sync_token, sent = phase->state.token;
    const bool is_next_sent = is_same(listing->next, sent) && !phase->proof.has_total;

    feed->is_token_sent = phase->is_done && listing->items > 0 &&
                          (is_same(token, sent) || is_next_sent) &&
                          phase->rules.same_token != SAME_TOKEN_CONTINUE;
    if (token.data != NULL && token.len <= CURSOR_VALUE_MAX)
        set_text(&feed->seen, token);
}

void feed_note(struct fetch *fetch, const struct phase *phase, const struct listing *listing)
{
    switch (feed_type(fetch, phase)) {
    case CURSOR_TIME:
        return;
    case CURSOR_ID:
        note_ids(fetch, listing);
        return;
    case CURSOR_TOKEN:
        note_token(&fetch->feed, phase, listing);
        return;
    }
}

void feed_restart(struct fetch *fetch)
{
    fetch->feed.seen.is_set = false;
    fetch->feed.behind.is_set = false;
    fetch->feed.latest.is_set = false;
    fetch->feed.is_latest_wrong = false;
    fetch->feed.is_token_sent = false;
}

bool feed_expires(struct fetch *fetch, const struct exchange *exchange)
{
    const struct phase *phase = fetch->list;
    const bool is_gone =
        exchange->response.kind == RESPONSE_EXPIRED ||
        (exchange->response.kind == RESPONSE_ERROR && exchange->reply.status == 410);

    if (feed_type(fetch, phase) != CURSOR_TOKEN || !is_gone || phase->state.number > 0 ||
        fetch->feed.is_full || feed_of(fetch)->after.data == NULL)
        return false;
    fetch->feed.is_full = true;
    fetch->feed.is_bridged = feed_of(fetch)->has_bridge;
    fetch->feed.full_us = clock_now_us(fetch->parts.clock);
    return true;
}

/* ---- the end ---- */

/* The pages have ended, and the source has higher ids than those received. */
static bool is_short_of_latest(const struct fetch *fetch)
{
    const struct str latest = text_of(&fetch->feed.latest);

    return !fetch->feed.is_latest_wrong && is_above(latest, text_of(&fetch->feed.seen)) &&
           is_above(latest, feed_of(fetch)->after) && is_above(latest, feed_of(fetch)->cursor);
}

static void end_below_cursor(struct fetch *fetch)
{
    fetch->list->end = PAGE_CUT_NO_FORWARD;
    walk_end(fetch, FETCH_CUT_SHORT,
             arena_printf(&fetch->memory.own,
                          "the highest id of the source is %.*s, below the cursor %.*s: was "
                          "its sequence reset? patra cursor reset sets the cursor back",
                          STR_ARG(text_of(&fetch->feed.latest)), STR_ARG(feed_of(fetch)->cursor)));
}

static void end_below_latest(struct fetch *fetch)
{
    const struct str seen = text_of(&fetch->feed.seen);
    const struct str last = seen.data != NULL ? seen : feed_of(fetch)->after;

    walk_end(fetch, FETCH_SHORTFALL,
             arena_printf(&fetch->memory.own,
                          "there is nothing after id %.*s, but the highest id of the source is "
                          "%.*s (response.latest)",
                          STR_ARG(last.data != NULL ? last : STR("0")),
                          STR_ARG(text_of(&fetch->feed.latest))));
}

static void end_without_token(struct fetch *fetch)
{
    walk_end(fetch, FETCH_SHORTFALL,
             arena_printf(&fetch->memory.own,
                          "the pages ended without a sync token at %.*s, so the next harvest "
                          "could not continue",
                          STR_ARG(fetch->spec->endpoint.response.sync_token.text)));
}

bool feed_ends_unproven(struct fetch *fetch)
{
    if (!is_feed(fetch))
        return false;
    if (went_back(fetch))
        end_below_cursor(fetch);
    else if (feed_of(fetch)->type == CURSOR_ID && is_short_of_latest(fetch))
        end_below_latest(fetch);
    else if (feed_of(fetch)->type == CURSOR_TOKEN && !fetch->feed.seen.is_set)
        end_without_token(fetch);
    else
        return false;
    return true;
}

/* What is known to be complete; data NULL: nothing. */
static struct str adoptable(const struct fetch *fetch)
{
    const struct phase *phase = phase_of(fetch);
    const struct str seen = text_of(&fetch->feed.seen), none = { NULL, 0 };
    const bool by_page = feed_of(fetch)->type == CURSOR_ID && phase->rules.type == PAGINATION_ID &&
                         fetch->mode == WALK_PAGES && !phase->proof.has_total;

    if (fetch->has_verdict && fetch->verdict.kind == FETCH_COMPLETE)
        return seen;
    if (went_back(fetch) ||
        (fetch->has_verdict && fetch->verdict.kind != FETCH_CUT_SHORT &&
         fetch->verdict.kind != FETCH_SHORTFALL && fetch->verdict.kind != FETCH_OVER_BUDGET))
        return none;
    return by_page && fetch->totals.sweeps == 0 ? seen : none;
}

/* TOKEN: changes came, and the token that they came with is the one that was sent. */
static bool is_same_token(const struct fetch *fetch)
{
    return feed_of(fetch)->type == CURSOR_TOKEN && !fetch->feed.is_full &&
           phase_of(fetch)->proof.items > 0 && feed_of(fetch)->after.data != NULL &&
           str_eq(text_of(&fetch->feed.seen), feed_of(fetch)->after);
}

void feed_doubt(const struct fetch *fetch, bool doubts[FETCH_DOUBTS])
{
    if (!is_feed(fetch))
        return;
    doubts[FETCH_DOUBT_LATEST] |= fetch->feed.is_latest_wrong;
    doubts[FETCH_DOUBT_SAME_TOKEN] |= fetch->feed.is_token_sent || is_same_token(fetch);
}

/* How far a source comes that does not go forward; data NULL: it does. */
static struct str behind_of(const struct fetch *fetch)
{
    if (went_back(fetch))
        return text_of(&fetch->feed.latest);
    if (fetch->has_verdict && fetch->verdict.kind == FETCH_COMPLETE && is_same_token(fetch))
        return text_of(&fetch->feed.seen);
    return text_of(&fetch->feed.behind);
}

struct checkpoint_feed feed_checkpoint(const struct fetch *fetch)
{
    if (!is_feed(fetch))
        return (struct checkpoint_feed){ 0 };
    return (struct checkpoint_feed){
        .is_on = true,
        .seen = text_of(&fetch->feed.seen),
        .at = adoptable(fetch),
        .behind = behind_of(fetch),
        .latest = text_of(&fetch->feed.latest),
        .is_latest_wrong = fetch->feed.is_latest_wrong,
        .is_token_sent = fetch->feed.is_token_sent,
        .is_full = fetch->feed.is_full,
        .is_bridged = fetch->feed.is_bridged,
        .full_us = fetch->feed.full_us,
    };
}

bool feed_resume(struct fetch *fetch, const struct checkpoint_feed *checkpoint, struct error *err)
{
    if (!is_feed(fetch))
        return true;
    if (checkpoint->seen.len > CURSOR_VALUE_MAX || checkpoint->latest.len > CURSOR_VALUE_MAX ||
        checkpoint->behind.len > CURSOR_VALUE_MAX)
        return error_set(err, ERROR_FATAL, "fetch.checkpoint",
                         "the checkpoint is unreadable: feed");
    set_text(&fetch->feed.seen, checkpoint->seen);
    set_text(&fetch->feed.latest, checkpoint->latest);
    if (feed_of(fetch)->type == CURSOR_ID)
        set_text(&fetch->feed.behind, checkpoint->behind);
    fetch->feed.is_latest_wrong = checkpoint->is_latest_wrong;
    fetch->feed.is_token_sent = checkpoint->is_token_sent;
    fetch->feed.is_full = checkpoint->is_full;
    fetch->feed.is_bridged = checkpoint->is_bridged;
    fetch->feed.full_us = checkpoint->full_us;
    return true;
}
