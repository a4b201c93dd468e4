/* What was refused, what was done, and signing in. */
#include "serve/page/problem.h"

#include "data/json.h"
#include "serve/page/boards.h"
#include "serve/page/parts.h"
#include "serve/problem.h"

/* ---- signing in ---- */

static void write_login(struct html *h)
{
    html_class(h, "form", "login");
    html_attr(h, "method", STR("post"));
    html_attr(h, "action", STR("/login"));
    html_start(h, "label");
    html_text(h, STR("Token "));
    html_start(h, "input");
    html_attr(h, "type", STR("password"));
    html_attr(h, "name", STR("token"));
    html_attr(h, "autocomplete", STR("off"));
    html_flag(h, "required");
    html_end(h);
    html_end(h);
    html_element(h, "button", STR("Sign in"));
    html_end(h);
    html_class(h, "p", "command");
    html_text(h, STR("A token that may operate is made by: "));
    html_element(h, "code", STR("patra token new NAME --scope operate"));
    html_end(h);
}

bool page_login(struct call *call, struct error *err)
{
    struct html h;

    page_open(&h, call, &(struct page_head){ .is_still = true, .title = STR("Sign in") });
    write_login(&h);
    return page_close(&h, call, err);
}

/* 303: the page after a form is asked for by GET. */
static bool go_to(struct call *call, struct str path, struct str cookie)
{
    call->response->status = 303;
    call->response->body = STR("");
    web_header_add(call->response, STR("Location"), path);
    web_header_add(call->response, STR("Set-Cookie"), cookie);
    return true;
}

bool page_sign_in(struct call *call, struct error *err)
{
    const struct api_settings *settings = api_settings(call->api);
    struct access_question question = { .request = call->request,
                                        .route = call->route,
                                        .is_form = true,
                                        .arena = call->reader.arena,
                                        .now_us = call->reader.now_us,
                                        .monotonic_us = clock_monotonic_us(settings->clock) };
    struct str cookie;

    return api_seat_store(call->api, call->seat, &question.store, err) &&
           access_sign_in(api_guard(call->api), &question, call_text(call, "token"), &cookie,
                          err) &&
           go_to(call, STR("/"), cookie);
}

/* Harmless, whoever asks for it: so it needs no key. */
bool page_sign_out(struct call *call, struct error *err)
{
    const struct str cookie = session_cookie(call->reader.arena, STR(""), call->request->is_tls);

    return cookie.data != NULL ? go_to(call, STR("/login"), cookie)
                               : arena_error(call->reader.arena, err);
}

/* ---- what was refused ---- */

static struct str back_path(const struct call *call)
{
    const struct str back = target_value(&call->form, STR(FORM_BACK));
    const bool is_path =
        back.len > 0 && back.data[0] == '/' && (back.len == 1 || back.data[1] != '/');

    return is_path ? back : STR("/");
}

void page_problem(struct call *call, const struct error *cause)
{
    struct web_response *response = call->response;
    struct error err = *cause;
    struct html h;

    problem_write(call->reader.arena, cause, response); /* the status, and headers */
    for (size_t i = 0; i < response->header_count; i++) {
        if (str_eq(response->headers[i].name, STR("Content-Type")))
            response->headers[i].value = STR(PAGE_TYPE);
    }
    page_open(&h, call, &(struct page_head){ .is_still = true, .title = STR("Refused") });
    html_class(&h, "p", "failing");
    part_error(&h, response->status == 500 ? STR("the log of the server says what went wrong")
                                           : str_of(err.text));
    html_textf(&h, " (%d %s)", response->status, err.code);
    html_end(&h);
    if (response->status == 401)
        write_login(&h);
    html_start(&h, "p");
    show_link(&h, back_path(call), STR("Back"));
    html_end(&h);
    response->body = page_close(&h, call, &err) ? buf_str(&call->body) : STR("");
}

/* ---- what was done ---- */

static void write_members(struct html *h, const struct json_doc *doc, struct json_node node)
{
    struct json_iter it = json_each(doc, node);
    struct arena *arena = h->out->arena;
    struct error err;

    facts_open(h);
    while (json_next(&it)) {
        struct str name, value;
        int64_t number;
        bool flag;

        if (!json_string(doc, it.name, arena, &name, &err))
            continue;
        if (json_type(doc, it.value) == JSON_STRING &&
            json_string(doc, it.value, arena, &value, &err))
            fact_text(h, arena_copy(arena, name).data, value);
        else if (json_i64(doc, it.value, &number))
            fact_number(h, arena_copy(arena, name).data, number);
        else if (json_bool(doc, it.value, &flag))
            fact_text(h, arena_copy(arena, name).data, flag ? STR("yes") : STR("no"));
    }
    facts_close(h);
}

bool page_outcome(struct call *call, struct error *err)
{
    const struct str json = call->response->body;
    struct json_doc doc;
    struct html h;

    if (!json_parse(&doc, call->reader.arena, json, err))
        return false;
    page_open(&h, call,
              &(struct page_head){ .is_still = true, .title = str_of(call->route->summary) });
    html_start(&h, "div");
    html_attr(&h, "id", STR("outcome"));
    if (json_type(&doc, json_root(&doc)) == JSON_OBJECT)
        write_members(&h, &doc, json_root(&doc));
    html_start(&h, "details");
    html_element(&h, "summary", STR("The whole answer"));
    show_json(&h, json);
    html_end(&h);
    html_end(&h);
    html_start(&h, "p");
    show_link(&h, back_path(call), STR("Back"));
    html_end(&h);
    if (!page_close(&h, call, err))
        return false;
    call->response->body = buf_str(&call->body);
    return true;
}
