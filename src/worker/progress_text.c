/* Progress as text: a block for terminals, a line for logs. */
#include <inttypes.h>

#include "base/text.h"
#include "worker/progress.h"

/* Narrower terminals get one line. */
enum { WIDTH_OF_BLOCK = 60, BAR_MIN = 8, BAR_MAX = 32 };

/* ---- lines that fit ---- */

struct line {
    struct buf *out;
    const struct progress_style *style;
    size_t begin;
};

static struct line line_begin(struct buf *out, const struct progress_style *style)
{
    return (struct line){ .out = out, .style = style, .begin = out->len };
}

static void color(struct line *line, const char *code)
{
    if (line->style->color)
        buf_printf(line->out, "\x1b[%sm", code);
}

/* Where the line has used up the columns but the last one; colours take none. */
static size_t cut_of(const struct line *line)
{
    const char *data = line->out->data;
    int columns = 0;
    size_t at = line->begin;

    while (at < line->out->len) {
        if (data[at] == '\x1b') {
            while (data[at] != 'm')
                at++;
        } else if (((unsigned char)data[at] & 0xC0) != 0x80 && ++columns >= line->style->width) {
            break;
        }
        at++;
    }
    return at;
}

static void line_end(struct line *line)
{
    if (!line->out->failed)
        line->out->len = cut_of(line);
    color(line, "0");
    buf_add_char(line->out, '\n');
}

static void bar(struct line *line, const struct progress_view *view, int columns)
{
    const int full = (int)(view->permille * columns / 1000);

    if (!line->style->unicode)
        buf_add_char(line->out, '[');
    for (int i = 0; i < columns; i++)
        buf_add(line->out, line->style->unicode ? (i < full ? STR("━") : STR("╌"))
                                                : (i < full ? STR("#") : STR(".")));
    if (!line->style->unicode)
        buf_add_char(line->out, ']');
}

/* "eta 1m 10s", "eta 3m 20s to 5m 00s", "eta ?". */
static void eta_text(const struct progress_eta *eta, struct buf *out)
{
    if (!eta->is_known) {
        buf_add(out, STR("eta ?"));
        return;
    }
    buf_add(out, STR("eta "));
    if (eta->most_us - eta->least_us > eta->most_us / 8) {
        text_span(out, eta->least_us);
        buf_add(out, STR(" to "));
    }
    text_span(out, eta->most_us);
}

static void head_numbers(const struct progress_view *view, struct buf *out)
{
    buf_printf(out, "%3" PRId64 " %%  ", view->permille / 10);
    text_count(out, view->slices_ended);
    buf_add_char(out, '/');
    text_count(out, view->slices);
    buf_printf(out, " slice%s  ", view->slices == 1 ? "" : "s");
    eta_text(&view->eta, out);
}

static void head_line(const struct progress_view *view, struct str title,
                      const struct progress_style *style, struct buf *out)
{
    struct line line = line_begin(out, style);
    int columns = style->width - (int)title.len - 44;

    columns = columns < BAR_MIN ? BAR_MIN : columns > BAR_MAX ? BAR_MAX : columns;
    color(&line, "1");
    buf_add(out, title);
    color(&line, "0");
    buf_add(out, STR("  "));
    color(&line, "36");
    bar(&line, view, columns);
    color(&line, "0");
    buf_add_char(out, ' ');
    head_numbers(view, out);
    line_end(&line);
}

static void number(struct buf *out, const char *name, int64_t count)
{
    buf_printf(out, "  %s ", name);
    text_count(out, count);
}

static void records_line(const struct progress_view *view, const struct progress_style *style,
                         struct buf *out)
{
    struct line line = line_begin(out, style);

    buf_add(out, STR("  records   "));
    text_count(out, view->records);
    buf_add(out, STR("  "));
    text_rate(out, view->records_per_1000s);
    number(out, "new", view->sums.created);
    number(out, "changed", view->sums.updated);
    number(out, "unchanged", view->sums.unchanged);
    if (view->sums.deleted > 0)
        number(out, "deleted", view->sums.deleted);
    line_end(&line);
}

static void requests_line(const struct progress_view *view, const struct progress_style *style,
                          struct buf *out)
{
    struct line line = line_begin(out, style);

    buf_add(out, STR("  requests  "));
    text_count(out, view->sums.requests);
    buf_add(out, STR("  "));
    text_rate(out, view->requests_per_1000s);
    if (view->allowed_per_1000s > 0) { /* as learned: it may be less than what is configured */
        buf_add(out, STR(" of "));
        text_rate(out, view->allowed_per_1000s);
    }
    number(out, "batches", view->sums.batches);
    number(out, "retries", view->sums.retries);
    number(out, "429", view->sums.throttled);
    buf_add(out, STR("  "));
    text_bytes(out, view->sums.bytes);
    line_end(&line);
}

static bool has_wait(const struct progress_view *view)
{
    return view->waiting > 0 || view->is_resting;
}

/* Waiting less than a second for the rate is normal, and not shown. */
static bool has_wait_line(const struct progress_view *view)
{
    return has_wait(view) && (view->waiting == 0 || view->wait.reason != WAIT_RATE ||
                              view->wait.left_us >= US_PER_SECOND);
}

/* "waiting for a permit until 03:12:45Z (Retry-After)". */
static void wait_text(const struct progress_view *view, struct buf *out)
{
    const struct progress_wait *wait = view->waiting > 0 ? &view->wait : &view->rest;

    buf_add(out, view->waiting == 0             ? STR("no task may run")
                 : wait->reason == WAIT_BACKOFF ? STR("waiting")
                                                : STR("waiting for a permit"));
    if (wait->until_us > 0) {
        buf_add(out, STR(" until "));
        text_clock(out, wait->until_us);
    }
    buf_printf(out, " (%.*s)", STR_ARG(WAIT_REASON_CODES.items[wait->reason].meaning));
}

static void workers_line(const struct progress_view *view, const struct progress_style *style,
                         struct buf *out)
{
    struct line line = line_begin(out, style);

    buf_printf(out, "  workers   %" PRId64 " working", view->working);
    if (view->waiting > 0)
        buf_printf(out, ", %" PRId64 " waiting", view->waiting);
    buf_add(out, STR("  after "));
    text_span(out, view->elapsed_us);
    line_end(&line);
}

static void wait_line(const struct progress_view *view, const struct progress_style *style,
                      struct buf *out)
{
    struct line line = line_begin(out, style);

    color(&line, "33");
    buf_add(out, STR("  "));
    wait_text(view, out);
    line_end(&line);
}

static bool has_trouble(const struct progress_view *view)
{
    return view->trouble[0] != '\0' || view->sums.quarantined > 0 || view->sums.lost_ids > 0 ||
           view->sums.given_back > 0;
}

static void trouble_numbers(const struct progress_view *view, struct buf *out)
{
    if (view->sums.lost_ids > 0)
        number(out, "ids without a record", view->sums.lost_ids);
    if (view->sums.quarantined > 0)
        number(out, "quarantined", view->sums.quarantined);
    if (view->sums.given_back > 0)
        number(out, "put off", view->sums.given_back);
}

static void trouble_line(const struct progress_view *view, const struct progress_style *style,
                         struct buf *out)
{
    struct line line = line_begin(out, style);

    color(&line, "33");
    if (view->trouble[0] != '\0') {
        buf_printf(out, "  store     %s", view->trouble);
    } else {
        buf_add(out, STR("  trouble "));
        trouble_numbers(view, out);
    }
    line_end(&line);
}

static void narrow_line(const struct progress_view *view, const struct progress_style *style,
                        struct buf *out)
{
    struct line line = line_begin(out, style);

    buf_printf(out, "%" PRId64 "%% ", view->permille / 10);
    text_count(out, view->records);
    buf_add_char(out, ' ');
    text_rate(out, view->records_per_1000s);
    if (view->eta.is_known) {
        buf_add_char(out, ' ');
        eta_text(&view->eta, out);
    }
    line_end(&line);
}

void progress_block(const struct progress_view *view, struct str title,
                    const struct progress_style *style, struct buf *out)
{
    if (style->width < WIDTH_OF_BLOCK) {
        narrow_line(view, style, out);
        return;
    }
    head_line(view, title, style, out);
    records_line(view, style, out);
    requests_line(view, style, out);
    workers_line(view, style, out);
    if (has_wait_line(view))
        wait_line(view, style, out);
    if (has_trouble(view))
        trouble_line(view, style, out);
}

void progress_line(const struct progress_view *view, struct str title, struct buf *out)
{
    buf_printf(out, "%.*s: ", STR_ARG(title));
    head_numbers(view, out);
    number(out, "records", view->records);
    buf_add(out, STR(" ("));
    text_rate(out, view->records_per_1000s);
    buf_add_char(out, ')');
    number(out, "requests", view->sums.requests);
    if (view->sums.throttled > 0)
        number(out, "429", view->sums.throttled);
    if (has_wait(view)) {
        buf_add(out, STR("  "));
        wait_text(view, out);
    }
    trouble_numbers(view, out);
    if (view->trouble[0] != '\0')
        buf_printf(out, "  store: %s", view->trouble);
}
