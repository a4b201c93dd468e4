/* Coverage as a strip, and as a table. */
#include <inttypes.h>

#include "base/instant.h"
#include "base/mask.h"
#include "serve/page/parts.h"

/* Units of the drawing: its width is that of the page. */
enum { WIDTH = 1000, HEIGHT = 28, LEAST = 7 };

static int64_t at_x(const struct view_strip *strip, int64_t at_us)
{
    const double part =
        (double)(at_us - strip->window.from_us) / (double)window_length_us(strip->window);

    return (int64_t)(part * WIDTH);
}

static struct str words_of(struct arena *arena, const struct strip_piece *piece)
{
    char from[INSTANT_TEXT_MAX], to[INSTANT_TEXT_MAX], next[INSTANT_TEXT_MAX];
    struct buf out;

    from[instant_format(piece->window.from_us, from)] = '\0';
    to[instant_format(piece->window.to_us, to)] = '\0';
    buf_init(&out, arena, 4096);
    buf_printf(&out, "%.*s, %s to %s", STR_ARG(code_of(&STRIP_STATE_CODES, (int)piece->state)),
               from, to);
    if (piece->parts > 1)
        buf_printf(&out, ", %" PRId64 " parts, the worst of them", piece->parts);
    if (piece->task == NULL)
        return buf_str(&out);
    buf_printf(&out, ": task %" PRId64 " %.*s", piece->task->id,
               STR_ARG(code_of(&TASK_STATUS_CODES, (int)piece->task->status)));
    if (piece->task->status == TASK_QUEUED) {
        next[instant_format(piece->task->scheduled_us, next)] = '\0';
        buf_printf(&out, ", next try %s", next);
    }
    if (piece->task->last_error.len > 0)
        buf_printf(&out, ", %.*s", STR_ARG(mask_personal_copy(arena, piece->task->last_error)));
    return buf_str(&out);
}

/* Without colours, the states differ in height. */
static void write_piece(struct html *h, const struct view_strip *strip,
                        const struct strip_piece *piece)
{
    static const struct {
        const char *class;
        int y, height;
    } looks[] = {
        [STRIP_COVERED] = { "covered", 8, 12 }, [STRIP_OPEN] = { "open", 13, 2 },
        [STRIP_LIVE] = { "live", 6, 16 },       [STRIP_RETRYING] = { "retrying", 3, 22 },
        [STRIP_MISSING] = { "failed", 0, 28 },
    };
    const struct str words = words_of(h->out->arena, piece);
    const bool is_link = piece->task != NULL;
    int64_t x = at_x(strip, piece->window.from_us);
    int64_t width = at_x(strip, piece->window.to_us) - x;

    if (is_link && width < LEAST) {
        width = LEAST;
        x = x + width > WIDTH ? WIDTH - width : x;
    }
    if (is_link) {
        html_start(h, "a");
        html_attrf(h, "href", "/runs/task/%" PRId64, piece->task->id);
        html_attr(h, "aria-label", words);
    }
    html_class(h, "rect", looks[piece->state].class);
    html_attrf(h, "x", "%" PRId64, x);
    html_attrf(h, "y", "%d", looks[piece->state].y);
    html_attrf(h, "width", "%" PRId64, width > 0 ? width : 1);
    html_attrf(h, "height", "%d", looks[piece->state].height);
    html_element(h, "title", words);
    html_end(h);
    if (is_link)
        html_end(h);
}

static void write_cursor(struct html *h, const struct view_strip *strip)
{
    const int64_t x = at_x(strip, strip->cursor.value.instant_us);

    if (x < 0 || x > WIDTH)
        return;
    html_class(h, "rect", "cursor");
    html_attrf(h, "x", "%" PRId64, x > WIDTH - 3 ? WIDTH - 3 : x);
    html_attr(h, "y", STR("0"));
    html_attr(h, "width", STR("3"));
    html_attrf(h, "height", "%d", HEIGHT);
    html_element(h, "title", STR("the cursor"));
    html_end(h);
}

static void write_scale(struct html *h, const struct view_strip *strip)
{
    html_class(h, "p", "scale");
    html_start(h, "span");
    show_instant(h, strip->window.from_us);
    html_end(h);
    html_start(h, "span");
    html_text(h, STR("cursor "));
    show_instant(h, strip->cursor.value.instant_us);
    html_end(h);
    html_start(h, "span");
    show_instant(h, strip->window.to_us);
    html_end(h);
    html_end(h);
}

static struct str summary(struct arena *arena, const struct view_strip *strip)
{
    size_t counts[STRIP_MISSING + 1] = { 0 };

    for (size_t i = 0; i < strip->count; i++)
        counts[strip->items[i].state]++;
    return arena_printf(arena,
                        "Coverage of %.*s %.*s %.*s: %zu covered, %zu open, %zu live, %zu "
                        "retrying, %zu missing",
                        STR_ARG(strip->cursor.name.source), STR_ARG(strip->endpoint),
                        STR_ARG(code_of(&OPERATION_CODES, (int)strip->cursor.name.operation)),
                        counts[STRIP_COVERED], counts[STRIP_OPEN], counts[STRIP_LIVE],
                        counts[STRIP_RETRYING], counts[STRIP_MISSING]);
}

void part_strip(struct html *h, const struct view_strip *strip)
{
    html_class(h, "div", "strip");
    html_attr(h, "data-preview", PAGE_PATH(h->out->arena, "/preview", strip->cursor.name.source));
    html_attrf(h, "data-from", "%" PRId64, strip->window.from_us / US_PER_MS);
    html_attrf(h, "data-to", "%" PRId64, strip->window.to_us / US_PER_MS);
    html_start(h, "svg");
    html_attrf(h, "viewBox", "0 0 %d %d", WIDTH, HEIGHT);
    html_attr(h, "preserveAspectRatio", STR("none"));
    html_attr(h, "role", STR("group"));
    html_attr(h, "aria-label", summary(h->out->arena, strip));
    for (int state = STRIP_COVERED; state <= STRIP_MISSING; state++) {
        for (size_t i = 0; i < strip->count; i++) { /* the worst last: nothing hides it */
            if ((int)strip->items[i].state == state)
                write_piece(h, strip, &strip->items[i]);
        }
    }
    write_cursor(h, strip);
    html_end(h);
    write_scale(h, strip);
    html_end(h);
}

static void write_hole(struct table *t, const struct strip_piece *piece, int64_t now_us)
{
    table_row(t);
    table_window(t, piece->window);
    table_word(t, code_of(&STRIP_STATE_CODES, (int)piece->state));
    if (piece->task == NULL) {
        table_text(t, STR(""));
        table_text(t, piece->state == STRIP_OPEN ? STR("the next trigger plans it") : STR(""));
        table_text(t, STR(""));
        return;
    }
    table_row_link(t, "/runs/task/", piece->task->id);
    table_time(t, piece->task->status == TASK_QUEUED ? piece->task->scheduled_us : 0, now_us);
    table_error(t, piece->task->last_error);
}

void part_holes(struct html *h, const struct view_strip *strip, int64_t now_us)
{
    struct table t;
    size_t holes = 0;

    for (size_t i = 0; i < strip->count; i++)
        holes += strip->items[i].state != STRIP_COVERED;
    if (holes == 0) {
        show_none(h, "Everything in this time is covered.");
        return;
    }
    TABLE_OPEN(&t, h, "What is not covered", "Time", "State", "Task", "Next try", "Error");
    for (size_t i = 0; i < strip->count; i++) {
        if (strip->items[i].state != STRIP_COVERED)
            write_hole(&t, &strip->items[i], now_us);
    }
    table_close(&t);
}
