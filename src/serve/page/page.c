/* The frame of every page. */
#include "serve/page/page.h"

#include <inttypes.h>
#include <string.h>

#include "data/url.h"
#include "serve/live.h"

enum { HTML_BYTES_MAX = 32 << 20 };

static const struct {
    const char *board;
    const char *path;
    const char *label;
} BOARDS[] = {
    { "now", "/", "Now" },
    { "runs", "/runs", "Runs" },
    { "cursors", "/cursors", "Cursors" },
    { "gate", "/gate", "Gate" },
    { "events", "/events", "Events" },
    { "errors", "/errors", "Errors" },
    { "records", "/records", "Records" },
    { "why", "/why", "Why" },
};

static void write_head(struct html *h, struct str title)
{
    html_start(h, "head");
    html_start(h, "meta");
    html_attr(h, "charset", STR("utf-8"));
    html_end(h);
    html_start(h, "meta");
    html_attr(h, "name", STR("viewport"));
    html_attr(h, "content", STR("width=device-width, initial-scale=1"));
    html_end(h);
    html_start(h, "title");
    html_textf(h, "%.*s - patra", STR_ARG(title));
    html_end(h);
    html_start(h, "link");
    html_attr(h, "rel", STR("stylesheet"));
    html_href(h, STR("/style.css"));
    html_end(h);
    html_start(h, "script");
    html_attr(h, "src", STR("/script.js"));
    html_flag(h, "defer");
    html_end(h);
    html_end(h);
}

static void write_boards(struct html *h, const char *board)
{
    html_start(h, "nav");
    html_attr(h, "aria-label", STR("Boards"));
    html_start(h, "ul");
    for (size_t i = 0; i < ARRAY_LEN(BOARDS); i++) {
        html_start(h, "li");
        html_start(h, "a");
        html_href(h, str_of(BOARDS[i].path));
        if (board != NULL && strcmp(board, BOARDS[i].board) == 0)
            html_attr(h, "aria-current", STR("page"));
        html_text(h, str_of(BOARDS[i].label));
        html_end(h);
        html_end(h);
    }
    html_end(h);
    html_end(h);
}

static void write_form_key(struct html *h, const struct call *call)
{
    html_start(h, "input");
    html_attr(h, "type", STR("hidden"));
    html_attr(h, "name", STR(FORM_KEY));
    html_attr(h, "value", call->access.form_key);
    html_end(h);
}

static void write_who(struct html *h, const struct call *call)
{
    html_class(h, "div", "who");
    if (call->access.form_key.len == 0) {
        html_text(h, STR("reading only; "));
        show_link(h, STR("/login"), STR("sign in"));
        html_text(h, STR(" to operate"));
    } else {
        html_textf(h, "%.*s ", STR_ARG(call->access.who));
        html_start(h, "form");
        html_attr(h, "method", STR("post"));
        html_attr(h, "action", STR("/logout"));
        write_form_key(h, call);
        html_element(h, "button", STR("Sign out"));
        html_end(h);
    }
    html_end(h);
}

static void write_top(struct html *h, const struct call *call, const char *board)
{
    html_class(h, "a", "skip");
    html_attr(h, "href", STR("#main"));
    html_text(h, STR("Skip to the content"));
    html_end(h);
    html_start(h, "header");
    html_class(h, "a", "brand");
    html_href(h, STR("/"));
    html_text(h, STR("patra"));
    html_end(h);
    write_boards(h, board);
    write_who(h, call);
    html_end(h);
}

void page_open(struct html *h, struct call *call, const struct page_head *head)
{
    buf_init(&call->body, call->reader.arena, HTML_BYTES_MAX);
    html_init(h, &call->body);
    html_start(h, "html");
    html_attr(h, "lang", STR("en"));
    write_head(h, head->title);
    html_start(h, "body");
    if (!head->is_still)
        html_attrf(h, "data-seen", "%" PRId64, live_version(api_live(call->api)));
    write_top(h, call, head->board);
    html_start(h, "main");
    html_attr(h, "id", STR("main"));
    html_attr(h, "tabindex", STR("-1"));
    html_element(h, "h1", head->title);
}

bool page_close(struct html *h, struct call *call, struct error *err)
{
    html_end(h); /* main */
    html_start(h, "footer");
    html_text(h, STR("patra " PATRA_VERSION ". As of "));
    show_instant(h, call->reader.now_us);
    html_text(h, STR(". "));
    html_start(h, "span");
    html_attr(h, "id", STR("live"));
    html_attr(h, "role", STR("status"));
    html_end(h);
    html_text(h, STR(" The same for programs: "));
    show_link(h, STR("/openapi.json"), STR("API"));
    html_end(h);
    html_end(h); /* body */
    html_end(h); /* html */
    html_finish(h);
    return buf_ok(&call->body, err);
}

void page_section(struct html *h, const char *id, struct str heading)
{
    html_start(h, "section");
    html_attr(h, "id", str_of(id));
    html_flag(h, "data-live");
    html_attrf(h, "aria-labelledby", "%s-head", id);
    html_start(h, "h2");
    html_attrf(h, "id", "%s-head", id);
    html_text(h, heading);
    html_end(h);
}

/* ---- links ---- */

struct str page_path(struct arena *arena, const char *begin, const struct str *segments,
                     size_t count)
{
    const size_t path_max = 16384;
    struct buf out;

    buf_init(&out, arena, path_max);
    buf_add(&out, str_of(begin));
    for (size_t i = 0; i < count; i++) {
        buf_add_char(&out, '/');
        url_encode(&out, segments[i], URL_PATH);
    }
    return out.failed ? STR("/") : buf_str(&out);
}

void show_link(struct html *h, struct str path, struct str text)
{
    html_start(h, "a");
    html_href(h, path);
    html_text(h, text);
    html_end(h);
}

void show_link_row(struct html *h, const char *path, int64_t row)
{
    html_start(h, "a");
    html_attrf(h, "href", "%s%" PRId64, path, row);
    html_textf(h, "%" PRId64, row);
    html_end(h);
}

/* </runs?before=7>; rel="next" */
void page_next(struct html *h, const struct call *call)
{
    for (size_t i = 0; i < call->response->header_count; i++) {
        const struct web_header *header = &call->response->headers[i];

        if (!str_eq(header->name, STR("Link")))
            continue;
        html_class(h, "p", "next");
        show_link(h, str_slice(header->value, 1, str_find_char(header->value, '>')),
                  STR("Next page"));
        html_end(h);
    }
}

/* ---- operations ---- */

bool page_may_operate(const struct call *call)
{
    return call->access.form_key.len > 0 && call->access.token.scope == TOKEN_OPERATE;
}

static void write_field(struct html *h, const struct act_field *field)
{
    const bool is_hidden = field->kind == INPUT_HIDDEN;

    if (!is_hidden) {
        html_start(h, "label");
        if (field->kind == INPUT_TEXT)
            html_textf(h, "%s ", field->label);
    }
    html_start(h, "input");
    html_attr(h, "type",
              is_hidden                    ? STR("hidden")
              : field->kind == INPUT_CHECK ? STR("checkbox")
                                           : STR("text"));
    html_attr(h, "name", str_of(field->name));
    html_attr(h, "value", field->kind == INPUT_CHECK ? STR("true") : field->value);
    if (field->option != NULL)
        html_attr(h, "data-option", str_of(field->option));
    if (field->is_required)
        html_flag(h, "required");
    html_end(h);
    if (field->kind == INPUT_CHECK)
        html_textf(h, " %s", field->label);
    if (!is_hidden)
        html_end(h);
}

static void write_command(struct html *h, struct str command)
{
    html_class(h, "p", "command");
    html_text(h, STR("The same: "));
    html_start(h, "code");
    html_attr(h, "data-command", command);
    html_text(h, command);
    html_end(h);
    html_end(h);
}

static void write_form(struct html *h, const struct call *call, const struct page_act *o)
{
    html_start(h, "form");
    html_attr(h, "method", STR("post"));
    html_attr(h, "action", o->path);
    write_form_key(h, call);
    write_field(h, &(struct act_field){
                       .name = FORM_BACK, .kind = INPUT_HIDDEN, .value = call->request->target });
    for (size_t i = 0; i < o->field_count; i++)
        write_field(h, &o->fields[i]);
    html_start(h, "button");
    if (o->is_grave)
        html_attr(h, "class", STR("grave"));
    html_textf(h, "%s %.*s", o->label, STR_ARG(o->of));
    html_end(h);
    if (o->can_dry_run) {
        html_start(h, "button");
        html_attr(h, "name", STR("dryRun"));
        html_attr(h, "value", STR("true"));
        html_textf(h, "Dry run");
        html_end(h);
    }
    html_end(h);
}

void page_act(struct html *h, struct call *call, const struct page_act *o)
{
    html_class(h, "details", "act");
    if (o->is_open)
        html_flag(h, "open");
    html_start(h, "summary");
    html_textf(h, "%s %.*s", o->label, STR_ARG(o->of));
    html_end(h);
    if (page_may_operate(call)) {
        write_form(h, call, o);
    } else {
        html_start(h, "p");
        show_link(h, STR("/login"), STR("Sign in"));
        html_text(h, STR(" with a token of scope operate to do this here."));
        html_end(h);
    }
    write_command(h, o->command);
    html_end(h);
}
