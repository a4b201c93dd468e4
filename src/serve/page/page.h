/* page: what every page of the dashboard has: its frame, tables, times, links, and operations.
 *
 *      struct html h;
 *
 *      page_open(&h, call, &(struct page_head){ .board = "gate", .title = STR("Gate") });
 *      ...
 *      return page_close(&h, call, err);
 *
 * Pages are made on the server and are whole without a script. A script (asset/script.js) loads the
 * parts that have an id and `data-live` again when something has changed, and shows commands as
 * they are typed.
 */
#ifndef PATRA_SERVE_PAGE_PAGE_H
#define PATRA_SERVE_PAGE_PAGE_H

#include "serve/call.h"
#include "serve/html.h"

struct page_head {
    const char *board; /* that is marked in the navigation: "now"; NULL: none */
    struct str title;
    bool is_still; /* it does not change by itself: no live updates */
};

void page_open(struct html *h, struct call *call, const struct page_head *head);
bool page_close(struct html *h, struct call *call, struct error *err) MUST_CHECK;

/* A part of the page with a heading, that is loaded again when something has changed. */
void page_section(struct html *h, const char *id, struct str heading); /* html_end() ends it */

/* ---- values ---- */

/* "3m 20s ago", "in 2h", and the instant itself for whoever asks. */
void show_time(struct html *h, int64_t at_us, int64_t now_us);
void show_instant(struct html *h, int64_t at_us);
void show_window(struct html *h, struct window window); /* '-' where it is not valid */
void show_span(struct html *h, int64_t span_us);
void show_count(struct html *h, int64_t count);
void show_bytes(struct html *h, int64_t bytes);
/* A state: its word in lower case, with a mark that says whether it is good, without colours too.
 */
void show_word(struct html *h, struct str word);
/* The word alone: in lower case, with blanks. */
struct str page_lower(struct arena *arena, struct str word);
/* A text of several lines, or JSON: as it is. */
void show_block(struct html *h, struct str text);
/* JSON of the store: indented. Texts that are not JSON are shown as they are. */
void show_json(struct html *h, struct str json);

/* ---- links ---- */

/* "/records/crossref/10.1000%2F182": a literal, then segments, each encoded. */
struct str page_path(struct arena *arena, const char *begin, const struct str *segments,
                     size_t count);
#define PAGE_PATH(arena, begin, ...)                                 \
    page_path((arena), (begin), (const struct str[]){ __VA_ARGS__ }, \
              sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str))
void show_link(struct html *h, struct str path, struct str text);
void show_link_row(struct html *h, const char *format,
                   int64_t row); /* "/runs/task/%lld": the row */
/* Where a list goes on, as the API's Link header says it. */
void page_next(struct html *h, const struct call *call);

/* ---- tables ---- */

struct table {
    struct html *h;
    const char *const *heads; /* "#QUEUED": numbers, to the right */
    size_t count;
    size_t at; /* the next cell of the row */
    bool in_row;
};

#define TABLE_OPEN(t, h, caption, ...)                                    \
    table_open((t), (h), (caption), (const char *const[]){ __VA_ARGS__ }, \
               sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))
/* The heads must live until table_close(). */
void table_open(struct table *t, struct html *h, const char *caption, const char *const *heads,
                size_t count);
void table_row(struct table *t);
void table_cell(struct table *t);     /* what follows is in it ... */
void table_cell_end(struct table *t); /* ... up to here */
void table_text(struct table *t, struct str text);
void table_word(struct table *t, struct str word);
void table_number(struct table *t, int64_t number);
void table_time(struct table *t, int64_t at_us, int64_t now_us); /* 0: '-' */
void table_span(struct table *t, int64_t span_us);
void table_window(struct table *t, struct window window);
void table_link(struct table *t, struct str path, struct str text);
void table_row_link(struct table *t, const char *format, int64_t row); /* 0: '-' */
/* `empty` is said where there was no row. */
void table_close(struct table *t);
void show_none(struct html *h, const char *text); /* instead of a table without rows */

/* ---- operations ---- */

enum input_kind { INPUT_TEXT, INPUT_HIDDEN, INPUT_CHECK };

struct act_field {
    const char *name;   /* of the parameter */
    const char *label;  /* for people */
    const char *option; /* of the command: "--reason"; "": an operand; NULL: not in the command */
    enum input_kind kind;
    struct str value;
    bool is_required;
};

struct page_act {
    const char *label;  /* "Pause" */
    struct str of;      /* what it is done to: "crossref" */
    struct str path;    /* "/form/sources/crossref/pause" */
    struct str command; /* "patra pause crossref" */
    const struct act_field *fields;
    size_t field_count;
    bool can_dry_run;
    bool is_grave; /* what it does cannot be taken back */
    bool is_open;  /* unfolded from the start */
};

/* A button that unfolds: what it asks for, the command that does the same, and, for whoever may
 * operate, the form. */
void page_act(struct html *h, struct call *call, const struct page_act *act);

/* Whether the one who looks may operate here. */
bool page_may_operate(const struct call *call);

#endif
